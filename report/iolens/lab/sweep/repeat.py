"""Repeat a run whose timing must not be used, a few times, and keep count of what was thrown away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from iolens.lab.run.record import RunRecord, read_record, write_record

REPEATS = 3
"""Times that a lost run is repeated before it is given up."""


def is_lost(record: RunRecord) -> bool:
    """True when something else kept the machine busy, so that the emulated storage could not keep its pace."""
    return record.status == "invalid" and record.storage.get("valid") is False


def until_kept(attempt: Callable[[], RunRecord], folder: Path) -> RunRecord:
    """Make `attempt`s, each of which leaves its record in `folder`, until one is kept or the repeats are used up.

    What was lost is written into the last one's record. A run that an earlier sweep had given up counts there too:
    otherwise a point could be repeated until it is lucky, and nobody would know.
    """
    before = read_record(folder)
    record = attempt()
    lost = losses_of(before, record.key)
    for _ in range(REPEATS):
        if not is_lost(record):
            break
        lost.append(loss(record.reason, record.seconds))
        record = attempt()
    if lost:
        record = replace(record, lost=lost)
        write_record(folder, record)
    return record


def losses_of(before: dict[str, Any] | None, key: str) -> list[dict[str, Any]]:
    """The runs that an earlier sweep lost at the same setting, with programs that were the same."""
    if before is None or before.get("key") != key:
        return []
    lost = list(before.get("lost") or [])
    if before.get("status") == "invalid" and (before.get("storage") or {}).get("valid") is False:
        lost.append(loss(before.get("reason"), before.get("seconds")))
    return lost


def loss(reason: str | None, seconds: float | None) -> dict[str, Any]:
    """One entry of `lost` in run.json."""
    return {"reason": reason or "no reason given", "seconds": seconds}
