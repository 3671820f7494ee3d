"""Functions that were traced by group (`iolens run --trace`, `--apa`): calls and time of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask, kept
from iolens.metrics.processor.imbalance import NOT_KNOWN
from iolens.metrics.processor.regions import with_regions
from iolens.metrics.processor.traced import group_rows
from iolens.metrics.processor.traced_counters import events_in_calls, stopped, traced_counters
from iolens.metrics.processor.traced_names import named

if TYPE_CHECKING:
    from iolens.log import Job
    from iolens.log.records import Records

KEYS = ("group", "function")
SUMS = ["calls", "time", "bytes", "throttled"]


@once_per_job
def traced_calls(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """group, function, calls, time (seconds), bytes: of an average rank; most and most_rank (time of the slowest rank;
    -1: ranks are known together only); throttled (ranks that stopped counting), most time first.

    Where counters were read as well, each event has a column with its mean of a call (`traced_counters`). A time has
    all that the function called, so that times of the group `functions` hold one another. None where no group was
    traced.
    """
    rows = group_rows(job)
    if rows is None:
        return None
    rows = kept(with_regions(job, named(job, rows)), ask.where)
    same = Groups(rows["group"], rows["function"], rows["rank"])
    each = rows.take(*KEYS, "rank").where(same.first).beside({name: same.sum(rows[name]) for name in SUMS})
    each = each.beside({"throttled": stopped(each["rank"], each["throttled"])})
    each = ordered(ordered(each, *KEYS, "rank"), "-time")
    functions = Groups(each["group"], each["function"])
    sums = {name: functions.sum(each[name]) for name in SUMS}
    means = {name: sums[name] / max(job.nprocs, 1) for name in SUMS[:3]}
    slowest = {"most": each["time"][functions.first], "most_rank": each["rank"][functions.first]}
    found = each.take(*KEYS).where(functions.first).beside({**sums, **means, **slowest})
    return with_counters(job, ask, ordered(ordered(found, *KEYS), "-time"))


def with_counters(job: Job, ask: Ask, functions: Records) -> Records:
    """Returns the rows with a column for each event that was counted in calls: its mean of a call; NaN if it
    was not.
    """
    counted = traced_counters(job, ask)
    if counted is None:
        return functions
    found = {tuple(key): value for *key, value in counted.rows(*KEYS, "event", "per_call")}
    keys = list(functions.rows(*KEYS))
    events = events_in_calls(job)
    return functions.beside(
        {event: np.array([found.get((*key, event), NOT_KNOWN) for key in keys], float) for event in events}
    )
