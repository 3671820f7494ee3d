"""What the readers of outputs share: groups and names of values, so that different benchmarks' stand in one row."""

from __future__ import annotations

import re

MB, MIB = 10**6, 2**20
"""NPB's megabyte, and what IOR, MAPL and the tables here count in."""

BANDWIDTH, TIMES, VOLUME = "Bandwidth", "Time", "Bytes"
"""Groups of values."""

FACT = re.compile(r"^[ \t]*([A-Za-z][\w /().-]*?)[ \t]*[:=][ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
"""`name : value` and `name = value`, as most benchmarks print their parameters."""


def facts_in(text: str) -> dict[str, str]:
    """All `name : value` lines; the first of a name counts."""
    found: dict[str, str] = {}
    for name, value in FACT.findall(text):
        found.setdefault(name, value)
    return found


def decimal(text: str | None) -> float | None:
    """A number, Fortran's exponents with D as well; None where the text is none, or asterisks stand for it."""
    try:
        return float((text or "").replace("D", "E").split()[0])
    except (ValueError, IndexError):
        return None
