"""All exhibits about the work of the processors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.log import Job
from iolens.pages.exhibits.processor import counters, heap, mpi, rank_order, samples, time, traced

if TYPE_CHECKING:
    from iolens.pages.exhibit import Exhibit

PROCESSOR_EXHIBITS: tuple[Exhibit[Job], ...] = (
    time.TIME_PARTS,
    time.EFFICIENCIES,
    time.THREAD_BALANCE,
    time.STEPS,
    time.PROFILE_TIME,
    samples.PROFILE,
    samples.HOT_LINES,
    samples.LINES,
    samples.CALLERS,
    samples.CALLTREE,
    samples.SAMPLING,
    samples.REGIONS,
    counters.COUNTERS,
    counters.IO_CALLERS,
    traced.TRACED,
    traced.TRACED_COUNTERS,
    traced.TRACING_COST,
    heap.HEAP,
    heap.HEAP_CALLERS,
    mpi.MPI_CALLS,
    mpi.MPI_FUNCTIONS,
    mpi.MPI_MESSAGES,
    mpi.MPI_SITES,
    mpi.MPI_CALLERS,
    mpi.MPI_PEERS,
    mpi.MPI_DISTANCE,
    mpi.MPI_NODES,
    mpi.LATE_RECEIVES,
    mpi.MPI_COMMUNICATORS,
    mpi.RANK_PLACES,
    mpi.NODE_PLACES,
    mpi.MPI_SETTINGS,
    rank_order.RANK_ORDERS,
)
"""The exhibits in the order of the terminal's summary and of the exports."""
