"""Groups and names of values that all readers of outputs share, so that the same value of different benchmarks appears
in one row.
"""

from __future__ import annotations

import re

MB, MIB = 10**6, 2**20
"""Bytes in a megabyte as NPB counts it, and in a MiB, the unit of IOR, MAPL and the tables of comparisons."""

BANDWIDTH, TIMES, VOLUME = "Bandwidth", "Time", "Bytes"
"""Names of groups of values."""

_FACT = re.compile(r"^[ \t]*([A-Za-z][\w /().-]*?)[ \t]*[:=][ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
"""Matches `name : value` and `name = value`, as most benchmarks print their parameters."""


def facts_in(text: str) -> dict[str, str]:
    """Returns all `name : value` lines; the first line of a name counts."""
    found: dict[str, str] = {}
    for name, value in _FACT.findall(text):
        found.setdefault(name, value)
    return found


def decimal(text: str | None) -> float | None:
    """Returns the number in a text, also with Fortran's exponent D; None if the text is not a number, or consists of
    asterisks.
    """
    try:
        return float((text or "").replace("D", "E").split()[0])
    except (ValueError, IndexError):
        return None
