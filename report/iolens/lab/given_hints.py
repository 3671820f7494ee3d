"""MPI-IO hints and HDF5 settings that the user gives a program from outside, in the form of Cray's MPICH_MPIIO_HINTS:
`PATTERN:key=value[,key=value...]`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

from iolens.lab.sizes import parse_size

_ENTRY = re.compile(r"^[^=:,]+:[^=:,]+=")
_HINT = re.compile(r"^([^=:,]+)=(.+)$", re.DOTALL)
_SIZED = re.compile(r"^\d+\s*[kmgtKMGT](?:i?[bB])?$")

_HDF5_SETTINGS = {
    **dict.fromkeys(("alignment", "threshold", "meta_block", "small_data", "sieve", "chunk_cache"), r"\d{1,18}"),
    **dict.fromkeys(("coll_metadata", "locking"), "[01]"),
    "libver": "earliest|v18|v110|v112|v114|v200|latest",
}
"""The settings that IOLENS_HDF5 takes, and their values with sizes in bytes."""


def hdf5_of_files(text: str) -> str:
    """Returns the value of IOLENS_HDF5: checked, with sizes in bytes."""
    checked = hints_of_files(text, "alignment=1M")
    for setting in re.findall(r"[^,:=]+=[^,:]*", checked):
        key, _, value = setting.partition("=")
        if key not in _HDF5_SETTINGS:
            raise argparse.ArgumentTypeError(f"{key} is none of {', '.join(_HDF5_SETTINGS)}")
        if not re.fullmatch(_HDF5_SETTINGS[key], value) or (key == "alignment" and int(value) == 0):
            raise argparse.ArgumentTypeError(f"{value} is no value of {key}, which takes {_setting_words(key)}")
    if re.search(r"=[^,:=]*:(?![^,:=]+=)", checked):
        raise argparse.ArgumentTypeError(f"{text!r} has a part without KEY=VALUE")
    return checked


def _setting_words(key: str) -> str:
    """Returns the values of an HDF5 setting in words."""
    pattern = _HDF5_SETTINGS[key]
    return "a size such as 1M" if "d{" in pattern else "0 or 1" if pattern == "[01]" else pattern.replace("|", ", ")


def hints_of_files(text: str, example: str = "cb_nodes=4") -> str:
    """Checks the hints, and returns them as the value of IOLENS_HINTS. Sizes such as 16M become bytes, because MPI
    libraries drop the letter.

    Entries are separated by commas; an entry that begins with `PATTERN:` starts a pattern, and the following ones
    belong to it. Within an entry colons separate hints; a part without `=` belongs to the value before it
    (`cb_config_list=*:*`).
    """
    entries = text.split(",")
    if not _ENTRY.match(entries[0]):
        raise argparse.ArgumentTypeError(f"{text!r} does not begin with PATTERN:KEY=VALUE; write it like '*:{example}'")
    return ",".join(_checked_entry(entry) for entry in entries)


def hints_for_all_files(hints: Mapping[str, str]) -> str:
    """Returns hints as the value of IOLENS_HINTS for every file; a value with a comma cannot stand there."""
    parts = [f"{key}={value}" for key, value in hints.items() if "," not in value]
    return f"*:{':'.join(parts)}" if parts else ""


def _checked_entry(entry: str) -> str:
    """Returns one entry, with its hints checked."""
    pattern, colon, rest = entry.partition(":") if _ENTRY.match(entry) else ("", "", entry)
    parts: list[str] = []
    for part in rest.split(":"):
        if "=" in part or not parts:
            parts.append(part)
        else:
            parts[-1] += f":{part}"
    return pattern + colon + ":".join(_hint_of(part) for part in parts)


def _hint_of(text: str) -> str:
    """Parses one `key=value`; sizes become bytes."""
    match = _HINT.match(text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    value = str(parse_size(match[2])) if _SIZED.match(match[2]) else match[2]
    return f"{match[1]}={value}"
