"""Calls on files that Darshan has no counters for, from the private regions `posix_extra` and `mpiio_extra`."""

from __future__ import annotations

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job

_KEYS = ("file", "rank", "seconds", "sync_seconds")


@once_per_job
def other_calls(job: Job) -> Records:
    """Returns one row per kind of call that occurred: `call` (plural, as in the region), `count` and `files` over all
    ranks.
    """
    table = job.tables.get("posix_extra", Records({}))
    rows = [(call, *_used(table, call)) for call in table.names if call not in _KEYS and _used(table, call)[0]]
    return ordered(Records.of(["call", "count", "files"], rows), "-count")


@once_per_job
def other_mpiio_calls(job: Job) -> Records:
    """Returns one row per kind of MPI-IO call that occurred: `call`, `count`, `files` and `seconds`, over all ranks."""
    table = job.tables.get("mpiio_extra", Records({}))
    rows = [
        (call.replace("_", " "), *_used(table, call), float(table[f"{call}_seconds"][table[call] > 0].sum()))
        for call in table.names
        if f"{call}_seconds" in table and _used(table, call)[0]
    ]
    return ordered(Records.of(["call", "count", "files", "seconds"], rows), "-seconds")


def _used(table: Records, call: str) -> tuple[int, int]:
    """Returns how often a call was made, and on how many files."""
    made = table[call] > 0
    return int(table[call][made].sum()), len(Groups(table["file"][made]))
