"""What a search may cost: a number of runs, or an amount of time."""

from __future__ import annotations

import re
from dataclasses import dataclass

USUAL_RUNS = 8
SHARE = 3
"""Without a budget, a search makes at most `USUAL_RUNS` runs, and at most one of so many settings is run."""

LEAST = 2
"""Runs that every search makes: the default, and something to compare it with."""

UNITS = {"s": 1, "min": 60, "h": 3600}


@dataclass(frozen=True)
class Budget:
    """Runs of the search, or seconds for it and for the runs that confirm its result; the other one is None."""

    runs: int | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        """As a person reads it."""
        return f"{self.runs} runs" if self.seconds is None else f"{self.seconds / 60:g} min"

    def allows(self, made: int, spent: float, reserved: int) -> bool:
        """Whether one more run fits in, after `made` that took `spent` seconds, with `reserved` others to follow."""
        if made < LEAST:
            return True
        if self.seconds is None:
            return made < (self.runs or 0)
        return spent + spent / made * (1 + reserved) <= self.seconds


def parse_budget(text: str) -> Budget:
    """`8`, `90s`, `5min` or `2h`; raises ValueError that says so."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", text.strip())
    if found and found[2] in UNITS and float(found[1]) > 0:
        return Budget(seconds=float(found[1]) * UNITS[found[2]])
    if found and not found[2] and found[1].isdecimal() and int(found[1]) >= LEAST:
        return Budget(runs=int(found[1]))
    raise ValueError(f"{text!r} is not a budget; write runs ({LEAST} at least) or time: 8, 90s, 5min, 2h")


def usual_budget(settings: int) -> Budget:
    """The budget of a search among so many settings, when none is given."""
    return Budget(runs=max(LEAST, min(USUAL_RUNS, settings // SHARE)))
