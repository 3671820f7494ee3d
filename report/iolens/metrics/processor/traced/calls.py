"""Functions that were traced by group: their calls and time, counters of their calls, and the heap."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, labelled, ordered, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, NOT_KNOWN, Ask, imbalance_percent, kept
from iolens.metrics.processor.counters import SCALES
from iolens.metrics.processor.mpi.calls import mpi_rows
from iolens.metrics.processor.regions import with_regions
from iolens.metrics.processor.sampled.call_chains import chains, table_records
from iolens.metrics.processor.traced.functions import EXCLUSIVE, group_rows, with_function_names
from iolens.symbols.chains import Frame

_ALL = "(all)"
"""Name in place of a function for an event that was counted in no function."""

_COLUMNS = ("group", "function", "event", "per_call", "total", "unit", "calls", "ran", "first", "unavailable")

Row = tuple[str, str, str, float, float, str, float, float, int, str]


@once_per_job
def traced_counters(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the counts in the calls of traced functions, including those of functions that they called.

    Columns: group, function, event, per_call (mean over the calls in which the event was counted), total (of these
    calls, mean of a rank), unit, calls (number of these calls, mean of a rank), ran (per cent of the time in which the
    event had a counter; values are scaled up to all of it), first (number of ranks that read the counters only in their
    first calls), unavailable (the reason why there is no value). The functions with most time come first; an event that
    was counted in no function has one row at the end. Returns None if counters and functions were not traced together.
    """
    rows = table_records(job, "traced_counters")
    if rows is None:
        return None
    rows = kept(with_regions(job, with_function_names(job, rows)), ask.where)
    same = Groups(rows["group"], rows["function"], rows["event"])
    parts = [rows.where(part) for part in same.parts(np.arange(len(rows)))]
    counted = [(_expected_seconds(part), _of_event(job, part)) for part in parts if (part["calls"] > 0).any()]
    found = [row for _, row in counted]
    functions = Groups(*(np.array([row[at] for row in found], object) for at in (0, 1)))
    times = functions.max(np.array([time for time, _ in counted], float))[functions.place]
    there = {row[2] for row in found}
    missing = {str(part["event"][0]): part for part in parts if str(part["event"][0]) not in there}
    in_order = ordered(Records.of(_COLUMNS, found).beside({"time": times}), "-time", "group", "function").take(
        *_COLUMNS
    )
    none = [_uncounted_row(event, str(part["unavailable"][0])) for event, part in missing.items()]
    return Records.of(_COLUMNS, [*in_order.rows(*_COLUMNS), *none])


def _expected_seconds(rows: Records) -> float:
    """Returns the seconds in which an event should have been counted, over all ranks and calls."""
    return float(rows["time_enabled"].sum())


def _of_event(job: Job, rows: Records) -> Row:
    """Returns the row of one event of one function that was counted in at least one call."""
    rows = rows.where(rows["calls"] > 0)
    group, function, event = (str(rows[name][0]) for name in ("group", "function", "event"))
    factor, unit = SCALES.get(event, (1.0, ""))
    enabled, running = rows["time_enabled"], rows["time_running"]
    value = factor * float((rows["value"] * (enabled / running)).sum())
    calls, ranks = float(rows["calls"].sum()), max(1, job.nprocs)
    same = Groups(rows["rank"])
    first = int(stopped(rows["rank"][same.first], same.sum(rows["throttled"])).sum())
    ran = 100 * float(running.sum() / enabled.sum())
    return group, function, event, value / calls, value / ranks, unit, calls / ranks, ran, first, ""


def stopped(rank: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Returns the number of ranks that stopped counting in each row. A row of one rank, which may sum several regions,
    has at most 1; a row of rank -1 stands for several ranks and has their number already.
    """
    return np.asarray(np.where(rank >= 0, np.minimum(rows, 1), rows))


def _uncounted_row(event: str, why: str) -> Row:
    """Returns the row of an event that was counted in no call."""
    return "", _ALL, event, NOT_KNOWN, NOT_KNOWN, "", 0.0, NOT_KNOWN, 0, why


@once_per_job
def events_in_calls(job: Job) -> tuple[str, ...]:
    """Returns the events that were counted in calls of traced functions and are not all 0, in their order."""
    rows = table_records(job, "traced_counters")
    if rows is None:
        return ()
    return tuple(dict.fromkeys(rows["event"][rows["value"] > 0].tolist()))


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


_ALL_CALLERS = -1
"""The node of a row that stands for all callers of a rank."""

_OTHERS = "(other callers)"

_CXX_LIBRARIES = ("libstdc++", "libc++")


@once_per_job
def heap(job: Job) -> Records | None:
    """Returns the heap of each rank, the largest high water first: rank (-1: other ranks together), calls, bytes
    (allocated in all), high_bytes (in use when the heap was largest), high_time (seconds since the start, of that
    moment), live_blocks and live_bytes (not freed when recording ended). Returns None if the heap was not traced.
    """
    table = job.tables.get("heap")
    if table is None or not len(table):
        return None
    rows = table.where(table["node"] == _ALL_CALLERS)
    return ordered(ordered(rows, "rank"), "-high_bytes")


@once_per_job
def heap_callers(job: Job) -> Records | None:
    """Returns the heap of each rank by the place that allocated it, the largest part of a high water first.

    Columns: those of `heap`, and caller: function and line; in C++ the place behind operator new. The function is the
    innermost one, inlined functions included. Returns None if the heap was not traced.
    """
    table = job.tables.get("heap")
    if table is None or not len(table):
        return None
    rows = table.where(table["node"] != _ALL_CALLERS)
    known = chains(job)
    keys = zip(rows["rank"].tolist(), rows["node"].tolist(), strict=True)
    callers = np.array([_caller(known.get(key, ())) for key in keys], object)
    return ordered(ordered(rows.beside({"caller": callers}), "rank"), "-live_bytes", "-high_bytes")


def _caller(chain: tuple[Frame, ...]) -> str:
    """Returns the text for the innermost frame of the program."""
    own = [frame for frame in chain if not frame.module.startswith(_CXX_LIBRARIES)] or list(chain)
    return own[-1].text if own else _OTHERS
