"""Decides with the time of calls if there are enough of them for a finding."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.log import Job
from iolens.metrics.job.spent import Spent


def is_costly(job: Job, limits: Limits, spent: Spent) -> bool:
    """Returns whether calls took a part of the run that is worth advice."""
    return spent.about >= limits["worth_gain"] * job.run_time


def enough_calls(job: Job, limits: Limits, calls: float, spent: Spent) -> bool:
    """Returns whether calls are many, or are costly although they are not many."""
    return calls >= max(1.0, limits["few_calls"]) or (calls >= limits["some_calls"] and is_costly(job, limits, spent))
