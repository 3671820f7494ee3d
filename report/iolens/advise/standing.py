"""Determines how well the log of a job allows a judgement of its I/O."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.log import Job
from iolens.log.job import on_counters
from iolens.metrics.files.stripes.striping import unrecorded_files
from iolens.metrics.job.ranks import io_span_seconds, io_span_share

UNKNOWN = "unknown"
"""The log has no times of I/O."""
WHOLE_SECONDS = "whole seconds"
"""The run was short and its clock counts whole seconds: no share of the run is known."""
INCOMPLETE = "incomplete"
"""The file was cut short, or has no record of files that were used, and the rest of it shows little I/O."""
NOTHING = "nothing"
"""I/O took too little of the run for any gain."""
HARDLY = "hardly"
"""I/O took too little of the run for any gain, but is close to the share at which advice begins."""
SHORT = "short"
"""I/O took a share of the run that is worth advice, but too few seconds for it."""
JUDGED = "judged"

_CLOSE = 1.25
"""Factor around `worth_gain` within which a share or a gain is called close to it."""


def log_standing(job: Job, limits: Limits) -> str:
    """Returns one of the constants above: how well the log allows a judgement of the job's I/O."""
    share, spent = io_span_share(job), io_span_seconds(job)
    if share is None or spent is None:
        return UNKNOWN
    if job.coarse:
        return WHOLE_SECONDS
    if share < limits["worth_gain"]:
        is_incomplete = on_counters(job.missing) or unrecorded_files(job)
        return INCOMPLETE if is_incomplete else HARDLY if is_close(share, limits) else NOTHING
    return SHORT if spent < limits["least_seconds"] else JUDGED


def is_close(part: float, limits: Limits) -> bool:
    """Returns True if a share of the run is so close to `worth_gain` that another run may lie on the other side
    of it.
    """
    return limits["worth_gain"] / _CLOSE <= part <= limits["worth_gain"] * _CLOSE
