"""The heap of each rank, and of each caller."""

from __future__ import annotations

from iolens.log import Job
from iolens.metrics.processor.traced import heap
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit

_RANK = Column("rank", "rank", lambda rank: "other ranks, together" if rank < 0 else str(rank))
_AMOUNTS = [
    Column("high water", "high_bytes", words.size),
    Column("not freed", "live_bytes", words.size),
    Column("blocks not freed", "live_blocks", words.count),
    Column("allocated", "bytes", words.size),
    Column("calls", "calls", words.count),
]
_SOURCE = "iolens run --trace heap"

HEAP: Exhibit[Job] = Exhibit(
    name="heap",
    title="Memory from malloc, by rank",
    metric=heap.heap,
    columns=[_RANK, Column("at second", "high_time", words.seconds), *_AMOUNTS],
    note="High water: bytes in use when the rank's heap was largest, and the time of that since the start. Not "
    "freed: in use when recording ended (in MPI_Finalize, or when the program ended). Sizes are those that the "
    "program asked for. Memory from mmap, and from before recording began, is not included.",
    source=_SOURCE,
)

HEAP_CALLERS: Exhibit[Job] = Exhibit(
    name="heap_callers",
    title="Memory from malloc, by caller",
    metric=heap.heap_callers,
    columns=[_RANK, Column("caller", "caller"), *_AMOUNTS],
    note="High water: bytes that the caller had in use when the rank's heap was largest. The caller is the function "
    "that called malloc or a related function; in C++, the one that called operator new.",
    apart=True,
    source=_SOURCE,
)
