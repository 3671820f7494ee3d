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
"""Minimum number of runs from which one run can be called far from the others by these runs alone."""

_FEWEST_OF_MANY, _USUAL_RANGES = 3, 2.5
"""Minimum number of runs if the runs of other settings show the usual range; the gap between the groups must then be at
least _USUAL_RANGES times as wide as that range.
"""

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


def usual_range(groups: Sequence[Sequence[float]]) -> float:
    """Returns the median range, on logarithms, of the groups with three values or more; 0 without such a group."""
    ranges = [math.log(max(each) / min(each)) for each in groups if len(each) >= _FEWEST_OF_MANY and min(each) > 0]
    return median(ranges) if ranges else 0.0


def split_runs(values: Sequence[float], usual: float = 0.0) -> Split | None:
    """Returns the outlying runs of positive values, or their two groups; None if the values lie together. `usual` is
    the `usual_range` of other settings: without it three runs are too few.
    """
    if len(values) < (_FEWEST_OF_MANY if usual else _FEWEST) or min(values) <= 0:
        return None
    ordered = sorted(values)
    groups, gap = _widest_gap(ordered)
    if len(ordered) < _FEWEST and gap < _USUAL_RANGES * usual:
        return None
    distances = [math.log(value / median(ordered)) for value in ordered]
    farthest = max(math.log(_FAR), _SCATTERS * median(map(abs, distances)))
    side = max(distances, key=abs)
    outlying = [value for value, far in zip(ordered, distances, strict=True) if far * side >= farthest * abs(side)]
    if len(ordered) >= _FEWEST and 0 < len(outlying) < len(ordered) / 2:
        return _split(outlying, [value for value in ordered if value not in outlying])
    widest = max(math.log(group[-1] / group[0]) for group in groups)
    is_apart = gap >= max(math.log(_APART), _RANGES * widest)
    return _split(*groups) if is_apart and (len(groups[0]) > 1 or len(ordered) < _FEWEST) else None


def _widest_gap(ordered: Sequence[float]) -> tuple[list[Sequence[float]], float]:
    """Returns the values on either side of their widest gap, the fewer first, and the gap on logarithms."""
    gaps = [math.log(above / below) for below, above in pairwise(ordered)]
    place = max(range(1, len(ordered)), key=lambda place: gaps[place - 1])
    return sorted((ordered[:place], ordered[place:]), key=len), gaps[place - 1]


def _split(fewer: Sequence[float], more: Sequence[float]) -> Split:
    """Returns two groups of values as a Split."""
    return Split(len(fewer), geometric_mean(fewer), len(more), geometric_mean(more))
