"""Files that a job mapped into memory, from the private region `mapped_files`."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import grouped_files
from iolens.metrics.grouping import ordered
from iolens.metrics.once import once_per_job

_SUMS = "mappings bytes told in_memory forbidden major_faults storage_read storage_written syncs random_advice"


@once_per_job
def mapped_files(job: Job, by_family: bool = True) -> Records:
    """Returns one row per file or family of files that were mapped: `path`, `files`, `ranks`, and over all ranks
    `mappings`, `bytes` mapped, `told` (mappings for which the kernel reported pages), `major_faults`, `storage_read`
    and `storage_written` bytes, `syncs`; for the rank with the most, the bytes `fetched` from storage and those
    `reached` in its page table (NaN: the kernel reported none, and `lacks` says why); `sync_seconds` of the slowest
    rank.

    `fetched` is not added over ranks, because the ranks of a node share the pages that one of them fetched.
    """
    table = job.tables.get("mapped_files", Records({}))
    if not len(table):
        return Records({})
    files = grouped_files(job, table, by_family)
    sums = {name: files.same.sum(table[name]) for name in _SUMS.split()}
    found = files.names.beside(sums)
    most = {name: files.of_busiest_rank(name) for name in ("fetched", "reached", "sync_seconds")}
    known = {name: np.where(sums["told"] > 0, most[name], np.nan) for name in ("fetched", "reached")}
    lacks = [_lacks(*counts) for counts in found.rows("mappings", "told", "in_memory", "forbidden")]
    more = {"sync_seconds": most["sync_seconds"], "lacks": np.array(lacks, dtype=object)}
    return ordered(found.beside(known | more), "-fetched")


def _lacks(mappings: int, told: int, in_memory: int, forbidden: int) -> str:
    """Returns the reason why the bytes that storage delivered are not known for all mappings of a file; empty if they
    are known.
    """
    if told >= mappings:
        return ""
    reasons = ["kept in memory"] * bool(in_memory) + ["not this user's file"] * bool(forbidden)
    rest = mappings - told - in_memory - forbidden
    return ", ".join([*reasons, *(["not asked"] if rest > 0 else [])])
