"""Where `iolens run` leaves the log: the folder that was asked for, or what the profiler's variables name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import UsageError
from iolens.lab.say import say

FOLDERS = ("IOLENS_LOGPATH", "DARSHAN_LOGPATH")
NAMES = ("IOLENS_LOGFILE", "DARSHAN_LOGFILE")
"""First choice first, as the profiler itself reads them."""


@dataclass(frozen=True)
class LogPlace:
    """The folder of the logs, and the full name of the log when one was asked for."""

    folder: Path
    name: Path | None = None


def log_place(output: Path | None, environment: Mapping[str, str]) -> LogPlace:
    """`output`, else what the variables name, else this folder; a folder that is missing is made, or `UsageError`."""
    name, folder = given(NAMES, environment), given(FOLDERS, environment)
    if output:
        return LogPlace(made(output, "--output"))
    if name:
        path = Path(environment[name]).absolute()
        return LogPlace(made(path.parent, name), path)
    return LogPlace(made(Path(environment[folder]), folder) if folder else Path.cwd())


def given(variables: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The first of the variables that is set and not empty."""
    return next((variable for variable in variables if environment.get(variable)), None)


def made(folder: Path, asked: str) -> Path:
    """The folder, made when it is missing; `asked` names who wants it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{asked}: {folder} cannot be made a folder: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{asked}: no log can be written into {folder}: Permission denied")
    return folder.resolve()


def named(logs: Sequence[Path], name: Path | None) -> tuple[Path, ...]:
    """The log under the name that was asked for, where there is one log; several keep theirs."""
    if name is None or not logs:
        return tuple(logs)
    if len(logs) > 1:
        say(f"{name} is the name of one log, and there are {len(logs)}")
        return tuple(logs)
    return (logs[0].replace(name),)


def without_places(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program whose log's place was decided already."""
    return {key: value for key, value in environment.items() if key not in (*FOLDERS, *NAMES)}
