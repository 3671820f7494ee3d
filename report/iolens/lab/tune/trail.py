"""The record of a search: its steps, and why it stopped; kept as tuning.json in the folder of the results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.files import write_aside
from iolens.lab.tune.traits import Trait
from iolens.metrics.comparison.settings import BANDWIDTH, Measure

TUNING = "tuning.json"
_SCHEMA = 1


@dataclass(frozen=True)
class SearchStep:
    """One run of a search: its setting, the reason for its choice, and the value that the model expected, with two
    standard deviations to either side; None before the first run. `bandwidth` is the measured value, in the unit of the
    trail's measure, which is a time if the search minimizes one; None if the
    run cannot be compared for the given `reason`. `seconds` is the time of the whole step.
    """

    run: str
    point: Mapping[str, int | str]
    why: str
    expected: float | None
    low: float | None
    high: float | None
    bandwidth: float | None
    reason: str | None
    seconds: float


@dataclass(frozen=True)
class Trail:
    """A search: the number of `settings`, its budget in words, the runs `known` before it, its steps, the reason why it
    `stopped` (empty while it continues), the machine that its runs describe, and the measure of its values.
    """

    settings: int
    budget: str
    known: tuple[str, ...]
    steps: tuple[SearchStep, ...]
    stopped: str = ""
    machine: tuple[Trait, ...] = ()
    measure: Measure = BANDWIDTH


def write_trail(folder: Path, trail: Trail) -> None:
    """Writes tuning.json, whole or not at all."""
    write_aside(folder / TUNING, json.dumps({"schema": _SCHEMA, **asdict(trail)}, indent=1) + "\n")


def read_trail(folder: Path) -> Trail | None:
    """Returns the trail of an earlier search in this folder; None if there is none. Raises if the file is invalid."""
    path = folder / TUNING
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Trail(
            settings=int(content["settings"]),
            budget=str(content["budget"]),
            known=tuple(content["known"]),
            steps=tuple(SearchStep(**step) for step in content["steps"]),
            stopped=str(content["stopped"]),
            machine=tuple(Trait(**trait) for trait in content["machine"]),
            measure=Measure(**content["measure"]) if "measure" in content else BANDWIDTH,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IolensError(f"{path} cannot be read ({error}); remove it to start the search again") from error
