"""The preparation of a command: the libraries that are preloaded into its programs, and its variables.

The preload chain has the libraries of traced groups, the profiler, the storage's own libraries, then the user's own, in
that order. It is handed on by the environment, through launchers, scripts and whatever else stands before a program.
Which MPI a process has, the profiler finds out in the process.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from iolens.errors import IolensError
from iolens.lab.installation import find_library, how_to_get_libraries, need_library
from iolens.lab.run.command_line import CommandLine, command_name, take_apart, with_environment, without_libraries
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.mpi_launch.hosts_reached import across_hosts
from iolens.lab.run.reach import beyond_reach
from iolens.lab.say import say

if TYPE_CHECKING:
    from iolens.lab.storage.backend import Backend

PROFILERS = ("iolens", "darshan", "none")

_APART = "each rank writes its own log without MPI, because one common log would need all ranks of the job"
"""Message for ranks that are recorded as programs without MPI because some of them cannot be recorded."""

_READ_BY_THE_LOADER = frozenset(" :;$\t\n")
"""Characters that have a special meaning to the loader."""


class Setup(NamedTuple):
    """The conditions of a command: the profiler, the folder of logs, the storage on which the command's files lie, if
    it is known, and variables for the application and the launcher. A command that takes longer than `timeout` seconds
    is ended. `container` names the runtime that starts the command's container, or is "any" (containers/container.py).
    With `apart`, ranks do not wait for each other to write one log.
    """

    profiler: str = "iolens"
    logs: Path = Path()
    storage: Backend | None = None
    application: Mapping[str, str] = {}
    launcher: Mapping[str, str] = {}
    timeout: float | None = None
    container: str | None = None
    apart: bool = False


def instrumented(words: Sequence[str], setup: Setup) -> tuple[list[str], dict[str, str]]:
    """Returns the command line, and the variables with which it is to be started so that its programs are recorded."""
    command = take_apart(words)
    settings = dict(setup.application)
    if setup.profiler == "iolens":
        settings |= {"IOLENS_RUN_LOGS": str(setup.logs)}
    traced = _libraries_of_groups(settings.get("IOLENS_TRACE"))
    if setup.container:
        from iolens.lab.run.containers.container import contained

        return contained(words, setup.container, settings, setup.logs, traced), {}
    if setup.profiler == "darshan":
        return _under_darshan(command, setup, settings)
    beyond = beyond_reach(command)
    for index, why in beyond.items():
        say(f"{command_name(command.words[index:])} {why}, so it runs without the profiler")
    if beyond and len(beyond) == len(command.applications):
        return list(words), settings
    if setup.profiler == "iolens":
        settings |= _mpi_settings(command, setup, some_missing=bool(beyond))
    settings |= _preloading(chain(setup.profiler, _storage_libraries(setup), traced))
    return across_hosts(without_libraries(command, beyond), settings), settings


def _mpi_settings(command: CommandLine, setup: Setup, some_missing: bool) -> dict[str, str]:
    """Returns the variable that keeps the ranks of a job from waiting for one another, if they are to write logs of
    their own or some ranks cannot be recorded; says so, and says if the profiler is missing.
    """
    if find_library("libiolens.so") is None:
        say(missing_profiler())
        return {}
    if not (command.launcher and some_missing) and not setup.apart:
        return {}
    if command.launcher:
        say(_APART)
    return {"IOLENS_MPI": "0"}


def _under_darshan(command: CommandLine, setup: Setup, settings: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """Returns the command under the site's Darshan. Its library may need an MPI library, so it is preloaded only into
    the applications if they are found, and not into the launcher.
    """
    from iolens.lab.run import site_darshan

    library = site_darshan.site_darshan()
    settings |= site_darshan.darshan_settings(library, setup.logs, parallel=flavour_of(command) is not None)
    settings |= _preloading([library, *(need_library(name) for name in _storage_libraries(setup))])
    if command.applications:
        return with_environment(command, settings), {}
    return list(command.words), settings


def _storage_libraries(setup: Setup) -> Sequence[str]:
    return setup.storage.libraries if setup.storage else ()


def _preloading(libraries: Sequence[Path]) -> dict[str, str]:
    """Returns the variables that preload these libraries."""
    return {"LD_PRELOAD": preload_value(libraries), **sanitizer_options()} if libraries else {}


def _libraries_of_groups(asked: str | None) -> list[Path]:
    """Returns the libraries to preload for a list of traced groups; none without a list."""
    if asked is None:
        return []
    from iolens.lab.run.settings import groups

    return groups.libraries(asked.split(","))


def chain(profiler: str, storage: Sequence[str] = (), traced: Sequence[Path] = ()) -> list[Path]:
    """Returns the libraries to preload, in order: those of the storage must follow the profiler, those of traced groups
    must precede it.
    """
    core = find_library("libiolens.so") if profiler == "iolens" else None
    return [*([*traced, core] if core else []), *(need_library(name) for name in storage)]


def missing_profiler() -> str:
    """Returns the message for a run whose profiler was not built."""
    return f"libiolens.so was not found, so the program runs without the profiler; {how_to_get_libraries()}"


def preload_value(libraries: Sequence[Path]) -> str:
    """Returns the value of LD_PRELOAD: our libraries, then those that the user had set."""
    return ":".join([*(as_preloaded(path) for path in libraries), *filter(None, [os.environ.get("LD_PRELOAD")])])


def sanitizer_options() -> dict[str, str]:
    """Returns the variables for a program with a sanitizer; the user's own settings take precedence.

    AddressSanitizer ends a program at once if another library is loaded before it, unless an option says otherwise; it
    also works after our library. ThreadSanitizer would report the accesses of threads in our libraries, and change the
    exit code because of them.
    """
    known = Path(__file__).with_name("thread_sanitizer.txt")
    ours = {"ASAN_OPTIONS": "verify_asan_link_order=0", "TSAN_OPTIONS": f'suppressions="{known}"'}
    return {name: ":".join([value, *filter(None, [os.environ.get(name)])]) for name, value in ours.items()}


def flavour_of(command: CommandLine) -> mpi.Flavour | None:
    """Returns the MPI of a command: the one that the program links or, for scripts, the launcher's own."""
    application = command.application
    path = shutil.which(application) if application else None
    flavour = mpi.flavour_of_program(Path(path)) if path else None
    if flavour is None and command.launcher:
        flavour = mpi.flavour_of_launcher(command.words[0])
    return flavour


def as_preloaded(library: Path) -> str:
    """Returns the library's path, or a path through a link to its folder if the loader would misread a character.

    The link lies in a folder on this node to which only this user can write. It has the same name every time, and
    stays for processes that outlive the run. Raises if there is no place for it.
    """
    if not _READ_BY_THE_LOADER & set(str(library)):
        return str(library)
    from hashlib import sha256

    target = library.parent.resolve()
    link = _own_folder() / sha256(os.fsencode(target)).hexdigest()[:16]
    if not (link.is_symlink() and link.readlink() == target):
        fresh = link.with_name(f"{link.name}-{os.getpid()}")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target)
        fresh.replace(link)
    return str(link / library.name)


def _own_folder() -> Path:
    """Returns a folder to which only this user can write, inside a folder whose path has no character special to the
    loader.
    """
    places = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/dev/shm"]
    for place in places:
        if not place.startswith("/") or _READ_BY_THE_LOADER & set(place):
            continue
        folder = Path(place) / f"iolens-{os.geteuid()}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            info = folder.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o077:
            return folder
    raise IolensError(
        "the path of the libraries' folder has a space or colon, which the loader cannot handle, and no link to it "
        "could be made in XDG_RUNTIME_DIR, /tmp or /dev/shm; set IOLENS_LIB to a folder without a space or colon in "
        "its path"
    )
