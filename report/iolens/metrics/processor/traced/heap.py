"""The heap (`iolens run --trace heap`): what was in use at its high water, and what was not freed."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.mpi.nodes import chains
from iolens.symbols.chains import Frame

_ALL_CALLERS = -1
"""The node of a row that stands for all callers of a rank."""

_OTHERS = "(other callers)"

_CXX_LIBRARIES = ("libstdc++", "libc++")


@once_per_job
def heap(job: Job) -> Records | None:
    """Returns the heap of each rank, the largest high water first: rank (-1: other ranks together), calls, bytes
    (allocated in all), high_bytes (in use when the heap was largest), high_time (seconds since the start, of that
    moment), live_blocks and live_bytes (not freed when recording ended). Returns None if the heap was not traced.
    """
    table = job.tables.get("heap")
    if table is None or not len(table):
        return None
    rows = table.where(table["node"] == _ALL_CALLERS)
    return ordered(ordered(rows, "rank"), "-high_bytes")


@once_per_job
def heap_callers(job: Job) -> Records | None:
    """Returns the heap of each rank by the place that allocated it, the largest part of a high water first.

    Columns: those of `heap`, and caller: function and line; in C++ the place behind operator new. The function is the
    innermost one, inlined functions included. Returns None if the heap was not traced.
    """
    table = job.tables.get("heap")
    if table is None or not len(table):
        return None
    rows = table.where(table["node"] != _ALL_CALLERS)
    known = chains(job)
    keys = zip(rows["rank"].tolist(), rows["node"].tolist(), strict=True)
    callers = np.array([_caller(known.get(key, ())) for key in keys], object)
    return ordered(ordered(rows.beside({"caller": callers}), "rank"), "-live_bytes", "-high_bytes")


def _caller(chain: tuple[Frame, ...]) -> str:
    """Returns the text for the innermost frame of the program."""
    own = [frame for frame in chain if not frame.module.startswith(_CXX_LIBRARIES)] or list(chain)
    return own[-1].text if own else _OTHERS
