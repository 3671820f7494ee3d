"""Repeat a run whose timing must not be used, a few times, and keep count of what was thrown away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from iolens.lab.run.record import RunRecord, read_record
from iolens.lab.sweep.asked import Asked

REPEATS = 3
"""Times that a lost run is repeated before it is given up."""


@dataclass(frozen=True)
class Attempt:
    """One try at a run: its folder, its key, how many tries of this sweep went before, and all that was lost at this
    setting so far."""

    asked: Asked
    folder: Path
    key: str
    number: int = 0
    lost: tuple[Mapping[str, Any], ...] = ()


def first_attempt(asked: Asked, folder: Path, key: str) -> Attempt:
    """The first try of this sweep. What an earlier sweep lost and gave up counts too: otherwise a point could be
    repeated until it is lucky, and nobody would know."""
    return Attempt(asked, folder, key, lost=losses_of(read_record(folder), key))


def next_attempt(attempt: Attempt, record: RunRecord) -> Attempt | None:
    """The next try after this one; None when the run is kept, as the complete run always is (it is compared with
    nothing), or was repeated often enough."""
    if not is_lost(record) or not attempt.asked.point or attempt.number == REPEATS:
        return None
    lost = (*attempt.lost, loss(record.reason, record.seconds))
    return replace(attempt, number=attempt.number + 1, lost=lost)


def with_losses(record: RunRecord, attempt: Attempt) -> RunRecord:
    """The record of a try, with what was lost before it."""
    return replace(record, lost=list(attempt.lost)) if attempt.lost else record


def is_lost(record: RunRecord) -> bool:
    """True when something else kept the machine busy, so that the emulated storage could not keep its pace."""
    return record.status == "invalid" and record.storage.get("valid") is False


def losses_of(before: dict[str, Any] | None, key: str) -> tuple[Mapping[str, Any], ...]:
    """The runs that an earlier sweep lost at the same setting, with programs that were the same."""
    if before is None or before.get("key") != key:
        return ()
    lost = list(before.get("lost") or [])
    if before.get("status") == "invalid" and (before.get("storage") or {}).get("valid") is False:
        lost.append(loss(before.get("reason"), before.get("seconds")))
    return tuple(lost)


def loss(reason: str | None, seconds: float | None) -> dict[str, Any]:
    """One entry of `lost` in run.json."""
    return {"reason": reason or "no reason given", "seconds": seconds}
