"""The part of a job's summary about the processors, as pages of exhibits."""

from __future__ import annotations

from iolens.log import Job
from iolens.pages.blocks import Block
from iolens.pages.exhibits.processor.counters import of_the_run
from iolens.pages.exhibits.processor.heap import HEAP
from iolens.pages.exhibits.processor.mpi import (
    LATE_RECEIVES,
    MPI_CALLS,
    MPI_DISTANCE,
    MPI_FUNCTIONS,
    MPI_MESSAGES,
    MPI_NODES,
    MPI_PEERS,
    MPI_SETTINGS,
    NODE_PLACES,
)
from iolens.pages.exhibits.processor.rank_order import RANK_ORDERS
from iolens.pages.exhibits.processor.samples import HOT_LINES, PROFILE, REGIONS, SAMPLING
from iolens.pages.exhibits.processor.time import EFFICIENCIES, PROFILE_TIME, STEPS, THREAD_BALANCE, TIME_PARTS
from iolens.pages.exhibits.processor.traced import TRACED, TRACING_COST
from iolens.pages.layout import PageLayout, abreast


def _several_nodes(job: Job) -> list[Block]:
    """Returns the rank orders, if the job had several nodes and orders can differ."""
    found = RANK_ORDERS.frame(job)
    return RANK_ORDERS.tables(job) if found is not None and found["nodes"].max() > 1 else []


def _profile(job: Job) -> list[Block]:
    """Returns the profile from samples; without samples, the profile from timed calls, if more than calls on files was
    traced.
    """
    if PROFILE.rows(job) is None and {"mpi_calls", "traced"} & set(job.private):
        return PROFILE_TIME.tables(job)
    return PROFILE.tables(job)


TIME_PAGE: PageLayout[Job] = PageLayout(
    "Computing, MPI and I/O",
    [
        TIME_PARTS.figures,
        TIME_PARTS.tables,
        EFFICIENCIES.tables,
        THREAD_BALANCE.tables,
        STEPS.tables,
    ],
)

PROCESSOR_PAGES: tuple[PageLayout[Job], ...] = (
    PageLayout(
        "Where the processors were",
        [
            PROFILE.figures,
            _profile,
            HOT_LINES.tables,
            REGIONS.tables,
            TRACED.tables,
            TRACING_COST.tables,
            HEAP.tables,
            of_the_run,
            SAMPLING.tables,
        ],
    ),
    PageLayout(
        "MPI",
        [
            MPI_CALLS.tables,
            MPI_FUNCTIONS.tables,
            MPI_MESSAGES.tables,
            abreast(MPI_MESSAGES.figures, MPI_PEERS.figures),
            abreast(MPI_DISTANCE.figures, MPI_NODES.tables),
            LATE_RECEIVES.tables,
            NODE_PLACES.tables,
            _several_nodes,
            MPI_SETTINGS.tables,
        ],
    ),
)
"""The pages from top to bottom; a page is left out if the log did not measure its contents."""
