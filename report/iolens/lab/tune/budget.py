"""The budget of a search: a number of runs, or an amount of time."""

from __future__ import annotations

import re
from dataclasses import dataclass

_USUAL_RUNS = 8
_SHARE = 3
"""A search without a budget makes at most `_USUAL_RUNS` runs, and not more than the number of settings divided by this
number.
"""

_LEAST = 2
"""Minimum number of runs of a search: the default and one setting to compare it with."""

_UNITS = {"s": 1, "min": 60, "h": 3600}


@dataclass(frozen=True)
class Budget:
    """The number of runs of a search, or the seconds for the search and the runs that confirm its result; the other one
    is None.
    """

    runs: int | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        """Returns the budget in words."""
        return f"{self.runs} runs" if self.seconds is None else f"{self.seconds / 60:g} min"

    def allows(self, made: int, spent: float, reserved: int) -> bool:
        """Returns True if one more run fits in after `made` runs that took `spent` seconds, with `reserved` runs to
        follow.
        """
        if made < _LEAST:
            return True
        if self.seconds is None:
            return made < (self.runs or 0)
        return spent + spent / made * (1 + reserved) <= self.seconds


def parse_budget(text: str) -> Budget:
    """Parses `8`, `90s`, `5min` or `2h`; raises ValueError that names these forms."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", text.strip())
    if found and found[2] in _UNITS and float(found[1]) > 0:
        return Budget(seconds=float(found[1]) * _UNITS[found[2]])
    if found and not found[2] and found[1].isdecimal() and int(found[1]) >= _LEAST:
        return Budget(runs=int(found[1]))
    raise ValueError(f"{text!r} is not a budget; write runs ({_LEAST} at least) or time: 8, 90s, 5min, 2h")


def usual_budget(settings: int) -> Budget:
    """Returns the default budget of a search among this number of settings."""
    return Budget(runs=max(_LEAST, min(_USUAL_RUNS, settings // _SHARE)))
