"""Find the programs of a command into which a library can be preloaded, as far as the command line and the
files tell.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from iolens.lab.installation import find_library
from iolens.lab.run.command_line import CommandLine
from iolens.lab.run.containers.container_names import runtime_name
from iolens.lab.run.mpi_launch import mpi

_CLEARS = ("-", "-i", "--ignore-environment")
"""Options of env that clear the whole environment."""
_FOLLOWED = ("-u", "--unset", "-C", "--chdir")
"""Options of env that take the next word as a value."""


def beyond_reach(command: CommandLine) -> dict[int, str]:
    """Returns the reasons why libraries cannot be preloaded into applications, by their index in the command; empty if
    they can.
    """
    reasons = {index: out_of_reach(command.words[index:]) for index in command.applications}
    return {index: why for index, why in reasons.items() if why}


def out_of_reach(words: Sequence[str]) -> str | None:
    """Returns the reason why no library can be preloaded into the program that these words start; None if no reason is
    known.
    """
    if Path(words[0]).name == "env":
        rest, kept = _behind_env(words[1:])
        return (out_of_reach(rest) if rest else None) if kept else "is started by env without LD_PRELOAD"
    found = shutil.which(words[0])
    if found is None:
        return None
    if runtime_name(found):
        return "starts a container; record the program inside with --container"
    if _gains_rights(found):
        return "runs with other rights than yours (setuid, setgid or file capabilities)"
    other = _foreign(Path(found))
    return "is statically linked" if other is None and mpi.is_static(Path(found)) else other


def _behind_env(words: Sequence[str]) -> tuple[Sequence[str], bool]:
    """Returns the command after env's options and variables, and True if env passes on the variable of preloaded
    libraries.
    """
    index, kept = 0, True
    while index < len(words) and (words[index].startswith("-") or "=" in words[index]):
        word = words[index]
        index += 1
        if word in _FOLLOWED:
            word += f"={words[index]}" if index < len(words) else ""
            index += 1
        taken = (*_CLEARS, "-u=LD_PRELOAD", "-uLD_PRELOAD", "--unset=LD_PRELOAD")
        kept = kept and word not in taken and not word.startswith("LD_PRELOAD=")
    return words[index:], kept


def _foreign(program: Path) -> str | None:
    """Returns the reason why a program cannot load the profiler's library. Returns None if the program can, if it is a
    script, or if the library was not built.
    """
    library = find_library("libiolens.so")
    head = mpi.head_of(program, mpi.HEAD)
    if library is None or head[:4] != b"\x7fELF":
        return None
    ours = mpi.head_of(library, mpi.HEAD)
    if (head[4:6], head[18:20]) != (ours[4:6], ours[18:20]):
        return "is built for another type of processor"
    return "is built for another C library (musl)" if b"/ld-musl-" in head else None


def _gains_rights(program: str) -> bool:
    """Returns True for a program that the system starts with other rights than this process has: the loader then
    ignores LD_PRELOAD (ld.so(8), secure-execution mode).
    """
    info = os.stat(program)
    if os.statvfs(program).f_flag & os.ST_NOSUID:
        return False
    user = info.st_mode & stat.S_ISUID and info.st_uid != os.getuid()
    group = info.st_mode & stat.S_ISGID and info.st_mode & stat.S_IXGRP and info.st_gid != os.getgid()
    return bool(user or group) or (os.geteuid() != 0 and _has_capabilities(program))


def _has_capabilities(program: str) -> bool:
    try:
        return bool(os.getxattr(program, "security.capability"))
    except OSError:
        return False
