"""Find the programs in a launcher's command line, for names and for what cannot be recorded. The launcher gets its own
words unchanged, whether or not they are understood.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_LAUNCHERS = "mpirun mpiexec orterun prterun mpirun_rsh srun aprun palsrun ibrun jsrun lrun flux".split()
"""Names of launchers. A name may have an ending, as in mpirun.openmpi and mpiexec.hydra."""

_START = 'exec "$0" "$@"'
"""Command at the end of a shell script: it replaces the shell by the program that is named in the arguments."""

_ENV_WITH_VALUE = ("-u", "-C")
"""Options of env that take the next word as a value."""


class CommandLine(NamedTuple):
    """A command line split into parts: `launcher` (None for a plain program) and the index of every application."""

    words: tuple[str, ...]
    launcher: str | None
    applications: tuple[int, ...]

    @property
    def application(self) -> str | None:
        """Returns the first application as the user wrote it; None if none was found."""
        return self.words[self.applications[0]] if self.applications else None


def launcher_name(word: str) -> str | None:
    """Returns the name of the launcher that a command's first word starts, without its ending; None for any other
    program.
    """
    name = Path(word).name.partition(".")[0]
    return name if name in _LAUNCHERS else None


def take_apart(words: Sequence[str], is_program: Callable[[str], object] = shutil.which) -> CommandLine:
    """Finds the applications of a command; a program that is not a known launcher is its own application.

    Launchers have hundreds of options, with and without values, so the first word for which `is_program` is true counts
    as the application. Each `:` begins the next one (MPMD).
    """
    launcher = launcher_name(words[0])
    if launcher is None:
        return CommandLine(tuple(words), None, (0,))
    applications = []
    begin = 1
    while begin < len(words):
        end = words.index(":", begin) if ":" in words[begin:] else len(words)
        found = [index for index in range(begin, end) if not words[index].startswith("-") and is_program(words[index])]
        sure = [index for index in found if not _may_be_a_value(words, index)]
        applications += (sure or found)[:1]
        begin = end + 1
    return CommandLine(tuple(words), launcher, tuple(applications))


def _may_be_a_value(words: Sequence[str], index: int) -> bool:
    """Returns True for a name behind an option of one letter, which usually has a value, as in `srun -J test`."""
    before = words[index - 1]
    return "/" not in words[index] and len(before) == 2 and before[0] == "-" and before != "--"


def command_name(words: Sequence[str]) -> str:
    """Returns the name of the program or launcher that a command line starts; words that set variables are skipped."""
    rest = list(words)
    while rest and Path(rest[0]).name == "env":
        rest = rest[1:]
        while rest and (rest[0].startswith("-") or "=" in rest[0]):
            rest = rest[1 + (rest[0] in _ENV_WITH_VALUE) :]
    if rest[:3] == ["sh", "-c", _START]:
        rest = rest[3:]
    return Path(rest[0] if rest else words[0]).name


def with_environment(command: CommandLine, environment: Mapping[str, str]) -> list[str]:
    """Returns the command with `env NAME=value …` ahead of every application; the launcher's own words stay
    unchanged.
    """
    if not environment:
        return list(command.words)
    return _with_words_ahead(
        command.words, command.applications, [f"{key}={value}" for key, value in environment.items()]
    )


def without_libraries(command: CommandLine, beyond: Collection[int]) -> list[str]:
    """Returns the command with `env -u LD_PRELOAD` ahead of the applications whose index is in `beyond`."""
    return _with_words_ahead(command.words, beyond, ["-u", "LD_PRELOAD"])


def _with_words_ahead(words: Sequence[str], places: Collection[int], changes: Sequence[str]) -> list[str]:
    """Returns the words with `env` and the changes ahead of those at `places`. A program whose path has a `=` is
    started by a shell, because env would take the path for a variable.
    """
    found: list[str] = []
    for index, word in enumerate(words):
        if index in places:
            found += ["env", *changes, *(["sh", "-c", _START] if "=" in word else [])]
        found.append(word)
    return found
