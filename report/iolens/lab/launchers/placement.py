"""The placement of a run's ranks, in a small set of words, and the options of each starter of ranks for them.

Sources: mpirun(1) of Open MPI 4.1, `mpiexec -help` of MPICH's Hydra, Intel MPI's developer reference, srun(1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from iolens.errors import UsageError
from iolens.lab.run.mpi_launch import mpi

MAPPINGS = ("slot", "core", "socket", "node")
"""Where successive ranks are placed: slots of one node after another, cores, sockets in turn, or nodes in turn."""


@dataclass(frozen=True)
class Starter:
    """A starter of ranks: `mappings` has its options for each word that it supports, `per_node` its options for a
    number of ranks on each node. `version` matches the text that `--version` prints.
    """

    name: str
    version: str
    mappings: Mapping[str, tuple[str, ...]]
    per_node: tuple[str, ...]


_STARTERS = (
    Starter(
        "Open MPI's mpirun",
        r"Open ?MPI|OpenRTE|PRRTE|prte",
        {word: ("--map-by", word) for word in MAPPINGS},
        ("--map-by", "ppr:{}:node"),
    ),
    # Intel MPI places ranks on cores and sockets by environment variables instead of options, and the toolkit's own
    # settings for ranks on one node switch these variables off.
    Starter("Intel MPI's mpirun", r"Intel", {"node": ("-ppn", "1")}, ("-ppn", "{}")),
    Starter(
        "MPICH's mpirun",
        r"HYDRA|MPICH",
        {
            **{word: ("-bind-to", word, "-map-by", word) for word in ("core", "socket")},
            "node": ("-ppn", "1"),
        },
        ("-ppn", "{}"),
    ),
    Starter(
        "srun",
        r"^slurm",
        {
            "slot": ("--distribution=block",),
            "core": ("--distribution=block:block",),
            "socket": ("--distribution=block:cyclic",),
            "node": ("--distribution=cyclic",),
        },
        ("--ntasks-per-node={}",),
    ),
)
"""The table of starters; the first one whose `version` matches is taken."""


@cache
def _starter_of(command: str) -> Starter | None:
    """Returns the starter of ranks that a command runs; None if it is not in the table."""
    said = mpi.mpi_output(command, "--version")
    return next((one for one in _STARTERS if re.search(one.version, said, re.IGNORECASE)), None)


def options_for(command: str, mapping: str | None, per_node: int | None) -> tuple[str, ...]:
    """Returns the options with which `command` places ranks as requested; raises UsageError for a request that it
    cannot fulfil.
    """
    if mapping is None and per_node is None:
        return ()
    starter = _starter_of(command)
    if starter is None:
        raise UsageError(
            f"mpi.mapping, mpi.ranks_per_node: iolens does not know how to place ranks with {command}; it knows "
            f"{', '.join(one.name for one in _STARTERS)}"
        )
    if mapping is not None and mapping not in starter.mappings:
        able = ", ".join(starter.mappings)
        raise UsageError(f"mpi.mapping: {starter.name} cannot map ranks by {mapping}; it can map by {able}")
    mapped = starter.mappings[mapping] if mapping else ()
    spread = tuple(word.format(per_node) for word in starter.per_node) if per_node else ()
    if set(mapped[::2]) & set(spread[::2]):
        raise UsageError(
            f"mpi.mapping: {starter.name} cannot map by {mapping} with mpi.ranks_per_node; remove one of both"
        )
    return (*mapped, *spread)
