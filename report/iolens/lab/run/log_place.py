"""The place in which `iolens run` leaves the log: the requested folder, or the one in the profiler's variables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.say import say

FOLDERS = ("IOLENS_LOGPATH", "DARSHAN_LOGPATH")
NAMES = ("IOLENS_LOGFILE", "DARSHAN_LOGFILE")
"""First choice first, as the profiler itself reads them."""


@dataclass(frozen=True)
class LogPlace:
    """The folder of the logs, and the full name of the log when one was asked for. `asked` names who wants it."""

    folder: Path
    name: Path | None = None
    asked: str = ""

    @contextmanager
    def made(self) -> Iterator[None]:
        """Makes the folder where it is missing, or `UsageError`; where what follows is refused, what was made goes
        again unless something is in it.
        """
        missing = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
        try:
            if self.asked:
                make(self.folder, self.asked)
            yield
        except IolensError:
            with suppress(OSError):
                for path in missing:
                    path.rmdir()
            raise


def log_place(output: Path | None, environment: Mapping[str, str]) -> LogPlace:
    """Returns `output`, else the folder in the variables, else this folder."""
    name, folder = given(NAMES, environment), given(FOLDERS, environment)
    if output:
        return LogPlace(output, asked="--output")
    if name:
        path = Path(environment[name]).absolute()
        return LogPlace(path.parent, path, name)
    return LogPlace(Path(environment[folder]), asked=folder) if folder else LogPlace(Path.cwd())


def given(variables: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Returns the first of the variables that is set and not empty."""
    return next((variable for variable in variables if environment.get(variable)), None)


def make(folder: Path, asked: str) -> None:
    """Makes the folder when it is missing, or `UsageError`; `asked` names who wants it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{asked}: {folder} cannot be made a folder: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{asked}: no log can be written into {folder}: Permission denied")


def named(logs: Sequence[Path], name: Path | None) -> tuple[Path, ...]:
    """Returns the log under the name that was asked for, where there is one log; several keep theirs."""
    if name is None or not logs:
        return tuple(logs)
    if len(logs) > 1:
        say(f"{name} is the name of one log, and there are {len(logs)}")
        return tuple(logs)
    return (logs[0].replace(name),)


def without_places(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment for a program whose log's place was decided already."""
    return {key: value for key, value in environment.items() if key not in (*FOLDERS, *NAMES)}
