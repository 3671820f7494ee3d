"""The preload chain of one run: MPI adapter, profiler, the storage's own, in that order, then the user's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from iolens.lab.installation import find_library, how_to_get_libraries, need_library
from iolens.lab.run import mpi
from iolens.lab.run.command_line import Command
from iolens.lab.run.preload_path import as_preloaded

PROFILERS = ("iolens", "darshan", "none")


def chain(
    profiler: str, flavour: mpi.Flavour | None, storage: Sequence[str] = (), traced: Sequence[Path] = ()
) -> list[Path]:
    """Libraries to preload, in order: those of the storage must follow the profiler, those of traced groups
    precede it.
    """
    libraries: list[Path] = []
    if profiler == "iolens":
        adapter = find_library(f"libiolens-{flavour}.so") if flavour else None
        core = find_library("libiolens.so")
        libraries += [path for path in (*traced, adapter, core) if core and path]
    elif profiler == "darshan":
        from iolens.lab.run.site_darshan import site_darshan

        libraries.append(site_darshan())
    return [*libraries, *(need_library(name) for name in storage)]


def missing_libraries(profiler: str, flavour: mpi.Flavour | None) -> list[str]:
    """Returns the parts of the profiler that were not built, and the consequences for this run; empty if all exist."""
    if profiler != "iolens":
        return []
    if find_library("libiolens.so") is None:
        return [f"libiolens.so was not found, so the program runs without the profiler; {how_to_get_libraries()}"]
    if flavour and find_library(f"libiolens-{flavour}.so") is None:
        return [f"libiolens-{flavour}.so was not found, so every process writes its own log, without MPI-IO records"]
    return []


def preload_value(libraries: Sequence[Path]) -> str:
    """Returns the value of LD_PRELOAD: ours, then whatever the user had set."""
    return ":".join([*(as_preloaded(path) for path in libraries), *filter(None, [os.environ.get("LD_PRELOAD")])])


def sanitizer_options() -> dict[str, str]:
    """Returns the variables for a program with a sanitizer; the user's own settings take precedence.

    AddressSanitizer ends a program at once if another library is loaded before it, unless an option says otherwise; it
    works behind our library too. ThreadSanitizer would report what threads do in our libraries, and change the exit
    code for it.
    """
    known = Path(__file__).with_name("thread_sanitizer.txt")
    ours = {"ASAN_OPTIONS": "verify_asan_link_order=0", "TSAN_OPTIONS": f'suppressions="{known}"'}
    return {name: ":".join([value, *filter(None, [os.environ.get(name)])]) for name, value in ours.items()}


def flavour_of(command: Command) -> mpi.Flavour | None:
    """Returns the MPI of a command: the one that the program links or, for scripts, the launcher's own."""
    application = command.application
    path = shutil.which(application) if application else None
    flavour = mpi.flavour_of_program(Path(path)) if path else None
    if flavour is None and command.launcher:
        flavour = mpi.flavour_of_launcher(command.words[0])
    return flavour
