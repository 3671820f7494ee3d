"""Detects points whose geometric mean is typical of none of their runs: one run is far from all others, or the runs
form two groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import geometric_mean, median

_FEWEST = 4
"""Minimum number of runs from which one run can be called far from the others."""

_FAR, _SCATTERS = 1.5, 5.0
"""A run is an outlier if it differs from the median by the factor _FAR, and by _SCATTERS times the median distance of
all runs.
"""

_APART, _RANGES = 1.2, 3.0
"""Runs form two separate groups if the gap between the groups is at least the factor _APART, and on logarithms at least
_RANGES times as wide as either group.
"""


@dataclass(frozen=True)
class Split:
    """Runs of a point in two groups by value, each with its number of runs and its geometric mean, fewer runs first."""

    fewer: int
    fewer_value: float
    more: int
    more_value: float


def split_runs(values: Sequence[float]) -> Split | None:
    """Returns the outlying runs of positive values, or their two groups; None if the values lie together."""
    if len(values) < _FEWEST or min(values) <= 0:
        return None
    ordered = sorted(values)
    distances = [math.log(value / median(ordered)) for value in ordered]
    farthest = max(math.log(_FAR), _SCATTERS * median(map(abs, distances)))
    side = max(distances, key=abs)
    outlying = [value for value, far in zip(ordered, distances, strict=True) if far * side >= farthest * abs(side)]
    if 0 < len(outlying) < len(ordered) / 2:
        return _split(outlying, [value for value in ordered if value not in outlying])
    gaps = [math.log(above / below) for below, above in pairwise(ordered)]
    place = max(range(1, len(ordered)), key=lambda place: gaps[place - 1])
    groups = sorted((ordered[:place], ordered[place:]), key=len)
    widest = max(math.log(group[-1] / group[0]) for group in groups)
    if len(groups[0]) < 2 or gaps[place - 1] < max(math.log(_APART), _RANGES * widest):
        return None
    return _split(*groups)


def _split(fewer: Sequence[float], more: Sequence[float]) -> Split:
    """Returns two groups of values as a Split."""
    return Split(len(fewer), geometric_mean(fewer), len(more), geometric_mean(more))
