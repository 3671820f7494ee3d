"""The names of the parts of a rank's time, and the part that each MPI function and each layer of I/O belongs to."""

from __future__ import annotations

import re

import numpy as np

from iolens.metrics.processor.sampled.groups import MPIIO, POSIX, STDIO

COMPUTE = "computing"
UNTRACED = "computing or MPI"
"""On a core outside I/O. `UNTRACED` stands for `COMPUTE` in a program with MPI whose calls were not timed."""

RUNNABLE, ASLEEP = "waiting for a core", "asleep or blocked"
OFF_CORE = "not on a core"
"""Asleep, blocked or waiting for a core; the log cannot distinguish these."""

UNKNOWN = "not attributed"
"""Time outside I/O and timed MPI calls for which the log does not tell whether the rank was on a core."""

OPENMP = "in OpenMP's library"
"""Time in barriers, of idle workers and at the start of parallel regions."""

POINT, COLLECTIVE, SYNC, OTHER = (
    "MPI point-to-point",
    "MPI collective",
    "MPI synchronisation",
    "MPI one-sided and other",
)
ANY_MPI = "MPI"
"""MPI calls of all kinds together, of which a log has only the sum (Darshan's module APMPI)."""

IO = {POSIX: "I/O in POSIX", STDIO: "I/O in STDIO", MPIIO: "I/O in MPI-IO", "DFS": "I/O in DFS", "DAOS": "I/O in DAOS"}
"""The part for each layer of I/O; the layers do not overlap."""

START = "start and end"
"""Time in MPI_Init and MPI_Finalize, and time in which other ranks of the job had begun and this one had not."""

PROFILER = "the profiler"

MPI_PARTS = (POINT, COLLECTIVE, SYNC, OTHER, ANY_MPI)
IO_PARTS = tuple(IO.values())
OUTSIDE = (COMPUTE, UNTRACED, OPENMP, RUNNABLE, ASLEEP, OFF_CORE, UNKNOWN)
PARTS = (*OUTSIDE, *MPI_PARTS, *IO_PARTS, START, PROFILER)


def beyond(is_untraced: bool) -> str:
    """Returns the calls that the parts of `OUTSIDE` leave out: MPI is among them only if its calls were timed."""
    return "outside I/O" if is_untraced else "outside I/O and MPI"


_STARTS = r"MPI_(Init|Init_thread|Finalize|Session_init|Session_finalize)"

_FUNCTIONS = {
    SYNC: r"MPI_(I?barrier(_init)?|Win_(fence|lock(_all)?|unlock(_all)?|flush\w*|start|complete|post|wait|test|sync))",
    COLLECTIVE: r"MPI_(I?(bcast|reduce\w*|all(gather|reduce|toall)\w*|gatherv?|scatterv?|scan|exscan|neighbor_\w+)"
    r"|Comm_(i?dup\w*|split\w*|create\w*|free|accept|connect|disconnect|spawn\w*)"
    r"|Cart_(create|sub)|Graph_create|Dist_graph_create\w*|Intercomm_(create\w*|merge)"
    r"|Win_(create|allocate\w*|create_dynamic|free))",
    POINT: r"MPI_(I?([bsr]?send|m?recv|sendrecv)(_replace)?(_init)?|I?m?probe|Wait(all|any|some)?|Test(all|any|some)?"
    r"|Start(all)?|Request_\w+|P(send|recv)_init|Pready\w*|Parrived|Buffer_\w+|(Comm|Session)_\w+_buffer)",
}
"""Patterns of function names. A wait for a request counts as point-to-point, because the log does not tell the kind of
the request.
"""


def mpi_part(functions: np.ndarray) -> np.ndarray:
    """Returns, for each call, the part of the time that its MPI function belongs to."""
    parts = {name: part_of(name) for name in set(functions.tolist())}
    return np.array([parts[name] for name in functions.tolist()], object)


def part_of(function: str) -> str:
    """Returns the part of the time that a call of this MPI function belongs to."""
    if re.fullmatch(_STARTS, function):
        return START
    return next((part for part, names in _FUNCTIONS.items() if re.fullmatch(names, function, re.IGNORECASE)), OTHER)
