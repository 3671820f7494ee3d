"""Everything that was timed call by call, in rows of single ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.groups import MPI
from iolens.metrics.processor.io import rank_io
from iolens.metrics.processor.mpi import mpi_rows
from iolens.metrics.processor.private import table
from iolens.metrics.processor.regions import region_paths

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

OWN = "functions"
"""The group of the program's own functions: their time holds that of all they called, so it is no part of a sum."""

COLUMNS = ["rank", "group", "function", "file", "region", "calls", "time"]


@once_per_job
def traced_rows(job: Job) -> pd.DataFrame | None:
    """rank, group, function, file, region, calls, time (seconds); None where nothing was timed.

    I/O of the Darshan modules, MPI without its I/O, and the functions of other traced groups but the program's own. An
    empty file or region: it has none, or none is known.
    """
    import pandas as pd

    parts = []
    moved, messages, others = rank_io(job), mpi_rows(job), group_rows(job)
    if moved is not None:
        parts.append(moved.assign(region="")[COLUMNS])
    if messages is not None:
        parts.append(messages.assign(group=MPI, file="")[COLUMNS])
    if others is not None:
        others = others[(others["group"] != OWN) & (others["function"] != "")]
        region = region_paths(job, others["region"])
        parts.append(others.assign(file="", region=region, group=others["group"].str.upper())[COLUMNS])
    return pd.concat(parts, ignore_index=True) if parts else None


@once_per_job
def group_rows(job: Job) -> pd.DataFrame | None:
    """The private table `traced`."""
    return table(job, "traced")
