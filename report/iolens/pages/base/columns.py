"""Columns, notes and descriptions that many exhibits share: levels below a total, families of files, largest values."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from iolens.metrics.files.families import FEWEST
from iolens.missing import is_nan
from iolens.pages.base import words
from iolens.pages.base.exhibit import Column

_SHORTEST = 1e-6
"""Minimum time that is printed with six decimals."""

IMBALANCE_PERCENT = "100 × (max - avg) / max × N / (N - 1)"
"""CrayPat's imbalance of N ranks or threads in per cent, for notes below tables."""


def indented(depth: int, name: str) -> str:
    """Returns a name indented by its depth."""
    return words.INDENT * depth + name


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


def _several_files(number: float) -> str:
    """Returns the number of files that a row sums, in words; an empty text for one file."""
    return words.count(number) if number > 1 else ""


FAMILY_SIZE = Column("files", "files", _several_files, optional=True)
"""The number of files of a family."""

FAMILY_NOTE = (
    f"Files whose names differ in numbers or in one folder are one row from {FEWEST} files on: # stands for a digit, * "
    "for a number or a folder."
)


def largest(pairs: Iterable[tuple[str, float]], say: Callable[[float], str], most: int = 3) -> str:
    """Returns the largest values with their names, the largest first; if none is above 0, a statement about all of
    them.
    """
    known = sorted(((name, value) for name, value in pairs if value > 0), key=lambda pair: -pair[1])
    if not known:
        return "all are 0"
    others = f"; {len(known) - most} more are smaller" if len(known) > most else ""
    return "; ".join(f"{name}: {say(value)}" for name, value in known[:most]) + others


def extremes(pairs: Iterable[tuple[str, float]], say: Callable[[float], str]) -> str:
    """Returns the largest and the smallest value with their names."""
    known = sorted(pairs, key=lambda pair: pair[1])
    if not known or known[0][1] == known[-1][1]:
        return f"all {say(known[0][1])}" if known else "none is known"
    (low, least), (high, most) = known[0], known[-1]
    return f"most: {high}, {say(most)}; least: {low}, {say(least)}"


def of_ranks(values: Iterable[float], say: Callable[[float], str]) -> str:
    """Returns the ranks with the largest and the smallest value, and both values."""
    return extremes(((f"rank {rank}", value) for rank, value in enumerate(values)), say)


def count_text(value: float) -> str:
    """Formats a count: a whole number with commas or, below 1, three digits."""
    return words.count(round(value)) if value >= 1 else words.digits(value)
