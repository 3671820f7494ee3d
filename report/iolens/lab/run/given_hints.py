"""MPI-IO hints given from outside: `PATTERN:key=value[,key=value...]`, as Cray's MPICH_MPIIO_HINTS has them."""

from __future__ import annotations

import argparse
import re

from iolens.lab.sizes import parse_size

_ENTRY = re.compile(r"^[^=:,]+:[^=:,]+=")
_HINT = re.compile(r"^([^=:,]+)=(.+)$", re.DOTALL)
_SIZED = re.compile(r"^\d+\s*[kmgtKMGT](?:i?[bB])?$")


def hints_of_files(text: str) -> str:
    """Returns the value of IOLENS_HINTS: checked, with sizes such as 16M in bytes, since MPI libraries drop the letter.

    Entries are separated by commas; one that begins with `PATTERN:` opens a pattern, the others go on with it. Within
    an entry colons separate hints; a part without `=` belongs to the value before it (`cb_config_list=*:*`).
    """
    entries = text.split(",")
    if not _ENTRY.match(entries[0]):
        raise argparse.ArgumentTypeError(
            f"{text!r} does not begin with PATTERN:KEY=VALUE; write it like '*:cb_nodes=4'"
        )
    return ",".join(_entry_of(entry) for entry in entries)


def _entry_of(entry: str) -> str:
    """Returns one entry, its hints checked."""
    pattern, colon, rest = entry.partition(":") if _ENTRY.match(entry) else ("", "", entry)
    parts: list[str] = []
    for part in rest.split(":"):
        if "=" in part or not parts:
            parts.append(part)
        else:
            parts[-1] += f":{part}"
    return pattern + colon + ":".join(_hint_of(part) for part in parts)


def _hint_of(text: str) -> str:
    """Parses one `key=value`."""
    match = _HINT.match(text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    value = str(parse_size(match[2])) if _SIZED.match(match[2]) else match[2]
    return f"{match[1]}={value}"
