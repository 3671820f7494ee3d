"""Measures of imbalance as several tools define them. All return NaN if there is only one value."""

from __future__ import annotations

NOT_KNOWN = float("nan")


def imbalance(most: float, mean: float) -> float:
    """Returns how much longer the slowest rank took than the average one: max - avg (CrayPAT's Imb. Time, Imb.
    Samp).
    """
    return most - mean


def imbalance_percent(most: float, mean: float, count: int) -> float:
    """Returns CrayPAT's Imb.%: 100 * (max - avg) / max * N / (N - 1), of N values. 0: even; 100: one rank does
    everything.

    Source: DeRose, Homer and Johnson, "Detecting Application Load Imbalance on High End Massively Parallel Systems",
    Euro-Par 2007, as pat_report prints it. NaN for a single value, and if all values are 0.
    """
    if count < 2 or not most > 0:
        return NOT_KNOWN
    return 100.0 * (most - mean) / most * count / (count - 1)


def mean_over_most(most: float, mean: float) -> float:
    """Returns POP's load balance: avg / max, of the time of useful work. 1: even."""
    return mean / most if most > 0 else NOT_KNOWN
