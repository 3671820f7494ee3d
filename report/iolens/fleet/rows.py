"""The rows of one log: of the job, of its files, and of the findings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.advise.diagnosis import Diagnosis, diagnosed
from iolens.advise.limits import DEFAULTS
from iolens.fleet.times import file_seconds, kind_seconds, needs_whole_log
from iolens.forest.forest import printable
from iolens.forest.label import label
from iolens.forest.process import JOB_FOLDER
from iolens.forest.uses import Uses, uses_of
from iolens.log import Job
from iolens.log.container import open_container
from iolens.log.reader import job_of
from iolens.log.scan import Scan, scan_of
from iolens.metrics.files.overview import mounts_of
from iolens.metrics.job import share

_NAME = re.compile(r"([^_]+)_.+_id\d+(?:-\d+)?_\d+-\d+-\d+[-_]")
"""Matches a log's name: USER_PROGRAM_idJOB-PID_MONTH-DAY-SECONDS_…."""

_BESIDE_IO = {"mpi_calls", "samples"}
"""Private regions without which only I/O can be advised on."""


@dataclass(frozen=True)
class Met:
    """A log as it was met: its path, size in bytes, and time of change."""

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
    """One job as a row, its files as columns, its findings as rows; without `part`."""

    job: Mapping[str, Any]
    files: Mapping[str, Any]
    findings: list[dict[str, Any]] = field(default_factory=list)


def read_rows(met: Met, advice: bool) -> Rows:
    """Reads a log; raises LogError if it is damaged or no log."""
    log = open_container(Path(met.log))
    found = scan_of(log)
    uses = uses_of(found)
    asked = advice and _may_be_advised(found)
    job = job_of(log, found.facts, found.names, found.private) if asked or needs_whole_log(found) else None
    judged = _advised(job) if job is not None and asked else None
    spent = kind_seconds(found) if job is None else share.kind_seconds(job)
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
    row = {**_job_row(met, found, uses, spent), "advised": advice, "gain": gain}
    return Rows(row, _file_columns(met.key, found, uses), said)


def _advised(job: Job) -> Diagnosis:
    """Returns the judgement of a job, without notes about the log."""
    return diagnosed(job, DEFAULTS, notes=False)


def _may_be_advised(found: Scan) -> bool:
    """Returns whether there is enough I/O for any rule to speak; else the rest of the log need not be parsed.

    The I/O of the slowest rank, which the rules ask for, is at most the sum over all records of all layers.
    """
    least = DEFAULTS["least_seconds"]
    beside = found.facts.run_time >= least and any(entry.name in _BESIDE_IO for entry in found.private)
    spent = sum(
        float(records.seconds(f"F_{kind}_TIME").sum())
        for records in found.records.values()
        for kind in ("READ", "WRITE", "META")
    )
    return spent >= least or beside


def _job_row(met: Met, found: Scan, uses: Uses, spent: Mapping[str, float]) -> dict[str, Any]:
    """Returns the row of the table `jobs`, but for the advice."""
    facts = found.facts
    return {
        "log_id": met.key,
        "log": met.name,
        "uid": facts.uid,
        "user": _user_of(found),
        "jobid": facts.jobid,
        "application": label(facts.command, forked=False),
        "command": facts.command,
        "start": round(facts.start * 1e6),
        "run_time": facts.run_time,
        "nprocs": facts.nprocs,
        "hosts": max(1, len(found.info.get("hosts", ()))),
        "partial": bool(found.partial),
        "storage": str(found.info.get("storage") or ""),
        "files": len(uses.id),
        "opens": int(uses.opens.sum()),
        "bytes_read": int(uses.bytes_read.sum()),
        "bytes_written": int(uses.bytes_written.sum()),
        "read_seconds": spent["READ"],
        "write_seconds": spent["WRITE"],
        "meta_seconds": spent["META"],
    }


def _user_of(found: Scan) -> str:
    """Returns the user's name from the log's name or folder, as iolens and Darshan make them; else the number."""
    named = _NAME.match(found.path.name)
    if named:
        return named[1]
    tree = found.path.parents
    return tree[3].name if len(tree) > 4 and JOB_FOLDER.match(tree[1].name) else str(found.facts.uid)


def _file_columns(key: int, found: Scan, uses: Uses) -> dict[str, Any]:
    """Returns the columns of the table `files`: lists and arrays of the same length."""
    paths = [found.names.get(each) or f"record {each}" for each in uses.id.tolist()]
    kinds = {mount.point: mount.kind for mount in found.facts.mounts}
    mounts = mounts_of(paths, kinds)
    return {
        "log_id": [key] * len(paths),
        "path": paths,
        "mount": mounts,
        "file_system": [kinds.get(mount, "") for mount in mounts],
        "size": uses.size,
        "opens": uses.opens,
        "reads": uses.reads,
        "writes": uses.writes,
        "bytes_read": uses.bytes_read,
        "bytes_written": uses.bytes_written,
        "seconds": file_seconds(found, uses.id),
    }
