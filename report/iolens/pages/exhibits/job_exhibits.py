"""Every exhibit of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.log import Job
from iolens.metrics.job.gauges import is_without_io
from iolens.pages.exhibits import (
    counted,
    files,
    mpi_ranks,
    operations,
    overview,
    processor_time,
    ranks,
    striping,
    timelines,
)
from iolens.pages.exhibits.waits import WHY_EXHIBITS

if TYPE_CHECKING:
    from iolens.pages.base.exhibit import Exhibit


PROCESSOR_EXHIBITS: tuple[Exhibit[Job], ...] = (
    processor_time.TIME_PARTS,
    processor_time.EFFICIENCIES,
    processor_time.THREAD_BALANCE,
    processor_time.STEPS,
    processor_time.PROFILE_TIME,
    processor_time.PROFILE,
    processor_time.HOT_LINES,
    processor_time.LINES,
    processor_time.CALLERS,
    processor_time.CALLTREE,
    processor_time.SAMPLING,
    processor_time.REGIONS,
    counted.COUNTERS,
    counted.IO_CALLERS,
    counted.TRACED,
    counted.TRACED_COUNTERS,
    counted.TRACING_COST,
    counted.HEAP,
    counted.HEAP_CALLERS,
    mpi_ranks.MPI_CALLS,
    mpi_ranks.MPI_FUNCTIONS,
    mpi_ranks.MPI_MESSAGES,
    mpi_ranks.MPI_SITES,
    mpi_ranks.MPI_CALLERS,
    mpi_ranks.MPI_PEERS,
    mpi_ranks.MPI_DISTANCE,
    mpi_ranks.MPI_NODES,
    mpi_ranks.LATE_RECEIVES,
    mpi_ranks.MPI_COMMUNICATORS,
    mpi_ranks.RANK_PLACES,
    mpi_ranks.NODE_PLACES,
    mpi_ranks.MPI_SETTINGS,
    mpi_ranks.RANK_ORDERS,
)
"""The exhibits in the order of the terminal's summary and of the exports."""


JOB_EXHIBITS: tuple[Exhibit[Job], ...] = (
    overview.FACTS,
    overview.GAUGES,
    overview.FINDINGS,
    overview.UNKNOWN,
    overview.PERFORMANCE,
    overview.IO_COST,
    operations.OPERATIONS,
    operations.ACCESS_SIZES,
    operations.COMMON_SIZES,
    operations.PATTERN,
    operations.ALIGNMENT,
    files.FILE_COUNTS,
    files.FILE_SYSTEMS,
    files.COSTLY_FILES,
    overview.AVERAGE_IO,
    timelines.ACTIVITY,
    timelines.PERIODS,
    timelines.PLACES,
    timelines.THREADS,
    timelines.RANK_SPANS,
    timelines.SHARED_SPANS,
    ranks.RANK_BALANCE,
    ranks.PROCESSES,
    *WHY_EXHIBITS,
    *PROCESSOR_EXHIBITS,
    ranks.LOAD_BALANCE,
    ranks.PROGRAM_TIME,
    ranks.MEMORY,
    ranks.MEMORY_NODES,
    ranks.FILE_INPUT,
    ranks.FILE_OUTPUT,
    files.SHARED_FILES,
    striping.LAYOUTS,
    striping.CEPH_LAYOUTS,
    striping.TARGETS,
    files.OTHER_CALLS,
    files.FILE_LOCKS,
    files.MAPPED_FILES,
    files.FAILED_CALLS,
    files.RINGS,
    files.CONNECTIONS,
    files.HTTP_REQUESTS,
    files.GPU_STORAGE,
    striping.FILE_LAYOUTS,
    striping.TARGET_BYTES,
    striping.STRIPE_RANKS,
    striping.LUSTRE_CLIENT,
    operations.HINTS,
    operations.HDF5_SETTINGS,
    operations.NOT_COLLECTIVE,
    operations.AGGREGATORS,
    operations.COLLECTIVES,
    operations.OTHER_MPIIO_CALLS,
    overview.PROGRAMS,
    overview.HOSTS,
    overview.START_UP,
    overview.CLOCKS,
    overview.MODULES,
)
"""The exhibits in the order of the terminal's summary and of the exports."""


def summary_exhibits(job: Job) -> list[Exhibit[Job]]:
    """Returns the exhibits of the terminal's summary in their order.

    For a job without I/O those of the processors come before all others, and the gauges of I/O are left out.
    """
    shown = [exhibit for exhibit in JOB_EXHIBITS if not exhibit.apart]
    if not is_without_io(job):
        return shown
    first = [exhibit for exhibit in shown if exhibit in PROCESSOR_EXHIBITS]
    return [*first, *(exhibit for exhibit in shown if exhibit not in (*first, overview.GAUGES))]
