"""The columns of tables that go down from the total to groups, functions and single ranks."""

from __future__ import annotations

from iolens.missing import is_nan
from iolens.pages import words
from iolens.pages.exhibit import Column

_SHORTEST = 1e-6
"""Minimum time that is printed with six decimals."""

IMBALANCE_PERCENT = "100 × (max - avg) / max × N / (N - 1)"
"""CrayPat's imbalance of N ranks or threads in per cent, for notes below tables."""

INDENT = "\u00a0\u00a0"
"""Indent of one level, made of spaces that no layout removes."""


def indented(depth: int, name: str) -> str:
    """Returns a name indented by its depth."""
    return INDENT * depth + name


def guarded_seconds(value: float) -> str:
    """Returns seconds to the microsecond, shorter times to the nanosecond, and `--` for NaN."""
    if is_nan(value):
        return words.GUARD
    return f"{value:.9f}" if 0 < abs(value) < _SHORTEST else f"{value:,.6f}"


NAME = Column("", ("depth", "name"), indented)


def share_columns(head: str, measure: str, unit: str = "s") -> list[Column]:
    """Returns the columns share, mean, imbalance and imbalance in per cent of the table's first measure, under
    pat_report's heads.
    """
    say = guarded_seconds if unit == "s" else words.size if unit == "B" else words.guarded
    uneven = words.guarded if unit != "B" else guarded_size
    return [
        Column(f"{head}%", "share", words.points),
        Column(head if unit == "B" else f"{head}, {unit}" if unit else head, measure, say),
        Column(f"Imb. {head}", "imbalance", guarded_seconds if unit == "s" else uneven),
        Column(f"Imb. {head}%", "imbalance_percent", words.points),
    ]


def guarded_size(value: float) -> str:
    """Returns bytes in words; `--` where the number has no meaning."""
    return words.GUARD if is_nan(value) else words.size(value)
