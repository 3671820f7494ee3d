"""Determines where `iolens run` puts the log: in the requested folder, or the one that the profiler's variables
name.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

from iolens.errors import IolensError, UsageError
from iolens.lab.say import say

_FOLDERS = ("IOLENS_LOGPATH", "DARSHAN_LOGPATH")
_NAMES = ("IOLENS_LOGFILE", "DARSHAN_LOGFILE")
"""Environment variables in the order in which the profiler itself reads them."""
_OUTPUT = "--output"


class FileState(NamedTuple):
    """A file's identity: a file that was replaced or written since has another one."""

    device: int
    number: int
    written: int


class LogPlace(NamedTuple):
    """The folder of the logs, and the full name of the log if one was requested. `asked` names the option or variable
    that requests it. `earlier` is the file that had the requested name when the run began.
    """

    folder: Path
    name: Path | None = None
    asked: str = ""
    earlier: FileState | None = None

    @contextmanager
    def made(self) -> Iterator[LogPlace]:
        """Makes the folder if it is missing, or raises `UsageError`, and yields the place. If a later step fails, the
        new folder is removed again unless it has contents.
        """
        missing = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
        try:
            with _claimed(self) if self.asked == _OUTPUT else nullcontext(self) as place:
                if self.asked:
                    _make_folder(place.folder, self.asked)
                yield place
        except IolensError:
            with suppress(OSError):
                for path in missing:
                    path.rmdir()
            raise


def log_place(output: Path | None, environment: Mapping[str, str]) -> LogPlace:
    """Returns `output` if given, else the folder in the profiler's variables, else the current folder."""
    name, folder = _first_given(_NAMES, environment), _first_given(_FOLDERS, environment)
    if output:
        return LogPlace(output, asked=_OUTPUT)
    if name:
        path = _absolute(environment[name], name)
        if path.is_dir():
            raise UsageError(
                f"{name}: {path} is a folder; give the full name of the log, or name the folder in {_FOLDERS[0]}"
            )
        return LogPlace(path.parent, path, name, _state_of(path))
    return LogPlace(Path(environment[folder]), asked=folder) if folder else LogPlace(_current_folder())


def _current_folder() -> Path:
    """Returns the current folder, or the one for temporary files if the current one was removed: the program runs
    there all the same.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        import tempfile

        folder = Path(tempfile.gettempdir())
        say(f"the current folder was removed, so the log goes to {folder}; --output names another folder")
        return folder


def _absolute(path: str, asked: str) -> Path:
    """Returns an absolute path; raises UsageError if it begins in a folder that was removed."""
    try:
        return Path(path).absolute()
    except FileNotFoundError:
        raise UsageError(f"{asked}: {path} lies in the current folder, which was removed; give a full path") from None


@contextmanager
def _claimed(place: LogPlace) -> Iterator[LogPlace]:
    """Yields the place or, while another run writes into its folder, one with a folder beside it, so that neither run
    replaces the other's output and tables.
    """
    for number in itertools.count(1):
        folder = place.folder if number == 1 else place.folder.with_name(f"{place.folder.name}-{number}")
        _make_folder(folder, _OUTPUT)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if _is_taken(descriptor):
                continue
            if number > 1:
                say(f"--output: another run writes into {place.folder} now, so this run's files are in {folder}")
            yield place._replace(folder=folder)
            return
        finally:
            os.close(descriptor)


def _is_taken(descriptor: int) -> bool:
    """Locks a folder until its descriptor is closed; returns True if another run has locked it. A file system without
    locks of folders leaves runs on their own.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


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
        is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
        reason = os.strerror(errno.EROFS if is_read_only else errno.EACCES)
        raise UsageError(f"{asked}: no log can be written into {folder}: {reason}")


def name_logs(logs: Sequence[Path], place: LogPlace) -> tuple[Path, ...]:
    """Returns the logs, after giving one the requested name: a single log is renamed; of several logs, the log of the
    process that started the others gets the requested name in addition to its own. A log that another run gave the
    name meanwhile keeps it.
    """
    name = place.name
    if name is None or not logs:
        return tuple(logs)
    first = logs[0] if len(logs) == 1 else _first_log(logs)
    if first is None:
        say(f"{name} is the name of one log, but no process of the {len(logs)} logs started all others")
        return tuple(logs)
    if not _link_log(first, name, place.earlier):
        say(f"another run gave its log the name {name} meanwhile, so this run's log keeps its own name")
        return tuple(logs)
    if len(logs) == 1:
        first.unlink()
        return (name,)
    say(f"log of the first process: {name}")
    return tuple(logs)


def _link_log(log: Path, name: Path, earlier: FileState | None) -> bool:
    """Gives a log a second name. A file that has the name already is replaced only if it is `earlier`; returns False if
    it is another one.
    """
    try:
        os.link(log, name)
        return True
    except FileExistsError:
        pass
    except OSError:  # Copies the log where the file system has no hard links.
        if _state_of(name) != earlier:
            return False
        shutil.copy(log, name)
        return True
    # Another run may take the name at any moment, so the file is looked at where nobody else can replace it.
    aside = name.with_name(f".{name.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        name.rename(aside)
    is_earlier = _state_of(aside) in (earlier, None)
    if not is_earlier:
        with suppress(OSError):
            os.link(aside, name)
    aside.unlink(missing_ok=True)
    return is_earlier and _link_log(log, name, None)


def _state_of(path: Path) -> FileState | None:
    """Returns a file's identity; None if there is no file."""
    try:
        info = path.stat()
    except OSError:
        return None
    return FileState(info.st_dev, info.st_ino, info.st_mtime_ns)


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
