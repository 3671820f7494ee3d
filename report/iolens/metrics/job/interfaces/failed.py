"""Failed calls on files, from the private region `failed_calls`."""

from __future__ import annotations

from errno import errorcode

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job

MISSING = ("ENOENT", "ENOTDIR")
"""Errors of a path that does not exist."""


@once_per_job
def failed_calls(job: Job) -> Records:
    """Returns one row per `operation` and `error` (its name, such as ENOENT) that occurred. `calls` and `seconds` are
    sums over all ranks, and `ranks` is the number of ranks with such calls. `most` and `slowest` are the largest number
    of calls and of seconds of any rank.
    """
    table = job.tables.get("failed_calls", Records({}))
    if not len(table):
        return Records({})
    same = Groups(table["operation"], table["error"])
    first = table.where(same.first)
    errors = [errorcode.get(int(error), f"errno {int(error)}") for error in first["error"].tolist()]
    found = Records.of(["operation", "error"], list(zip(first["operation"].tolist(), errors, strict=True)))
    numbers = {"calls": same.sum(table["calls"]), "ranks": same.sum(table["calls"] > 0)}
    numbers |= {"most": same.max(table["calls"])}
    numbers |= {"seconds": same.sum(table["seconds"]), "slowest": same.max(table["seconds"])}
    return ordered(found.beside(numbers), "-calls")
