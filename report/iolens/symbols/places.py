"""The file that an object of a log was read from: at its path or elsewhere, and only if it is the same build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iolens.symbols.elf import read_elf

_DEBUG_FOLDERS = (Path("/usr/lib/debug"),)
"""Folders in which systems keep stripped debug information, besides the folders that the user names."""


def object_file(path: str, build_id: str, search: Sequence[Path]) -> Path | None:
    """Returns the object's file, or of several files the one with line numbers and most symbols; None if no file is of
    the same build.

    Searched are debug files in `.build-id` of the folders to search and of the system, the object's path, and files of
    that name in the folders to search. If the object has no build id, any file in these places without a build id
    counts as the object.
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
