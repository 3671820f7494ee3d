"""Repeat runs: those whose timing must not be used a few times by itself, failed ones on request. What went before is
kept beside the run, and counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from iolens.lab.run.record import RECORD, RunRecord, read_record
from iolens.lab.sweep.asked import Asked

ATTEMPT = "attempt.json"
"""The run.json of a run that was done again."""

REPEATS = 3
"""Times that a lost run is repeated before it is given up."""


@dataclass(frozen=True)
class Attempt:
    """One try at a run: its folder, its key, how many tries of this sweep went before, and all that was lost and all
    that failed at this setting so far."""

    asked: Asked
    folder: Path
    key: str
    number: int = 0
    lost: tuple[Mapping[str, Any], ...] = ()
    failed: tuple[Mapping[str, Any], ...] = ()


def first_attempt(asked: Asked, folder: Path, key: str) -> Attempt:
    """The first try of this sweep. What an earlier sweep lost and gave up counts too: otherwise a point could be
    repeated until it is lucky, and nobody would know."""
    before = read_record(folder) or last_aside(folder)
    if before is None or before.key != key:
        return Attempt(asked, folder, key)
    return Attempt(asked, folder, key, lost=losses_of(before), failed=failures_of(before, folder))


def next_attempt(attempt: Attempt, record: RunRecord) -> Attempt | None:
    """The next try after this one; None when the run is kept, as the complete run always is (it is compared with
    nothing), or was repeated often enough."""
    if not is_lost(record) or not attempt.asked.point or attempt.number == REPEATS:
        return None
    lost = (*attempt.lost, loss(record.reason, record.seconds))
    return replace(attempt, number=attempt.number + 1, lost=lost)


def with_history(record: RunRecord, attempt: Attempt) -> RunRecord:
    """The record of a try, with what was lost and what failed before it."""
    return replace(record, lost=attempt.lost, failed_before=attempt.failed)


def is_lost(record: RunRecord) -> bool:
    """True when something else kept the machine busy, so that the emulated storage could not keep its pace."""
    return record.status == "invalid" and record.storage.get("valid") is False


def losses_of(before: RunRecord) -> tuple[Mapping[str, Any], ...]:
    """The runs that an earlier sweep lost."""
    return (*before.lost, loss(before.reason, before.seconds)) if is_lost(before) else tuple(before.lost)


def failures_of(before: RunRecord, folder: Path) -> tuple[Mapping[str, Any], ...]:
    """The runs that failed in earlier sweeps, with the folder in which each lies once this one is done again."""
    failed = list(before.failed_before)
    if before.status == "failed":
        place = numbered(folder, attempts_beside(folder) + (folder / RECORD).exists())
        failed.append(loss(before.reason, before.seconds) | {"folder": place.name})
    return tuple(failed)


def numbered(folder: Path, number: int) -> Path:
    """Beside a run's folder, where an attempt at it goes that is done again; numbers begin with 1."""
    return folder.with_name(f"{folder.name}.attempt-{number}")


def attempts_beside(folder: Path) -> int:
    """How many attempts at a run were done again."""
    return next(number for number in count() if not numbered(folder, number + 1).exists())


def last_aside(folder: Path) -> RunRecord | None:
    """The record of the last of them, which is the last there is where another try was interrupted."""
    return read_record(numbered(folder, attempts_beside(folder)), ATTEMPT)


def put_aside(folder: Path) -> None:
    """Keep a run that is about to be done again; its record gets a name by which it is no run of the sweep."""
    if (folder / RECORD).exists():
        (folder / RECORD).replace(folder / ATTEMPT)
        folder.replace(numbered(folder, attempts_beside(folder) + 1))


def loss(reason: str | None, seconds: float | None) -> dict[str, Any]:
    """One entry of `lost` in run.json."""
    return {"reason": reason or "no reason given", "seconds": seconds}
