"""Parse the output of `lfs`, the tool of the Lustre client, about layouts and targets (Lustre 2.10 to 2.16)."""

from __future__ import annotations

import re
from dataclasses import replace

from iolens.errors import IolensError
from iolens.lab.storage.layout import ANY_TARGET, Component, Layout
from iolens.lab.storage.targets import StorageTarget

_STATES = {
    "D": "degraded",
    "R": "read-only",
    "N": "no-precreate",
    "S": "out of space",
    "I": "out of inodes",
}
"""Letters at the end of a line of `lfs df` that report trouble (lfs-df(1)); other letters, such as `f` for
flash, do not.
"""

_CLOSED = "RNSI"
"""The states in which a target gets no new files. A degraded target is not among them: it gets new files after all
others.
"""

_FACTORS = {"": 2**10, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}
"""Bytes per unit of `lfs df`: blocks of 1 KiB, or a suffix with -h."""

_NUMBER = r"\d+(?:\.\d+)?[KMGTPE]?"
_SPACE = re.compile(rf"^(\S+)\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+\d+%\s.*\[OST:(\d+)\]\s*([A-Za-z]*)")
_SILENT = re.compile(r"^(\S*OST([0-9a-fA-F]{4})\S*)\s*:\s*(\S.*)$")

_OBJECT_OF_COMPONENT = re.compile(r"l_ost_idx:\s*(\d+)")
_OBJECT = re.compile(r"^\s*(\d+)\s+\d+\s+0x[0-9a-f]+\s+\S+\s*$", re.MULTILINE)


def parse_getstripe(text: str) -> Layout:
    """Parses the layout that `lfs getstripe` prints for one file or, with -d, for one directory."""
    lines = [line for line in text.splitlines() if not line.startswith("/")]
    _, *components = re.split(r"^\s*lcme_id:", "\n".join(lines), flags=re.MULTILINE)
    if not components:
        return _parse_stripes("\n".join(lines))
    found = tuple(map(_parse_component, components))
    with_stripes = [component for component in found if not component.on_metadata] or list(found)
    counted = next((one for one in reversed(with_stripes) if one.in_use), with_stripes[-1]).layout
    mirrors = {component.mirror for component in found}
    shown = found if len(mirrors) > 1 else tuple(replace(component, mirror=None) for component in found)
    return replace(counted, components=shown)


def _parse_component(text: str) -> Component:
    """Parses one component, the text after its `lcme_id:`. The components of a directory describe future files and have
    no number.
    """
    end = _layout_value("lcme_extent.e_end", text)
    mirror = _layout_value("lcme_mirror_id", text)
    flags = (_layout_value("lcme_flags", text) or "").split(",")
    return Component(
        start=int(_layout_value("lcme_extent.e_start", text) or 0),
        end=int(end) if end and end.isdecimal() else None,
        layout=_parse_stripes(text),
        in_use=text.split()[:1] == ["N/A"] or "init" in flags or bool(_OBJECT_OF_COMPONENT.search(text)),
        on_metadata=_layout_value("pattern", text) == "mdt",
        mirror=int(mirror) if mirror and mirror.isdecimal() else None,
    )


def _parse_stripes(text: str) -> Layout:
    """Parses stripes without components; raises IolensError if the text has none."""
    count, size = _layout_value("stripe_count", text), _layout_value("stripe_size", text)
    if count is None or size is None:
        raise IolensError(f"lfs getstripe printed no layout: {text.strip()[:200]!r}")
    start = _layout_value("stripe_offset", text)
    objects = _OBJECT_OF_COMPONENT.findall(text) or _OBJECT.findall(text)
    return Layout(
        int(count),
        int(size),
        int(start) if start else ANY_TARGET,
        tuple(map(int, objects)),
        _layout_value("pool", text),
    )


def _layout_value(name: str, text: str) -> str | None:
    """Returns the value after a name in the layout of a file, where each name has the prefix `lmm_`."""
    found = re.search(rf"(?:^|\s)(?:lmm_)?{re.escape(name)}:\s+(\S+)", text)
    return found[1] if found else None


def parse_df(text: str) -> tuple[StorageTarget, ...]:
    """Returns the object storage targets that `lfs df -v` lists, by index; raises IolensError if there are none."""
    found: dict[int, StorageTarget] = {}
    for line in text.splitlines():
        if space := _SPACE.match(line):
            target = _listed_target(*space.groups())
            found[target.index] = target
        elif silent := _SILENT.match(line):
            index = int(silent[2], 16)
            found.setdefault(index, StorageTarget(index, _target_name(silent[1]), takes_files=False, trouble=silent[3]))
    if not found:
        raise IolensError(f"lfs df listed no object storage targets: {text.strip()[:200]!r}")
    return tuple(found[index] for index in sorted(found))


def _listed_target(name: str, size: str, used: str, available: str, index: str, letters: str) -> StorageTarget:
    """Returns a target from its line of `lfs df`."""
    own = re.search(r"OST([0-9a-fA-F]{4})", name)
    trouble = ", ".join(_STATES[letter] for letter in letters if letter in _STATES)
    open_to_files = not set(letters) & set(_CLOSED)
    number = int(own[1], 16) if own else int(index)
    return StorageTarget(number, _target_name(name), open_to_files, trouble, *map(_in_bytes, (size, used, available)))


def _in_bytes(number: str) -> int:
    """Returns a number of `lfs df` in bytes."""
    digits = number.rstrip("KMGTPE")
    return int(float(digits) * _FACTORS[number[len(digits) :]])


def _target_name(uuid: str) -> str:
    """Returns a target's name in the form that other commands print."""
    return uuid.removesuffix("_UUID")
