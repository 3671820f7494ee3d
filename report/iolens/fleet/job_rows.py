"""The tables of a store, and the rows of one log in them: of the job, of its files, and of the findings."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iolens.advise.diagnosis import diagnosed
from iolens.advise.limits import DEFAULTS
from iolens.errors import UsageError
from iolens.extras import installation_command
from iolens.forest.forest import JOB_FOLDER, file_seconds, printable, uses_of
from iolens.forest.tree import label
from iolens.log import Job
from iolens.log.format.container import open_container
from iolens.log.reader import ESSENCE, job_of
from iolens.log.records import Records
from iolens.metrics.files.overview import file_mounts, paths
from iolens.metrics.job.interfaces.layers import LAYERS, io_time
from iolens.metrics.job.share import WAITED, highest_records, kind_seconds
from iolens.metrics.subjects.facts import LATEST_DATE

if TYPE_CHECKING:
    import pyarrow as pa


SCHEMA = 2
"""Version of the store; a store of another version is not read."""

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "logs": {
        "part": "string",
        "log_id": "int64",
        "log": "string",
        "bytes": "int64",
        "mtime_ns": "int64",
        "status": "string",
        "reason": "string",
    },
    "jobs": {
        "part": "string",
        "log_id": "int64",
        "log": "string",
        "uid": "int64",
        "user": "string",
        "jobid": "int64",
        "application": "string",
        "command": "string",
        "start": "timestamp[us, tz=UTC]",
        "run_time": "float64",
        "nprocs": "int64",
        "hosts": "int64",
        "partial": "bool",
        "storage": "string",
        "files": "int64",
        "opens": "int64",
        "bytes_read": "int64",
        "bytes_written": "int64",
        "read_seconds": "float64",
        "write_seconds": "float64",
        "meta_seconds": "float64",
        "advised": "bool",
        "gain": "float64",
    },
    "files": {
        "part": "string",
        "log_id": "int64",
        "path": "string",
        "mount": "string",
        "file_system": "string",
        "size": "int64",
        "opens": "int64",
        "reads": "int64",
        "writes": "int64",
        "bytes_read": "int64",
        "bytes_written": "int64",
        "seconds": "float64",
    },
    "findings": {
        "part": "string",
        "log_id": "int64",
        "rule": "string",
        "severity": "string",
        "title": "string",
        "evidence": "string",
        "gain": "float64",
    },
}
"""The columns of the tables: `logs` has a row per log that was found, `jobs` per log that was read, `files` per file of
a log, `findings` per finding of the advice. `part` names the Parquet files that contain a row, `log_id` one state of a
log. Bytes and seconds are sums over all ranks; for each file they come from the highest layer that recorded it. `gain`
is the part of the run time (0 to 1) that one remedy may take away, null where the log does not have the time of its
calls or no advice was asked for. A job's `gain` is 0 if no remedy is worth its work.
"""


def need(extra: str, *packages: str) -> None:
    """Raises UsageError with the command that installs the extra here, unless all of the packages are installed."""
    absent = [name for name in packages if find_spec(name) is None]
    if absent:
        who = "install it with" if os.access(sys.prefix, os.W_OK) else f"the owner of {sys.prefix} can install it with"
        raise UsageError(
            f"the Python package {absent[0]} is needed for this command; {who}: {installation_command(extra)}"
        )


def schema_of(table: str) -> pa.Schema:
    """Returns the columns in Arrow's types."""
    import pyarrow as pa

    special = {"timestamp[us, tz=UTC]": pa.timestamp("us", tz="UTC"), "bool": pa.bool_()}
    return pa.schema([(name, special.get(kind) or pa.type_for_alias(kind)) for name, kind in COLUMNS[table].items()])


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
