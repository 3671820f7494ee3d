"""Every exhibit of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.log import Job
from iolens.metrics.job.gauges import is_without_io
from iolens.pages.exhibits import about, cost, operations, overview, ranks, ranks_io, timeline
from iolens.pages.exhibits.processor.every import PROCESSOR_EXHIBITS
from iolens.pages.exhibits.storage import files, gpu, mpiio, network, striping
from iolens.pages.exhibits.why import WHY_EXHIBITS

if TYPE_CHECKING:
    from iolens.pages.exhibit import Exhibit

JOB_EXHIBITS: tuple[Exhibit[Job], ...] = (
    about.FACTS,
    overview.GAUGES,
    overview.FINDINGS,
    overview.UNKNOWN,
    cost.PERFORMANCE,
    cost.IO_COST,
    operations.OPERATIONS,
    operations.ACCESS_SIZES,
    operations.COMMON_SIZES,
    operations.PATTERN,
    operations.ALIGNMENT,
    files.FILE_COUNTS,
    files.FILE_SYSTEMS,
    files.COSTLY_FILES,
    cost.AVERAGE_IO,
    timeline.ACTIVITY,
    timeline.PERIODS,
    timeline.PLACES,
    timeline.THREADS,
    timeline.RANK_SPANS,
    timeline.SHARED_SPANS,
    ranks.RANK_BALANCE,
    ranks.PROCESSES,
    *WHY_EXHIBITS,
    *PROCESSOR_EXHIBITS,
    ranks_io.LOAD_BALANCE,
    ranks_io.PROGRAM_TIME,
    ranks_io.MEMORY,
    ranks_io.MEMORY_NODES,
    ranks_io.FILE_INPUT,
    ranks_io.FILE_OUTPUT,
    files.SHARED_FILES,
    striping.LAYOUTS,
    striping.CEPH_LAYOUTS,
    striping.TARGETS,
    files.OTHER_CALLS,
    files.FILE_LOCKS,
    files.MAPPED_FILES,
    files.FAILED_CALLS,
    files.RINGS,
    network.CONNECTIONS,
    network.HTTP_REQUESTS,
    gpu.GPU_STORAGE,
    striping.FILE_LAYOUTS,
    striping.TARGET_BYTES,
    striping.STRIPE_RANKS,
    striping.LUSTRE_CLIENT,
    mpiio.HINTS,
    mpiio.HDF5_SETTINGS,
    mpiio.NOT_COLLECTIVE,
    mpiio.AGGREGATORS,
    mpiio.COLLECTIVES,
    mpiio.OTHER_MPIIO_CALLS,
    about.PROGRAMS,
    about.HOSTS,
    about.START_UP,
    about.CLOCKS,
    about.MODULES,
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
