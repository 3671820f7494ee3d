"""Prepares a command that starts a container: makes the profiler available inside, preloads it there, and writes its
log to a folder outside.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.installation import find_library, how_to_get_libraries
from iolens.lab.recovery.places import default_folders
from iolens.lab.run.command_line import CommandLine, take_apart
from iolens.lab.run.containers.container_inside import (
    LIBRARIES,
    SCRIPT,
    Inside,
    libraries_missing_inside,
    look_inside,
    refusal,
)
from iolens.lab.run.containers.container_names import ANY
from iolens.lab.run.containers.container_runtimes import (
    RUNTIMES,
    Runtime,
    Started,
    bind_option,
    runtime_of,
    take_start_apart,
)
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.say import say

_NO_NUMBER = re.compile(r"[^\d.,:]")
"""Words behind a launcher inside that may be a program; whether they are, only the container knows."""

_LOGS, _SPOOL = "/iolens/logs", "/iolens/spool"
"""Places in the container of the folders of logs and of spools."""


@dataclass(frozen=True)
class Contained:
    """A command that starts a container: once (`outer.launcher` is None), or once for each rank."""

    outer: CommandLine
    started: Started
    inner: CommandLine | None

    @property
    def program(self) -> str:
        """Returns the program inside the container; "" if the image decides which program runs."""
        return (self.inner.application or "") if self.inner else ""

    @property
    def before(self) -> tuple[str, ...]:
        """Returns the launcher with its options."""
        return self.outer.words[: self.outer.applications[0]]


def take_contained_apart(words: Sequence[str], name: str) -> Contained:
    """Returns the command's parts; `name` is the runtime's, or ANY. Raises UsageError if the command starts no
    container.
    """
    outer = take_apart(words, lambda word: runtime_of(word) or shutil.which(word))
    if len(outer.applications) != 1:
        raise UsageError("--container takes one program, but `:` separates several here")
    rest = outer.words[outer.applications[0] :]
    runtime = runtime_of(rest[0]) if name == ANY else RUNTIMES[name]
    if runtime is None:
        known = ", ".join(RUNTIMES)
        raise UsageError(
            f"{rest[0]} is not one of {known}; if it is one of them under another name, give --container NAME"
        )
    started = take_start_apart(rest, runtime)
    return Contained(outer, started, take_apart(started.inside, _NO_NUMBER.search) if started.inside else None)


def contained_program(words: Sequence[str], name: str) -> str:
    """Returns the name of the run: the program inside, or else the image."""
    parts = take_contained_apart(words, name)
    return parts.program or parts.started.image


def contained(
    words: Sequence[str], name: str, settings: Mapping[str, str], logs: Path, traced: Sequence[Path]
) -> list[str]:
    """Returns the command with the profiler bound into the container and set up there.

    `settings` are variables of the profiler, including IOLENS_RUN, `logs` is the folder for its logs, `traced` are
    libraries of groups of functions. Raises IolensError, with the remedy, if the profiler cannot be loaded inside.
    """
    parts = take_contained_apart(words, name)
    runtime, what = parts.started.runtime, f"the container of {parts.started.image}"
    core = find_library("libiolens.so")
    if core is None:
        raise IolensError(
            f"libiolens.so was not found, so it cannot be bound into the container; {how_to_get_libraries()}"
        )
    adapters = [find_library(f"libiolens-{flavour}.so") for flavour in mpi.FLAVOURS]
    libraries = [*traced, *filter(None, adapters), core]
    binds = [
        word for path in libraries for word in bind_option(runtime, path, f"{LIBRARIES}/{path.name}", writable=False)
    ]
    inside = look_inside(examination(parts, binds), what)
    if why := refusal(inside, what) or _unable(parts, inside, what):
        raise IolensError(why)
    preload = ":".join(f"{LIBRARIES}/{path.name}" for path in (*traced, core))
    surroundings = {**settings, "IOLENS_RUN_LOGS": _LOGS, "LD_PRELOAD": preload}
    binds += bind_option(runtime, logs, _LOGS, writable=True)
    if not runtime.as_host:
        surroundings |= _own_user(os.environ)
        if parts.outer.launcher is None:
            binds += bind_option(runtime, _spool_folder(settings["IOLENS_RUN"], make=True), _SPOOL, writable=True)
            surroundings["IOLENS_SPOOL"] = _SPOOL
    return assembled(parts, binds, surroundings)


def assembled(parts: Contained, binds: Sequence[str], surroundings: Mapping[str, str]) -> list[str]:
    """Returns the command line. The container runtime sets the variables, which needs no `env` in the image."""
    started = parts.started
    ahead, options = _given_variables(started.runtime, surroundings)
    return [*parts.before, *ahead, *started.head, *options, *binds, *started.options, started.image, *started.inside]


def _given_variables(runtime: Runtime, surroundings: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Returns how variables get into the container: words before the runtime, and options of the runtime."""
    if runtime.prefix:
        return ["env", *(f"{runtime.prefix}{name}={value}" for name, value in surroundings.items())], []
    return [], [word for name, value in surroundings.items() for word in (runtime.variable, f"{name}={value}")]


def examination(parts: Contained, binds: Sequence[str]) -> list[str]:
    """Returns the command that starts a shell with SCRIPT in the container, without the launcher."""
    started = parts.started
    shell = ["-c", SCRIPT, "sh", parts.program]
    if started.runtime.examine:
        return [*started.head, *binds, *started.options, *started.runtime.examine, started.image, *shell]
    head = [*started.head[:-1], "exec"]
    return [*head, *binds, *started.options, started.image, "sh", *shell]


def _unable(parts: Contained, inside: Inside, what: str) -> str | None:
    """Returns the reason why the program cannot start in the container: it needs libraries that are not there. If the
    image's own script starts the program, only prints the reason and returns None, because this script may find the
    libraries.
    """
    missing = libraries_missing_inside(inside)
    if not missing:
        return None
    remedy = (
        "bind them into the container and name their folder in LD_LIBRARY_PATH there, or use an image that has them"
    )
    sentence = f"{parts.program} needs {', '.join(missing)}, which {what} lacks; {remedy}"
    if parts.started.head[-1] == "exec":
        return sentence
    say(sentence)
    return None


def _own_user(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns variables that let others read the log, because the user inside the container may be another one."""
    mode = environment.get("IOLENS_LOG_MODE")
    return {"IOLENS_LOG_MODE": mode or "0444"} if mode or os.geteuid() != 0 else {}


def _spool_folder(run: str, make: bool = False) -> Path:
    """Returns the folder for a container's spools, in which a recovery searches for them. Any user of the container may
    write to this folder, but it lies inside a folder that only this user may enter.
    """
    folder = default_folders()[0] / f"container-{run}"
    if make:
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o1777)
    return folder


def remove_spool_folder(run: str) -> None:
    """Removes the folder unless it still holds spools. A folder that another user of the container made is removed if
    empty.
    """
    folder = _spool_folder(run)
    for path in (*folder.glob("*"), folder):
        with suppress(OSError):
            path.rmdir()
