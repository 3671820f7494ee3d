"""The blocks in which the runs of a sweep were made: one repetition of every point, before the next begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from iolens.lazy import pd

_MOST_APART = 0.2
"""Maximum share of runs that may have been made apart from their repetition, such as failed runs that were repeated."""


def run_blocks(parts: Sequence[pd.DataFrame]) -> list[list[int]] | None:
    """Returns the number of each run's block, for the runs of each point. Returns None if the start of a run is
    unknown, or if the runs were not made repetition by repetition.

    A block is a repetition. A run that began while a later repetition was under way belongs to the later block. A run
    that was made before or after all others is a block by itself, so that it is compared with no other run.
    """
    runs = pd.concat(parts) if parts else pd.DataFrame()
    if runs.empty or "started" not in runs or runs["started"].isna().any():
        return None
    begun = pd.to_datetime(runs["started"], utc=True, format="ISO8601", errors="coerce")
    if begun.isna().any():
        return None
    seconds = [float(time.timestamp()) for time in begun]
    repetitions = [int(number) for number in runs["repetition"]]
    numbers = sorted(set(repetitions))
    middles = [_middle([s for s, r in zip(seconds, repetitions, strict=True) if r == number]) for number in numbers]
    if middles != sorted(middles):
        return None
    apart = _out_of_order(seconds, repetitions, dict(zip(numbers, middles, strict=True)))
    if sum(apart) > _MOST_APART * len(apart):
        return None
    found = _blocks(seconds, repetitions, apart)
    if found is None:
        return None
    numbers_left = iter(found)
    return [[next(numbers_left) for _ in range(len(part))] for part in parts]


def run_order(parts: Sequence[pd.DataFrame]) -> list[list[float]]:
    """Returns the position of each run in the order of starts, 0 to 1, for runs that have blocks (`run_blocks`). Runs
    that began in the same second have the same position.
    """
    begun = pd.to_datetime(pd.concat(parts)["started"], utc=True, format="ISO8601")
    places = iter((begun.rank() / len(begun)).tolist())
    return [[next(places) for _ in range(len(part))] for part in parts]


def _middle(seconds: Sequence[float]) -> float:
    """Returns the lower median of the values."""
    return sorted(seconds)[(len(seconds) - 1) // 2]


def _out_of_order(seconds: Sequence[float], repetitions: Sequence[int], middles: dict[int, float]) -> list[bool]:
    """Returns whether each run began after the middle of a later repetition, or before the middle of an earlier one."""
    return [
        any((other > own and begun > middle) or (other < own and begun < middle) for other, middle in middles.items())
        for begun, own in zip(seconds, repetitions, strict=True)
    ]


def _blocks(seconds: Sequence[float], repetitions: Sequence[int], apart: Sequence[bool]) -> list[int] | None:
    """Returns the blocks of runs, given which of them were made apart; None if repetitions overlap even without
    these.
    """
    whole = [(own, begun) for own, begun, far in zip(repetitions, seconds, apart, strict=True) if not far]
    spans = {own: [begun for one, begun in whole if one == own] for own in sorted({own for own, _ in whole})}
    ordered = list(spans.values())
    if any(max(one) > min(later) for one, later in pairwise(ordered)):
        return None
    found, alone = [], max(repetitions)
    for own, begun, far in zip(repetitions, seconds, apart, strict=True):
        under_way = [number for number, times in spans.items() if min(times) <= begun]
        if far and (not under_way or begun > max(ordered[-1])):
            alone += 1
            found.append(alone)
        else:
            found.append(under_way[-1] if far else own)
    return found
