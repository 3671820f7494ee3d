"""File locks of a job, from the private region `file_locks`."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import grouped_files
from iolens.metrics.grouping import ordered
from iolens.metrics.once import once_per_job


@once_per_job
def file_locks(job: Job, by_family: bool = True) -> Records:
    """Returns one row per file or family of files that were locked: `path`, `files`, `ranks`, and over all ranks
    `locks` (calls that took one), `exclusive`, `refused` (calls that did not wait for it) and `waits` (calls above
    1 ms), `unended` (calls that waited when the process was killed); `seconds` of the slowest rank in calls that take
    or release locks, and the `longest` such call.
    """
    table = job.tables.get("file_locks", Records({}))
    if not len(table):
        return Records({})
    files = grouped_files(job, table, by_family)
    counts = {name: files.same.sum(table[name]) for name in ("locks", "exclusive", "refused", "waits")}
    counts["unended"] = files.same.sum(table.get("unended", np.zeros(len(table), np.int64)))
    times = {"seconds": files.of_busiest_rank("seconds"), "longest": files.same.max(table["longest"])}
    return ordered(files.names.beside(counts | times), "-seconds")


@once_per_job
def rank_lock_seconds(job: Job) -> np.ndarray:
    """Returns the seconds that each rank spent in calls that take or release locks, over all files."""
    table = job.tables.get("file_locks", Records({}))
    if not len(table):
        return np.zeros(max(job.nprocs, 1))
    rank = np.clip(table["rank"].astype(np.int64), 0, max(job.nprocs, 1) - 1)
    return np.bincount(rank, table["seconds"], max(job.nprocs, 1))
