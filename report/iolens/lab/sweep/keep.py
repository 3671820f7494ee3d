"""Decide which files of a run are kept: its data, logs and output, each depending on how the run ended.

`run.json` and `result.json` are always kept, so that results can be compared whatever else is removed. A page leaves
out what it would read from a log that is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iolens.lab.run.record import RunRecord

NEVER, _FAILED, ALWAYS = "never", "failed", "always"

WHEN = (NEVER, _FAILED, ALWAYS)
"""Runs for which a part is kept: none, those that failed or must not be compared, or all."""


@dataclass(frozen=True)
class Keep:
    """The runs (WHEN) for which each part is kept: data files, logs with their traces, standard output and error."""

    data: str = NEVER
    log: str = ALWAYS
    output: str = ALWAYS


_FILES: Mapping[str, Sequence[str]] = {"log": ("*.darshan",), "output": ("stdout.txt", "stderr.txt")}
"""The files of each part in a run's folder; data lies elsewhere."""


def stays(when: str, status: str) -> bool:
    """Returns True if a part that is kept for the runs `when` is kept for a run with this status."""
    return when == ALWAYS or (when == _FAILED and status != "ok")


def recorded(record: RunRecord, keep: Keep, data: Path) -> RunRecord:
    """Returns the record with the place of kept `data`, and without a log that is removed."""
    kept = {"data": str(data)} if stays(keep.data, record.status) else {}
    log = record.log if stays(keep.log, record.status) else None
    return replace(record, storage={**record.storage, **kept}, log=log)


def remove_rest(folder: Path, keep: Keep, status: str) -> None:
    """Removes the files of a run's folder that are not kept."""
    for part, patterns in _FILES.items():
        if not stays(getattr(keep, part), status):
            for path in [path for pattern in patterns for path in folder.glob(pattern)]:
                path.unlink(missing_ok=True)
