"""Hands variables on to the other hosts of a job, by the means of the launcher's kind."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from iolens.lab.run.command_line import launcher_name, take_apart
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.mpi_launch.allocation import allocation
from iolens.lab.say import say

_NAMES_HOSTS = re.compile(
    r"--?(H|hosts?|hostfile|machinefile|default-hostfile|add-host|add-hostfile|rf|rankfile|app|f)$"
)
"""Options by which a launcher is given hosts, or a file that may name hosts."""

_HAND_ON = ("aprun", "palsrun", "jsrun", "lrun", "flux")
"""Launchers that give their ranks the whole environment, as MPICH's mpiexec does."""

_BY_VERSION = ("mpirun", "mpiexec", "orterun", "prterun")
"""Launchers that several MPI libraries have, and that print their kind with --version."""

_LIST = "OMPI_MCA_mca_base_env_list"
"""Variable with the names of further variables that Open MPI hands on. Open MPI refuses it together with -x."""

_EXPORT, _EXPORTED = "--export", "SLURM_EXPORT_ENV"
"""Option of srun, and variable with the same meaning: ALL, NONE, or a list of variables."""


def across_hosts(words: Sequence[str], settings: dict[str, str]) -> list[str]:
    """Returns the command with what its launcher needs to give the variables in `settings` to ranks on all hosts.

    May add a variable to `settings`. Prints which variables to hand on if the launcher's kind is unknown.
    """
    launcher = launcher_name(words[0])
    if launcher is None:
        return list(words)
    words = _with_given_preloads(words, settings.get("LD_PRELOAD"))
    if launcher == "srun":
        return _exported(words, settings)
    if launcher in _HAND_ON or not _spans_hosts(words):
        return words
    flavour = mpi.flavour_of_launcher(words[0]) if launcher in _BY_VERSION else None
    if flavour == "openmpi":
        return _named_to_open_mpi(words, settings)
    if flavour is None:
        say(
            f"{words[0]} may not hand its environment on to other hosts; if ranks there are not recorded, name these "
            f"variables to it: {' '.join(settings)}"
        )
    return words


def _with_given_preloads(words: Sequence[str], libraries: str | None) -> list[str]:
    """Puts the libraries in front of those that the user's own options of the launcher preload into the ranks, which
    would replace them.
    """
    found = list(words)
    for index in range(1, len(words)):
        before, word = words[index - 1], words[index]
        if libraries and before == "-x" and word.startswith("LD_PRELOAD="):
            found[index] = f"LD_PRELOAD={libraries}:{word.partition('=')[2]}"
        elif libraries and before in ("-genv", "-env") and word == "LD_PRELOAD" and index + 1 < len(words):
            found[index + 1] = f"{libraries}:{words[index + 1]}"
    return found


def _spans_hosts(words: Sequence[str]) -> bool:
    """Returns True if the job may have ranks on other hosts."""
    return len(allocation().nodes) > 1 or any(_NAMES_HOSTS.match(word.partition("=")[0]) for word in words[1:])


def _named_to_open_mpi(words: list[str], settings: dict[str, str]) -> list[str]:
    """Names the variables to Open MPI's launcher, which hands on only its own ones."""
    names = [name for name in settings if not name.startswith("OMPI_")]
    if _LIST in os.environ:
        settings[_LIST] = ";".join([os.environ[_LIST], *names])
        return words
    return [words[0], *(word for name in names for word in ("-x", name)), *words[1:]]


def _exported(words: Sequence[str], settings: dict[str, str]) -> list[str]:
    """Adds the variables to those that srun gives its ranks, unless it gives them all. Options behind the application
    are the application's.
    """
    names, applications = list(settings), take_apart(words).applications
    if _EXPORTED in os.environ:
        settings[_EXPORTED] = _with_names(os.environ[_EXPORTED], names)
    found = list(words)
    for index, word in enumerate(words[: applications[0]] if applications else words):
        option, equals, value = word.partition("=")
        if option != _EXPORT:
            continue
        if equals:
            found[index] = f"{_EXPORT}={_with_names(value, names)}"
        elif index + 1 < len(words):
            found[index + 1] = _with_names(words[index + 1], names)
        break
    return found


def _with_names(exported: str, names: Iterable[str]) -> str:
    """Returns srun's list of variables with these names: ALL has them, NONE and NIL have no variables."""
    listed = [name for name in exported.split(",") if name and name.upper() not in ("NONE", "NIL")]
    return exported if "ALL" in map(str.upper, listed) else ",".join([*listed, *names])
