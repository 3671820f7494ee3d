"""Determines where `iolens run` puts the log: in the requested folder, or the one that the profiler's variables
name.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from iolens.errors import IolensError, UsageError
from iolens.lab.say import say

_FOLDERS = ("IOLENS_LOGPATH", "DARSHAN_LOGPATH")
_NAMES = ("IOLENS_LOGFILE", "DARSHAN_LOGFILE")
"""Environment variables in the order in which the profiler itself reads them."""


class LogPlace(NamedTuple):
    """The folder of the logs, and the full name of the log if one was requested. `asked` names the option or variable
    that requests it.
    """

    folder: Path
    name: Path | None = None
    asked: str = ""

    @contextmanager
    def made(self) -> Iterator[None]:
        """Makes the folder if it is missing, or raises `UsageError`. If a later step fails, the new folder is removed
        again unless it has contents.
        """
        missing = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
        try:
            if self.asked:
                _make_folder(self.folder, self.asked)
            yield
        except IolensError:
            with suppress(OSError):
                for path in missing:
                    path.rmdir()
            raise


def log_place(output: Path | None, environment: Mapping[str, str]) -> LogPlace:
    """Returns `output` if given, else the folder in the profiler's variables, else the current folder."""
    name, folder = _first_given(_NAMES, environment), _first_given(_FOLDERS, environment)
    if output:
        return LogPlace(output, asked="--output")
    if name:
        path = Path(environment[name]).absolute()
        return LogPlace(path.parent, path, name)
    return LogPlace(Path(environment[folder]), asked=folder) if folder else LogPlace(Path.cwd())


def _first_given(variables: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Returns the first of the variables that is set and not empty."""
    return next((variable for variable in variables if environment.get(variable)), None)


def _make_folder(folder: Path, asked: str) -> None:
    """Makes the folder if it is missing; raises UsageError on failure. `asked` names the option or variable that
    requests it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{asked}: the folder {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{asked}: no log can be written into {folder}: Permission denied")


def name_logs(logs: Sequence[Path], name: Path | None) -> tuple[Path, ...]:
    """Returns the logs, after giving one the requested name: a single log is renamed; of several logs, the log of the
    process that started the others gets the requested name in addition to its own.
    """
    if name is None or not logs:
        return tuple(logs)
    if len(logs) == 1:
        return (logs[0].replace(name),)
    first = _first_log(logs)
    if first is None:
        say(f"{name} is the name of one log, but no process of the {len(logs)} logs started all others")
        return tuple(logs)
    name.unlink(missing_ok=True)
    try:
        os.link(first, name)
    except OSError:  # Copies the log where the file system has no hard links.
        shutil.copyfile(first, name)
    say(f"log of the first process: {name}")
    return tuple(logs)


def _first_log(logs: Sequence[Path]) -> Path | None:
    """Returns the log of the job with several ranks if there is one, else the log of the process that started all
    others, in the last program that it executed; None if no process started all others.
    """
    from iolens.log import read_log

    jobs = []
    for log in logs:
        with suppress(IolensError):
            jobs.append(read_log(log))
    parallel = [job for job in jobs if job.nprocs > 1]
    pids = {job.info.get("pid") for job in jobs}
    top = [job for job in jobs if pids.isdisjoint(job.info.get("ancestors", ()))]
    if len(parallel) != 1 and len({job.info.get("pid") for job in top}) != 1:
        return None
    return max(parallel or top, key=lambda job: job.start).path


def without_places(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment without the variables that decide the place of the log, because that has been decided
    already.
    """
    return {key: value for key, value in environment.items() if key not in (*_FOLDERS, *_NAMES)}
