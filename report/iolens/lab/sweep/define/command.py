"""The whole command of a program, its launcher included, as the work of each run of a sweep."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from iolens.errors import UsageError
from iolens.lab.run.command_line import take_apart

RANKS = "{ranks}"
"""Word of a command that stands for the number of ranks of the point."""

_COUNT = ("-n", "-np", "--n", "--np", "--ntasks", "-c")
"""Options by which launchers take the number of ranks."""


def ranks_in(words: Sequence[str]) -> int:
    """Returns the number of ranks that a launcher's options give; 1 without a launcher or such an option."""
    command = take_apart(words, lambda word: _found(word, Path.cwd()))
    end = command.applications[0] if command.applications else len(words)
    for index, word in enumerate(words[:end] if command.launcher else ()):
        name, equals, value = word.partition("=")
        text = value if equals else words[index + 1] if index + 1 < len(words) else ""
        if (name in _COUNT or re.fullmatch(r"-n\d+", word)) and (text.isdecimal() or word[2:].isdecimal()):
            return int(text if name in _COUNT else word[2:])
    return 1


def program_in(words: Sequence[str], folder: Path) -> Path:
    """Returns the path of the program that a command starts; `folder` is the folder to which its paths are relative.
    Raises UsageError if there is no such program.
    """
    if not words:
        raise UsageError("workload.command is empty; write it as for a shell, such as mpirun -np 4 ./app")
    command = take_apart(words, lambda word: _found(word, folder))
    for index in command.applications:
        if path := _found(words[index], folder):
            return path
    name = words[command.applications[0]] if command.applications else words[0]
    raise UsageError(f"workload.command: {name} was not found, neither in {folder} nor on PATH; give its path")


def with_paths(words: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Returns the command with whole paths of its programs, and of other files outside `folder`, for a run that works
    in another folder.
    """
    programs = take_apart(words, lambda word: _found(word, folder)).applications
    found = list(words)
    for index, word in enumerate(words):
        is_outside = word.startswith("../") and (folder / word).exists()
        if (index in programs and "/" in word) or is_outside:
            found[index] = os.path.abspath(folder / word)
    return tuple(found)


def files_in(words: Sequence[str], folder: Path) -> list[Path]:
    """Returns the files that words of a command name, such as a script or a namelist."""
    return [path for word in words[1:] if not word.startswith("-") and (path := folder / word).is_file()]


def _found(word: str, folder: Path) -> Path | None:
    """Returns the program that a word names, by a path relative to `folder` or on PATH; None if there is none."""
    if "/" in word:
        path = Path(os.path.abspath(folder / word))
        return path if path.is_file() and os.access(path, os.X_OK) else None
    found = shutil.which(word)
    return Path(found) if found else None


def filled(words: Sequence[str], values: Mapping[str, object]) -> tuple[str, ...]:
    """Returns the words with `{directory}`, `{json}` and `{ranks}` replaced; other braces stay."""
    return tuple(re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), word) for word in words)
