"""The file that an object of a log was read from: at its path or elsewhere, and only if it is the same build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iolens.symbols.elf import read_elf

_DEBUG_FOLDERS = (Path("/usr/lib/debug"),)
"""Folders in which systems keep stripped debug information, besides the folders that the user names."""


def object_file(path: str, build_id: str, search: Sequence[Path]) -> Path | None:
    """Returns the object with its symbols; None if it is gone or was built anew since.

    Looked at are a debug file in `.build-id` of the folders to search and of the system, the object where it was, and a
    file of that name in the folders to search. Without a build id only the place tells, and that is believed.
    """
    folders = [Path(folder) for folder in search]
    named = Path(path).name
    places = [*_debug_files(build_id, [*folders, *_DEBUG_FOLDERS]), Path(path)]
    places += [folder / name for folder in folders for name in (named, f"{named}.debug")]
    candidates = [place for place in places if place.is_file() and _same_build(place, build_id)]
    return max(candidates, key=lambda place: (read_elf(place).lines, len(read_elf(place).names)), default=None)


def _debug_files(build_id: str, folders: Sequence[Path]) -> list[Path]:
    """Returns the place in which gdb and the distributions put a debug file: .build-id/ab/cdef….debug."""
    if not build_id:
        return []
    return [folder / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug" for folder in folders]


def _same_build(place: Path, build_id: str) -> bool:
    """Returns whether the file has this build id; if both have none, they count as the same."""
    return read_elf(place).build_id == build_id
