"""Describes the main values of a figure in words, for readers who cannot see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from iolens.pages import words


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
