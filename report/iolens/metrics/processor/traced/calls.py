"""Functions that were traced by group (`iolens run --trace`, `--apa`): calls and time of each."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, labelled, ordered, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask, kept
from iolens.metrics.processor.imbalance import NOT_KNOWN, imbalance_percent
from iolens.metrics.processor.mpi.calls import mpi_rows
from iolens.metrics.processor.regions import with_regions
from iolens.metrics.processor.traced.counters import events_in_calls, stopped, traced_counters
from iolens.metrics.processor.traced.functions import EXCLUSIVE, group_rows
from iolens.metrics.processor.traced.names import with_function_names

_KEYS = ("group", "function")
_RECORDING = "recording"
"""The column of `traced` with the time that recording took; logs of version 0.2.0 and before have none."""

_SUMS = ["calls", "time", EXCLUSIVE, "bytes", "throttled"]


@once_per_job
def traced_calls(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns calls and times of each traced function: of an average rank, the largest exclusive time first.

    Columns: group, function, calls, time (seconds, inclusive: of a recursive function the outermost calls), exclusive
    (seconds without the time of inner calls that the log has, too), per_call (exclusive seconds of a call),
    imbalance_percent, most and most_rank (of exclusive times; -1: only the sum of ranks is known), bytes, throttled
    (ranks that stopped counting). Where counters were read as well, each event has a column with its mean of a call
    (`traced_counters`). Logs without exclusive times have NaN there and in per_call, and imbalance_percent, most and
    most_rank are of inclusive times. Returns None if no group was traced.
    """
    rows = group_rows(job)
    if rows is None:
        return None
    weight = EXCLUSIVE if EXCLUSIVE in rows else "time"
    rows = rows if EXCLUSIVE in rows else rows.beside({EXCLUSIVE: np.full(len(rows), NOT_KNOWN)})
    rows = kept(with_regions(job, with_function_names(job, rows)), ask.where)
    same = Groups(rows["group"], rows["function"], rows["rank"])
    each = rows.take(*_KEYS, "rank").where(same.first).beside({name: same.sum(rows[name]) for name in _SUMS})
    each = each.beside({"throttled": stopped(each["rank"], each["throttled"])})
    each = ordered(ordered(each, *_KEYS, "rank"), f"-{weight}")
    functions = Groups(each["group"], each["function"])
    sums = {name: functions.sum(each[name]) for name in _SUMS}
    ranks = max(job.nprocs, 1)
    means = {name: sums[name] / ranks for name in _SUMS[:4]}
    most, most_rank = each[weight][functions.first], each["rank"][functions.first]
    pairs = zip(most.tolist(), means[weight].tolist(), (functions.max(-each["rank"]) > 0).tolist(), strict=True)
    uneven = [NOT_KNOWN if together else imbalance_percent(one, mean, ranks) for one, mean, together in pairs]
    with np.errstate(divide="ignore", invalid="ignore"):
        per_call = sums[EXCLUSIVE] / sums["calls"]
    ratios = {"per_call": per_call, "imbalance_percent": np.array(uneven, float), "most": most, "most_rank": most_rank}
    found = each.take(*_KEYS).where(functions.first).beside({**sums, **means, **ratios})
    return _with_counters(job, ask, ordered(ordered(found, *_KEYS), f"-{weight}"))


def _with_counters(job: Job, ask: Ask, functions: Records) -> Records:
    """Returns the rows with a column for each event that was counted in calls: its mean of a call; NaN if it
    was not.
    """
    counted = traced_counters(job, ask)
    if counted is None:
        return functions
    found = {tuple(key): value for *key, value in counted.rows(*_KEYS, "event", "per_call")}
    keys = list(functions.rows(*_KEYS))
    events = events_in_calls(job)
    return functions.beside(
        {event: np.array([found.get((*key, event), NOT_KNOWN) for key in keys], float) for event in events}
    )


@once_per_job
def tracing_cost(job: Job) -> Records | None:
    """Returns what recording the calls of each traced group cost, the most expensive group first.

    Columns: group, calls and seconds (of an average rank), per_call (seconds of a call), share (per cent of the run
    time). The times are lower bounds: at its end, each process measured how long recording a call takes at least,
    without reading counters. NaN if a process was killed. The group mpi stands for calls of MPI. Returns None for a log
    without these measurements.
    """
    messages = mpi_rows(job)
    of_mpi = None if messages is None else labelled(messages, "group", "mpi")
    known = [rows for rows in (group_rows(job), of_mpi) if rows is not None and _RECORDING in rows]
    if not known:
        return None
    rows = stacked([one.take("group", "calls", _RECORDING) for one in known])
    same, ranks = Groups(rows["group"]), max(job.nprocs, 1)
    calls, seconds = same.sum(rows["calls"]), same.sum(rows[_RECORDING])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            "group": rows["group"][same.first],
            "calls": calls / ranks,
            "seconds": seconds / ranks,
            "per_call": seconds / calls,
            "share": 100 * seconds / ranks / job.run_time,
        }
    return ordered(ordered(Records(found), "group"), "-seconds")
