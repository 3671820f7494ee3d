"""Repeats runs: automatically a few times if their timing must not be used, and failed runs on request. Earlier
attempts are kept beside the run, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from iolens.lab.run.record import RECORD, RunRecord, read_record
from iolens.lab.sweep.define.spec import PointSpec

ATTEMPT = "attempt.json"
"""Name of the run.json of an attempt that was repeated."""

REPEATS = 3
"""Maximum number of times that a discarded run is repeated."""


def first_attempt(spec: PointSpec, key: str) -> PointSpec:
    """Returns the specification of the first attempt of this sweep, in the specification's folder.

    Attempts that earlier sweeps discarded count too; otherwise a point could be repeated, without a trace, until a run
    happens to be good.
    """
    before = read_record(spec.folder) or _last_aside(spec.folder)
    first = replace(spec, key=key)
    if before is None or before.key != key:
        return first
    return replace(first, lost=_losses_of(before), failed=_failures_of(before, spec.folder))


def next_attempt(spec: PointSpec, record: RunRecord) -> PointSpec | None:
    """Returns the next attempt after this one; None if the run is kept. The complete run is always kept, since it is
    never compared, and so is a run that was repeated often enough.
    """
    if not _is_lost(record) or not spec.point or spec.number == REPEATS:
        return None
    return replace(spec, number=spec.number + 1, lost=(*spec.lost, _loss(record.reason, record.seconds)))


def _is_lost(record: RunRecord) -> bool:
    """Returns True if other work kept the machine busy, so that the emulated storage was slower than its model."""
    return record.status == "invalid" and record.storage.get("valid") is False


def _losses_of(before: RunRecord) -> tuple[Mapping[str, Any], ...]:
    """Returns the runs that an earlier sweep discarded."""
    return (*before.lost, _loss(before.reason, before.seconds)) if _is_lost(before) else tuple(before.lost)


def _failures_of(before: RunRecord, folder: Path) -> tuple[Mapping[str, Any], ...]:
    """Returns the failed attempts of a run: the attempts that its record lists and, if the last attempt failed too, the
    last attempt with the folder to which it is moved when the run is repeated.
    """
    failed = list(before.failed_before)
    if before.status == "failed":
        place = _attempt_folder(folder, _attempts_beside(folder) + (folder / RECORD).exists())
        failed.append(_loss(before.reason, before.seconds) | {"folder": place.name})
    return tuple(failed)


def _attempt_folder(folder: Path, number: int) -> Path:
    """Returns the folder, beside a run's folder, of an attempt that is repeated; numbers begin with 1."""
    return folder.with_name(f"{folder.name}.attempt-{number}")


def _attempts_beside(folder: Path) -> int:
    """Returns the number of attempts at a run that were repeated."""
    return next(number for number in count() if not _attempt_folder(folder, number + 1).exists())


def _last_aside(folder: Path) -> RunRecord | None:
    """Returns the record of the latest attempt that was repeated. It is the latest record of the run if the repetition
    was interrupted.
    """
    return read_record(_attempt_folder(folder, _attempts_beside(folder)), ATTEMPT)


def put_aside(folder: Path) -> None:
    """Moves a run that is about to be repeated aside; its renamed record no longer counts as a run of the sweep."""
    if (folder / RECORD).exists():
        (folder / RECORD).replace(folder / ATTEMPT)
        folder.replace(_attempt_folder(folder, _attempts_beside(folder) + 1))


def _loss(reason: str | None, seconds: float | None) -> dict[str, Any]:
    """Returns one entry of `lost` in run.json."""
    return {"reason": reason or "no reason given", "seconds": seconds}
