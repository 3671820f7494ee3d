"""What stays of a run: its data, its logs and its output, each by how the run ended.

`run.json` and `result.json` always stay, so that results can be compared whatever is kept; a page that reads logs
leaves out what it would have of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iolens.lab.run.record import RunRecord

NEVER, FAILED, ALWAYS = "never", "failed", "always"

WHEN = (NEVER, FAILED, ALWAYS)
"""When a part stays: of no run, of those that failed or must not be compared, of all."""


@dataclass(frozen=True)
class Keep:
    """When each part stays (WHEN): data files, logs with their traces, standard output and error."""

    data: str = NEVER
    log: str = ALWAYS
    output: str = ALWAYS


FILES: Mapping[str, Sequence[str]] = {"log": ("*.darshan",), "output": ("stdout.txt", "stderr.txt")}
"""The files of each part in a run's folder; data lies elsewhere."""


def stays(when: str, status: str) -> bool:
    """Whether what stays at such times stays of a run with this status."""
    return when == ALWAYS or (when == FAILED and status != "ok")


def recorded(record: RunRecord, keep: Keep, data: Path) -> RunRecord:
    """The record with what stays: where its `data` lies, and no log that goes."""
    kept = {"data": str(data)} if stays(keep.data, record.status) else {}
    log = record.log if stays(keep.log, record.status) else None
    return replace(record, storage={**record.storage, **kept}, log=log)


def remove_rest(folder: Path, keep: Keep, status: str) -> None:
    """Remove from a run's folder what does not stay."""
    for part, patterns in FILES.items():
        if not stays(getattr(keep, part), status):
            for path in [path for pattern in patterns for path in folder.glob(pattern)]:
                path.unlink(missing_ok=True)
