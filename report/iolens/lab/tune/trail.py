"""The trail of a search, as tuning.json in the folder of the results keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.files import write_aside
from iolens.lab.tune.traits import Trait

TUNING = "tuning.json"
SCHEMA = 1


@dataclass(frozen=True)
class Step:
    """One run of a search: its setting, why it was chosen, and the bandwidth (MiB/s) that the model expected, with two
    standard deviations to either side; None before there was anything to tell from. `bandwidth` is what came out, None
    of a run that cannot be compared, for the `reason` given. `seconds` is how long all of it took."""

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
    """A search: the `settings` that there were, its budget in words, the runs that were `known` before it, its steps,
    why it `stopped` (empty while it goes on), and the machine that its runs describe."""

    settings: int
    budget: str
    known: tuple[str, ...]
    steps: tuple[Step, ...]
    stopped: str = ""
    machine: tuple[Trait, ...] = ()


def write_trail(folder: Path, trail: Trail) -> None:
    """Write tuning.json, whole or not at all."""
    write_aside(folder / TUNING, json.dumps({"schema": SCHEMA, **asdict(trail)}, indent=1) + "\n")


def read_trail(folder: Path) -> Trail | None:
    """What an earlier search left in this folder; None without one. Raises when the file is not what it should be."""
    path = folder / TUNING
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Trail(
            settings=int(content["settings"]),
            budget=str(content["budget"]),
            known=tuple(content["known"]),
            steps=tuple(Step(**step) for step in content["steps"]),
            stopped=str(content["stopped"]),
            machine=tuple(Trait(**trait) for trait in content["machine"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IolensError(f"{path} cannot be read ({error}); remove it to begin the search anew") from error
