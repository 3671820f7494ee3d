"""The accuracy with which times of different ranks can be compared: the clocks that the ranks read, and the offsets
between these clocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import ordered
from iolens.metrics.once import once_per_job


class CommonClock(NamedTuple):
    """The possible error of one rank's times on the common axis: seconds (None: not known), and a sentence."""

    uncertainty: float | None
    said: str


@once_per_job
def clocks(job: Job) -> Records | None:
    """Returns the clocks of a job whose ranks read several, one row each: rank (the first with it), host, begin_offset,
    begin_uncertainty, end_offset, end_uncertainty (seconds; against rank 0's clock; NaN: not measured) and
    uncertainty (the larger of both, which holds for any time of these ranks on the job's axis). None if all ranks
    read one clock, or if that is not known.
    """
    found = job.tables.get("clocks")
    if found is None or not len(found):
        return None
    largest = np.fmax(found["begin_uncertainty"], found["end_uncertainty"])
    return ordered(found.beside({"uncertainty": largest}), "rank")


@once_per_job
def common_clock(job: Job) -> CommonClock:
    """Returns the possible error of times on rank 0's clock, to which the times of all ranks are converted. It is the
    largest error of the offsets between the clocks; 0 if all ranks read one clock; not known if the clocks were not
    compared.
    """
    found = clocks(job)
    if found is not None:
        worst = float(np.nanmax(found["uncertainty"]))
        ends = " (at the start of the job, but not at its end)" if np.isnan(found["end_offset"]).any() else ""
        return CommonClock(
            worst,
            f"The clocks of {len(found)} nodes were compared{ends}; times of each node are converted to rank 0's clock "
            f"with an error of at most {1e6 * worst:,.0f} µs.",
        )
    if job.nprocs == 1 or len(job.hosts) == 1:
        return CommonClock(0.0, "All ranks use the same clock.")
    if job.hosts:
        return CommonClock(
            None,
            "The clocks of the nodes were not compared: times of all ranks are aligned at their first common barrier.",
        )
    return CommonClock(None, "The log does not record how the clocks of its ranks differ.")
