"""Finds the traced opens that were really duplicates of a descriptor, by counters of accesses: only an open resets the
position with which they compare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations, islice

import numpy as np

from iolens.lab.mimic.calls import CallKind, Calls

_MOST_CHOICES = 3000
"""Maximum number of ways to choose the duplicates among the opens that are tried; if none of them fits, the first is
taken.
"""


def choose(own: Calls, opens: np.ndarray, count: int, counters: Mapping[str, int]) -> list[int]:
    """Returns the `count` places among `opens` that were duplicates; `own` are the calls of one rank on one file, and
    `counters` its record's.

    An open or a close resets the position at which the last access ended, a duplicate does not. The first choice is
    taken for which the sequential and consecutive accesses and the strides equal those of the record; opens while the
    file was open are tried first.
    """
    steps = np.where(own.kind == CallKind.OPEN, 1, 0) - np.where(own.kind == CallKind.CLOSE, 1, 0)
    was_open = (np.cumsum(steps) - steps)[opens] > 0
    order: list[int] = opens[np.argsort(~was_open, kind="stable")].tolist()
    choices = combinations(order, count)
    for chosen in islice(choices, _MOST_CHOICES):
        if _agrees(own, set(chosen), counters):
            return [*chosen]
    return order[:count]


def _agrees(own: Calls, duplicates: set[int], counters: Mapping[str, int]) -> bool:
    """Returns whether the counters of accesses equal the record's if these opens were duplicates."""
    last = {CallKind.READ: 0, CallKind.WRITE: 0}
    found: Counter[str] = Counter()
    strides: Counter[int] = Counter()
    rows = zip(own.kind.tolist(), own.offset.tolist(), own.length.tolist(), strict=True)
    for place, (kind, offset, length) in enumerate(rows):
        if kind == CallKind.CLOSE or (kind == CallKind.OPEN and place not in duplicates):
            last = {CallKind.READ: 0, CallKind.WRITE: 0}
        elif kind in last:
            gap = offset - last[kind] - 1
            word = "READS" if kind == CallKind.READ else "WRITES"
            found[f"POSIX_SEQ_{word}"] += gap >= 0
            found[f"POSIX_CONSEC_{word}"] += gap == 0
            if gap > 0 and last[kind] != 0:
                strides[gap] += 1
            last[kind] = offset + length - 1
    names = [f"POSIX_{way}_{word}" for way in ("SEQ", "CONSEC") for word in ("READS", "WRITES")]
    if any(found[name] != counters[name] for name in names):
        return False
    listed = [(counters[f"POSIX_STRIDE{n}_STRIDE"], counters[f"POSIX_STRIDE{n}_COUNT"]) for n in range(1, 5)]
    listed = [(stride, count) for stride, count in listed if count]
    return len(listed) == min(4, len(strides)) and all(strides[stride] == count for stride, count in listed)
