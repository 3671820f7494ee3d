"""The record of a run, run.json (report/RUN.md), and the key by which a finished run is recognised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from iolens.lab.files import like_a_log, write_aside
from iolens.lab.run.execute import Outcome
from iolens.lab.run.hosts import hosts_of
from iolens.lab.run.preload import Setup

RECORD = "run.json"
"""Name of the record in the folder of a run."""

_SCHEMA = 1
_UNKNOWN_STORAGE = "native"
"""The `storage.kind` of a run that does not choose where its files lie."""


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The fields of run.json; see report/RUN.md."""

    id: str
    status: str
    reason: str | None = None
    command: Sequence[str] = ()
    started: str
    seconds: float
    exit_code: int
    point: Mapping[str, int | str]
    requested: Mapping[str, Any] = field(default_factory=dict)
    effective: Mapping[str, Any] = field(default_factory=dict)
    observed: Mapping[str, Any] = field(default_factory=dict)
    took_effect: Mapping[str, bool | None] = field(default_factory=dict)
    storage: Mapping[str, Any] = field(default_factory=dict)
    launcher: str
    mpi: Mapping[str, Any] = field(default_factory=dict)
    hosts: Sequence[str] = ()
    load_before: float
    log: str | None = None
    result: str | None = None
    key: str
    lost: Sequence[Mapping[str, Any]] = ()
    failed_before: Sequence[Mapping[str, Any]] = ()
    batch: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    build: Mapping[str, Any] = field(default_factory=dict)
    load_after: float | None = None
    run: str = ""
    schema: int = field(default=_SCHEMA)


def write_record(folder: Path, record: RunRecord) -> None:
    """Writes run.json into the run's folder, whole or not at all; it holds the command line."""
    write_aside(folder / RECORD, json.dumps(asdict(record), indent=1) + "\n", like_a_log())


def record_at(path: Path) -> RunRecord:
    """Reads a run.json; missing or null fields get their defaults. Raises OSError, ValueError if it is not JSON,
    TypeError if it is not an object, KeyError if a field without default is missing.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise TypeError("holds no object")
    needed = {one.name for one in fields(RunRecord) if one.default is MISSING and one.default_factory is MISSING}
    known = {one.name for one in fields(RunRecord) if content.get(one.name) is not None}
    return RunRecord(**{name: content[name] for name in known | needed})


def read_record(folder: Path, name: str = RECORD) -> RunRecord | None:
    """Returns the record of a run in this folder, from the file `name`; None if the file is missing or unreadable."""
    try:
        return record_at(folder / name)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def run_key(parts: Mapping[str, Any], files: Iterable[Path]) -> str:
    """Returns the SHA-256 of everything that decides the outcome: settings and the contents of programs and
    libraries.
    """
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def record_fields(outcome: Outcome) -> dict[str, Any]:
    """Returns the fields of a record that follow from the outcome of its command."""
    shared = {one.name for one in fields(RunRecord)} & {*outcome._fields} - {"reason"}
    log = outcome.logs[-1].name if outcome.logs else None
    return {name: getattr(outcome, name) for name in shared} | {"seconds": round(outcome.seconds, 6), "log": log}


def write_single(folder: Path, outcome: Outcome, setup: Setup) -> None:
    """Writes the run.json of one `iolens run`."""
    record = RunRecord(
        id=folder.name,
        status="ok" if outcome.exit_code == 0 else "failed",
        reason=None if outcome.exit_code == 0 else f"exit code {outcome.exit_code}",
        point={},
        storage={"kind": setup.storage.name if setup.storage else _UNKNOWN_STORAGE, "valid": None, "reason": None},
        launcher="local",
        key=run_key({"command": outcome.command}, []),
        **record_fields(outcome._replace(hosts=tuple(hosts_of(outcome.logs)))),
    )
    write_record(folder, record)
