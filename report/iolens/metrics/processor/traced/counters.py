"""Counters of traced functions (`--trace` with `--hwpc`), by function and event: per call and in total."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask, kept
from iolens.metrics.processor.counters import SCALES
from iolens.metrics.processor.imbalance import NOT_KNOWN
from iolens.metrics.processor.regions import with_regions
from iolens.metrics.processor.sampled.private import table_records
from iolens.metrics.processor.traced.names import with_function_names

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
