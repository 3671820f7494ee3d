"""The time of an average process by kind, and the bytes transferred, per layer."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import LOWEST, lowest
from iolens.metrics.files.use import among
from iolens.metrics.grouping import Groups
from iolens.metrics.job.interfaces.layers import LAYERS, MIB, io_time, seconds, total
from iolens.metrics.once import once_per_job


@once_per_job
def io_cost(job: Job) -> Records:
    """Returns seconds per process spent in read, write, meta and other, one row per layer (`module`).

    Each time is the sum of F_READ_TIME (…WRITE, …META) over all records, divided by the number of processes, as
    darshan-job-summary defines it. `other` is the rest of the run time, or 0 if overlapping threads leave no rest.
    Times of layers overlap: MPI-IO time contains the time of the POSIX calls that MPI-IO makes.
    """
    rows = []
    for name, layer in LAYERS.items():
        records = job.records.get(name)
        if records is not None:
            spent = [seconds(records, f"{layer.prefix}_F_{kind}_TIME") for kind in ("READ", "WRITE", "META")]
            each = [value / max(1, job.nprocs) for value in spent]
            rows.append((name, *each, max(0.0, job.run_time - sum(each))))
    return Records.of(["module", "read", "write", "meta", "other"], rows)


SHORTEST = 0.01
"""Minimum I/O time in seconds for which a bandwidth is printed; a shorter time measures the speed of a buffer."""


@dataclass(frozen=True)
class Performance:
    """A layer's traffic and its estimated speed: bytes, seconds, MiB/s (None if no time was spent)."""

    module: str
    files: int
    bytes_read: int
    bytes_written: int
    seconds: float
    mib_per_second: float | None


@once_per_job
def performance(job: Job, name: str) -> Performance:
    """Returns the estimate "by slowest" of darshan-util.

    Time = the largest, over ranks, of the rank's time in files of its own, plus for each shared file (rank -1) the time
    of its slowest rank; speed = all bytes read and written, divided by that time.
    """
    records, prefix = job.records[name], LAYERS[name].prefix
    shared = records["rank"] < 0
    own = Groups(records["rank"][~shared]).sum(io_time(records, prefix)[~shared])
    spent = float(own.max(initial=0.0)) + seconds(records.where(shared), f"{prefix}_F_SLOWEST_RANK_TIME")
    read, written = total(records, f"{prefix}_BYTES_READ") or 0, total(records, f"{prefix}_BYTES_WRITTEN") or 0
    speed = (read + written) / MIB / spent if spent > 0 else None
    return Performance(name, len(Groups(records["id"])), read, written, spent, speed)


@once_per_job
def all_performance(job: Job) -> list[Performance]:
    """Returns every layer's performance."""
    return [performance(job, name) for name in LAYERS if name in job.records]


@once_per_job
def performance_rows(job: Job) -> Records:
    """Returns `all_performance`, one row per layer: module, files, bytes_read, bytes_written, seconds,
    mib_per_second.
    """
    return Records.of([each.name for each in fields(Performance)], [astuple(one) for one in all_performance(job)])


@once_per_job
def moved_once(job: Job) -> dict[str, int]:
    """Returns the bytes that the program moved, each byte once, by the layer that it called; the layer with the most
    bytes comes first.

    The bytes of a file that MPI-IO moved count at MPI-IO, those of any other file at POSIX. Buffering and data sieving
    below MPI-IO are therefore not counted, and transfers that bypass MPI-IO are. STDIO makes no calls that are recorded
    as POSIX. Bytes of DFS (or of DAOS, which lies below it) count only in so far as they exceed the MPI-IO bytes that
    POSIX did not see, because these may be the same bytes. Layers without bytes are left out.
    """
    moved = {name: _by_file(job, name) for name in ("MPI-IO", *LOWEST) if name in job.records}
    upper, below = moved.get("MPI-IO", {}), moved.get("POSIX", {})
    unseen = sum(each for key, each in upper.items() if not below.get(key))
    found = {
        "MPI-IO": sum(upper.values()),
        "POSIX": sum(each for key, each in below.items() if not upper.get(key)),
        "STDIO": sum(moved.get("STDIO", {}).values()),
    }
    objects = "DFS" if "DFS" in moved else "DAOS"
    found[objects] = max(0, sum(moved.get(objects, {}).values()) - unseen)
    return dict(sorted(((name, each) for name, each in found.items() if each), key=lambda pair: -pair[1]))


def _by_file(job: Job, name: str) -> dict[int, int]:
    """Returns the bytes read and written of each file by one layer."""
    records, prefix = job.records[name], LAYERS[name].prefix
    files = Groups(records["id"])
    sides = [np.maximum(records[f"{prefix}_BYTES_{kind}"], 0) for kind in ("READ", "WRITTEN")]
    moved = files.sum(np.sum(sides, axis=0))
    return dict(zip(records["id"][files.first].tolist(), moved.tolist(), strict=True))


@once_per_job
def average_io(job: Job) -> Records:
    """Returns the average I/O of a process: seconds and bytes by `kind` (independent or shared) and `what`.

    Independent: files that one rank used; shared: files that several ranks used, with a record of each rank or one for
    all of them (rank -1). The lowest layers are added up, since none contains another. Sums are divided by the number
    of processes; metadata moves no bytes (NaN).
    """
    rows = []
    shared = {name: _of_several_ranks(job, name) for name in lowest(job)}
    for kind in ("independent", "shared") if job.nprocs > 1 else ("independent",):
        for what, counter in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN"), ("metadata", None)):
            spent, moved = 0.0, 0
            for name in lowest(job):
                records = job.records[name]
                part = records.where(shared[name] == (kind == "shared"))
                time = {"read": "READ", "write": "WRITE", "metadata": "META"}[what]
                spent += seconds(part, f"{name}_F_{time}_TIME")
                moved += (total(part, f"{name}_{counter}") or 0) if counter else 0
            each = max(1, job.nprocs)
            rows.append((kind, what, spent / each, moved / each if counter else np.nan))
    return Records.of(["kind", "what", "seconds", "bytes"], rows)


def _of_several_ranks(job: Job, name: str) -> np.ndarray:
    """Returns, for each record of a layer, whether several ranks used its file."""
    records = job.records[name]
    files = Groups(records["id"])
    several = (files.min(records["rank"]) < 0) | (files.distinct(records["rank"]) > 1)
    return among(records["id"], records["id"][files.first][several]) & (job.nprocs > 1)
