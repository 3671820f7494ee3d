"""The rows of one log: of the job, of its files, and of the findings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.advise.diagnosis import diagnosed
from iolens.advise.limits import DEFAULTS
from iolens.forest.forest import printable
from iolens.forest.label import label
from iolens.forest.process import JOB_FOLDER
from iolens.forest.uses import file_seconds, uses_of
from iolens.log import Job
from iolens.log.format.container import open_container
from iolens.log.reader import ESSENCE, job_of
from iolens.log.records import Records
from iolens.metrics.files.overview import file_mounts, paths
from iolens.metrics.job.interfaces.layers import LAYERS, io_time
from iolens.metrics.job.share import WAITED, highest_records, kind_seconds
from iolens.metrics.subjects.facts import LATEST_DATE

_NAME = re.compile(r"([^_]+)_.+_id\d+(?:-\d+)?_\d+-\d+-\d+[-_]")
"""Matches a log's name: USER_PROGRAM_idJOB-PID_MONTH-DAY-SECONDS_…."""

_BESIDE_RECORDS = {
    *("mpi_calls", "samples", "file_locks", "mapped_files", "gpu_storage", "http_requests", "posix_extra"),
}
"""Private regions with times that advice may be about, and that the records of files do not have."""


@dataclass(frozen=True)
class Met:
    """The state of a log when ingest found it: its path, size in bytes, and time of change."""

    log: str
    bytes: int
    mtime_ns: int

    @property
    def name(self) -> str:
        """Returns the log's path as text, which identifies it in a store."""
        return printable(self.log)

    @property
    def key(self) -> int:
        """Returns a number for this state of the log."""
        text = f"{self.name}\0{self.bytes}\0{self.mtime_ns}"
        return int.from_bytes(
            hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True
        )


@dataclass(frozen=True)
class Rows:
    """One job as a row, its files as columns, its findings as rows; without the column `part`, which the store adds."""

    job: Mapping[str, Any]
    files: Mapping[str, Any]
    findings: list[dict[str, Any]] = field(default_factory=list)


def read_rows(met: Met, advice: bool) -> Rows:
    """Reads a log; raises LogError if it is damaged or not a log."""
    log = open_container(Path(met.log))
    job = job_of(log, ESSENCE)
    is_needed = (advice and _may_be_advised(job)) or _needs_whole_log(job)
    return rows_of(met, job_of(log) if is_needed else job, advice)


def rows_of(met: Met, job: Job, advice: bool) -> Rows:
    """Returns the rows of a job that was read from a log."""
    judged = diagnosed(job, DEFAULTS, notes=False) if advice and _may_be_advised(job) else None
    said = [
        {
            "log_id": met.key,
            "rule": one.id,
            "severity": one.severity,
            "title": one.title,
            "evidence": one.evidence,
            "gain": one.gain,
        }
        for one in (judged.findings if judged else ())
    ]
    gain = (judged.gain if judged else 0.0) if advice else None
    uses = uses_of(job)
    row = {**_job_row(met, job, uses), "advised": advice, "gain": gain}
    return Rows(row, _columns_of_files(met.key, job, uses), said)


def _needs_whole_log(job: Job) -> bool:
    """Returns True if a log may hold time that its records alone do not show: time in other calls, or waiting for
    pipes.
    """
    meta = (job.records[name][f"{LAYERS[name].prefix}_F_META_TIME"] for name, _ in highest_records(job))
    return "posix_extra" in job.regions or sum(float(each.clip(min=0).sum()) for each in meta) >= WAITED


def _may_be_advised(job: Job) -> bool:
    """Returns whether there is enough I/O for any finding; otherwise the rest of the log need not be parsed.

    The rules look at the I/O of the slowest rank, which is at most the sum over all records of all layers.
    """
    least = DEFAULTS["least_seconds"]
    spent = sum(float(io_time(job.records[name], LAYERS[name].prefix).sum()) for name, _ in highest_records(job))
    return spent >= least or (job.run_time >= least and not _BESIDE_RECORDS.isdisjoint(job.regions))


def _job_row(met: Met, job: Job, uses: Records) -> dict[str, Any]:
    """Returns the row of the table `jobs`, without the advice."""
    spent = kind_seconds(job)
    return {
        "log_id": met.key,
        "log": met.name,
        "uid": job.uid,
        "user": _user_of(job),
        "jobid": job.jobid,
        "application": label(job.command, forked=False),
        "command": job.command,
        "start": round(job.start * 1e6) if 0 <= job.start < LATEST_DATE else None,
        "run_time": float(job.run_time),
        "nprocs": job.nprocs,
        "hosts": max(1, len(job.hosts)),
        "partial": bool(job.partial),
        "storage": job.storage or "",
        "files": len(uses),
        **{name: int(uses[name].sum()) for name in ("opens", "bytes_read", "bytes_written")},
        "read_seconds": spent["READ"],
        "write_seconds": spent["WRITE"],
        "meta_seconds": spent["META"],
    }


def _user_of(job: Job) -> str:
    """Returns the user's name from the log's name or folder, as iolens and Darshan form them; otherwise the user's
    number.
    """
    named = _NAME.match(job.path.name)
    if named:
        return named[1]
    tree = job.path.parents
    return tree[3].name if len(tree) > 4 and JOB_FOLDER.match(tree[1].name) else str(job.uid)


def _columns_of_files(key: int, job: Job, uses: Records) -> dict[str, Any]:
    """Returns the columns of the table `files`: lists and arrays of the same length."""
    names = paths(job, uses["id"].tolist())
    mounts = file_mounts(job, uses["id"].tolist(), names)
    return {
        "log_id": [key] * len(names),
        "path": names,
        "mount": [mount.point for mount in mounts],
        "file_system": [mount.kind for mount in mounts],
        **{name: uses[name] for name in ("size", "opens", "reads", "writes", "bytes_read", "bytes_written")},
        "seconds": file_seconds(job, uses["id"]),
    }
