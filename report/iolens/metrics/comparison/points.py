"""The runs of one point of a sweep: which count, which were lost, whether the point can be compared, and fresh runs of
the best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import geometric_mean, median
from typing import Any

from iolens.lazy import pd
from iolens.metrics.comparison.effects import Point
from iolens.metrics.comparison.settings import Measure, describe
from iolens.metrics.statistics.intervals import Ratio, Typical, family
from iolens.metrics.statistics.paired import design, run_blocks

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


def measured(runs: pd.DataFrame, column: str) -> list[float]:
    """Returns the known values of a column of the usable runs, in the order of the runs; runs without a value are left
    out.
    """
    return [float(v) for v in runs.loc[runs["usable"], column].dropna()]


def point_row(names: Sequence[str], key: Point, runs: pd.DataFrame, most: int, measure: Measure) -> dict[str, Any]:
    """Returns the levels and label of a point, its numbers of runs, and whether it can be compared; `most` is the
    largest number of runs of any point.
    """
    row = dict(zip(names, key, strict=True))
    label, count = describe(row) or "the only point", len(measured(runs, measure.column))
    repeated = sum(len(attempts) for attempts in runs["lost_attempts"])
    tried = len(runs) + repeated
    losses = {"planned": len(runs), "count": count, "lost": tried - count}
    name = f"{label} ({_lost_text(**losses)})" if tried > count else label
    return {
        **row,
        "label": label,
        "name": name,
        **losses,
        "left_out": _why_left_out(runs, most, measure.name, **losses),
    }


def _lost_text(planned: int, count: int, lost: int) -> str:
    """Returns a text on lost runs and their repetition, such as '2 of 3 runs lost' or '1 lost run repeated'."""
    if count < planned:
        return f"{lost} of {lost + count} runs lost"
    return f"{lost} lost {'run' if lost == 1 else 'runs'} repeated"


def _why_left_out(runs: pd.DataFrame, most: int, measured_name: str, planned: int, count: int, lost: int) -> str:
    """Returns the reason why a point cannot be the best or tied with it; empty if it can.

    A run is discarded if it fails, or if the emulated storage was slower than the storage it emulates. The remaining
    runs are then the lucky ones, so a point is not compared if it discarded more runs than it kept, or could not
    replace a discarded run. A single run among repeated ones is not compared either, because the scatter of its setting
    is unknown. A program whose answer differs from the baseline's does other work, however fast it is.
    """
    differing = runs[runs["answer.same"].isin([False])] if "answer.same" in runs else runs.head(0)
    if len(differing):
        return f"its answer {differing.loc[differing['answer.difference'].astype(float).idxmax(), 'answer.said']}"
    reasons = [reason for reason in runs["reason"] if isinstance(reason, str) and reason]
    reasons += [reason for attempts in runs["lost_attempts"] for reason in attempts]
    why = f": {reasons[0]}" if reasons else ""
    if not count:
        return f"no usable run{why or f': no {measured_name} reported' * bool(runs['usable'].any())}"
    ignored = sorted({key for keys in runs.loc[runs["usable"], "ignored"] for key in keys})
    if ignored:
        return f"{', '.join(ignored)} did not take effect"
    if count < planned or lost > count:
        return f"{lost} of {lost + count} runs lost{why}"
    return "only one run, which shows no spread" if count == 1 < most else ""


@dataclass(frozen=True)
class Fresh:
    """Typical values of the best and the baseline, and the ratio of their rates. The interval needs no correction,
    because this is one comparison without a choice.

    `ratio` is None when the runs cannot be used; `problem` says why. `runs` has all confirming runs, used or not.
    """

    runs: pd.DataFrame
    best: Typical | None
    base: Typical | None
    ratio: Ratio | None
    problem: str


def fresh_runs(runs: pd.DataFrame, names: Sequence[str], best: Point, base: Point, measure: Measure) -> Fresh | None:
    """Returns the result of the confirming runs of these two points; None if either has none."""
    groups = [
        runs[[key == point for key in runs[list(names)].itertuples(index=False, name=None)]] for point in (best, base)
    ]
    if any(group.empty for group in groups):
        return None
    rows = [
        point_row(names, point, group, len(group), measure) for point, group in zip((best, base), groups, strict=True)
    ]
    problems = [f"{row['label']}: {row['left_out']}" for row in rows if row["left_out"]]
    if problems:
        return Fresh(pd.concat(groups), None, None, None, "; ".join(problems))
    values = [measured(group, measure.column) for group in groups]
    used = [group[group["usable"].astype(bool) & group[measure.column].notna()] for group in groups]
    both, rates = family(values), design([measure.rates(each) for each in values], run_blocks(used))
    return Fresh(pd.concat(groups), both.typical(0), both.typical(1), rates.contrast([(1, 0), (-1, 1)]), "")
