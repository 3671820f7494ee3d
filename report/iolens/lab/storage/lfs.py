"""Parse the output of `lfs`, the tool of the Lustre client, about layouts and targets (Lustre 2.10 to 2.16)."""

from __future__ import annotations

import re
from dataclasses import replace

from iolens.errors import IolensError
from iolens.lab.storage.layout import ANY_TARGET, Component, Layout
from iolens.lab.storage.targets import StorageTarget

STATES = {
    "D": "degraded",
    "R": "read-only",
    "N": "no-precreate",
    "S": "out of space",
    "I": "out of inodes",
}
"""Letters at the end of a line of `lfs df` that report trouble (lfs-df(1)); other letters, such as `f` for
flash, do not.
"""

CLOSED = "RNSI"
"""The states in which a target gets no new files; a degraded target is only the last one to get some."""

FACTORS = {"": 2**10, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}
"""Bytes per unit of `lfs df`: blocks of 1 KiB, or a suffix with -h."""

NUMBER = r"\d+(?:\.\d+)?[KMGTPE]?"
SPACE = re.compile(rf"^(\S+)\s+({NUMBER})\s+({NUMBER})\s+({NUMBER})\s+\d+%\s.*\[OST:(\d+)\]\s*([A-Za-z]*)")
SILENT = re.compile(r"^(\S*OST([0-9a-fA-F]{4})\S*)\s*:\s*(\S.*)$")

OBJECT_OF_COMPONENT = re.compile(r"l_ost_idx:\s*(\d+)")
OBJECT = re.compile(r"^\s*(\d+)\s+\d+\s+0x[0-9a-f]+\s+\S+\s*$", re.MULTILINE)


def parse_getstripe(text: str) -> Layout:
    """Parses the layout that `lfs getstripe` prints for one file or, with -d, for one directory."""
    lines = [line for line in text.splitlines() if not line.startswith("/")]
    _, *components = re.split(r"^\s*lcme_id:", "\n".join(lines), flags=re.MULTILINE)
    if not components:
        return parse_stripes("\n".join(lines))
    found = tuple(map(parse_component, components))
    with_stripes = [component for component in found if not component.on_metadata] or list(found)
    counted = next((one for one in reversed(with_stripes) if one.in_use), with_stripes[-1]).layout
    mirrors = {component.mirror for component in found}
    shown = found if len(mirrors) > 1 else tuple(replace(component, mirror=None) for component in found)
    return replace(counted, components=shown)


def parse_component(text: str) -> Component:
    """Parses one component, the text behind its `lcme_id:`. The components of a directory describe future files and
    have no number.
    """
    end = value_of("lcme_extent.e_end", text)
    mirror = value_of("lcme_mirror_id", text)
    flags = (value_of("lcme_flags", text) or "").split(",")
    return Component(
        start=int(value_of("lcme_extent.e_start", text) or 0),
        end=int(end) if end and end.isdecimal() else None,
        layout=parse_stripes(text),
        in_use=text.split()[:1] == ["N/A"] or "init" in flags or bool(OBJECT_OF_COMPONENT.search(text)),
        on_metadata=value_of("pattern", text) == "mdt",
        mirror=int(mirror) if mirror and mirror.isdecimal() else None,
    )


def parse_stripes(text: str) -> Layout:
    """Parses stripes without components; raises IolensError if the text has none."""
    count, size = value_of("stripe_count", text), value_of("stripe_size", text)
    if count is None or size is None:
        raise IolensError(f"lfs getstripe printed no layout: {text.strip()[:200]!r}")
    start = value_of("stripe_offset", text)
    objects = OBJECT_OF_COMPONENT.findall(text) or OBJECT.findall(text)
    return Layout(
        int(count), int(size), int(start) if start else ANY_TARGET, tuple(map(int, objects)), value_of("pool", text)
    )


def value_of(name: str, text: str) -> str | None:
    """Returns the value behind a name, which stands with its `lmm_` in the layout of a file."""
    found = re.search(rf"(?:^|\s)(?:lmm_)?{re.escape(name)}:\s+(\S+)", text)
    return found[1] if found else None


def parse_df(text: str) -> tuple[StorageTarget, ...]:
    """Returns the object storage targets that `lfs df -v` lists, by index; raises IolensError if there are none."""
    found: dict[int, StorageTarget] = {}
    for line in text.splitlines():
        if space := SPACE.match(line):
            target = listed(*space.groups())
            found[target.index] = target
        elif silent := SILENT.match(line):
            index = int(silent[2], 16)
            found.setdefault(index, StorageTarget(index, short_name(silent[1]), takes_files=False, trouble=silent[3]))
    if not found:
        raise IolensError(f"lfs df listed no object storage targets: {text.strip()[:200]!r}")
    return tuple(found[index] for index in sorted(found))


def listed(name: str, size: str, used: str, available: str, index: str, letters: str) -> StorageTarget:
    """Returns a target from its line of `lfs df`."""
    own = re.search(r"OST([0-9a-fA-F]{4})", name)
    trouble = ", ".join(STATES[letter] for letter in letters if letter in STATES)
    open_to_files = not set(letters) & set(CLOSED)
    number = int(own[1], 16) if own else int(index)
    return StorageTarget(number, short_name(name), open_to_files, trouble, *map(in_bytes, (size, used, available)))


def in_bytes(number: str) -> int:
    """Returns a number of `lfs df` in bytes."""
    digits = number.rstrip("KMGTPE")
    return int(float(digits) * FACTORS[number[len(digits) :]])


def short_name(uuid: str) -> str:
    """Returns a target's name as other commands have it."""
    return uuid.removesuffix("_UUID")
