"""The resources that each process used, from the private region `process` (profiler/LOG.md, getrusage(2))."""

from __future__ import annotations

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import ordered
from iolens.metrics.once import once_per_job
from iolens.missing import is_nan

MEASURES = {
    "max_rss": ("largest resident set", "bytes"),
    "user_time": ("processor time in the program", "seconds"),
    "system_time": ("processor time in the kernel", "seconds"),
    "minor_faults": ("page faults served from memory", "times"),
    "major_faults": ("page faults that read from storage", "times"),
    "voluntary_switches": ("number of times that the process waited and gave up its core", "times"),
    "involuntary_switches": ("number of times that the process lost its core, or gave it up by sched_yield", "times"),
}
"""Columns of the region that are shown, with their meaning and unit."""


@once_per_job
def rank_usage(job: Job) -> Records | None:
    """Returns the region's rows of single ranks, by rank; None if the log does not have it."""
    table = job.tables.get("process")
    return None if table is None or not len(table) else ordered(table.where(table["rank"] >= 0), "rank")


@once_per_job
def usage(job: Job) -> Records | None:
    """Returns one row per measure: what, unit, total (NaN for sizes), mean of a rank, most and most_rank (of one rank).

    If the log keeps only the sum of some ranks (a row of rank -1), mean sizes are not known (NaN), and the most is
    known only for the resident set. None if the log does not have the region.
    """
    apart = rank_usage(job)
    if apart is None:
        return None
    table = job.tables["process"]
    whole, ranks, nothing = len(apart) == len(table), int(table["ranks"].sum()), float("nan")
    rows = []
    for column, (what, unit) in MEASURES.items():
        is_sum, values = unit != "bytes", table[column]
        total = float(values.sum()) if is_sum else nothing
        mean = total / max(1, ranks) if is_sum else float(values.mean()) if whole else nothing
        most = float(values.max()) if whole or not is_sum else nothing
        where = int(table["rank"][values.argmax()]) if not is_nan(most) else -1
        rows.append((what, unit, total, mean, most, where if where >= 0 else nothing))
    return Records.of(["what", "unit", "total", "mean", "most", "most_rank"], rows)
