"""Finds the runs that the results so far require: more repetitions of points that may be the best, and runs that
confirm the best.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.matrix import Point, Run, point_at
from iolens.lab.sweep.read.results import load_results
from iolens.metrics.statistics.intervals import Ratio

if TYPE_CHECKING:
    from iolens.metrics.comparison.results import Comparison


def next_block(experiment: Experiment, folder: Path, given_up: Collection[str]) -> list[Run]:
    """Returns one more run of the best point and of every point that can still be the best, as long as the 95 %
    interval of their ratio is wider than `until.interval`. The runs are shuffled, as in earlier blocks. The width is
    the average distance, as a ratio, from the typical value to both ends. If only one point is left, the interval of
    its own value counts.

    Because the interval itself decides whether runs continue, it contains the true value slightly less often than it
    promises. The effect is larger if the requested interval is much narrower than the first ones.
    """
    if experiment.until_interval is None:
        return []
    from iolens.metrics.comparison.results import compare

    results = load_results(folder)
    comparison = compare(results.runs, results.settings, results.measure)
    unsure = unsure_points(comparison, experiment.until_interval)
    block = []
    for index, row in comparison.points.iterrows():
        point = point_at(experiment, {name: row[name] for name in results.settings})
        number = _largest_repetition(folder, point) + 1
        if index in unsure and number <= experiment.most_repetitions and point.id not in given_up:
            block.append(Run(point, number))
    random.Random(f"{experiment.name}:{len(results.runs)}").shuffle(block)
    return block


def unsure_points(comparison: Comparison, widest: float) -> set[int]:
    """Returns the rows of the points that need more runs: the best, the points that may be the best and whose ratio to
    the best has an interval wider than `widest`, and points that are left out only because they have no second run.
    """
    points = comparison.points
    if comparison.to_best:
        rivals = {i for i, ratio in comparison.to_best.items() if points.loc[i, "tied"] and _is_unsure(ratio, widest)}
        rivals |= {comparison.best} if rivals and comparison.best is not None else set()
    else:
        values = {i: Ratio(row["value"], row["low"], row["high"]) for i, row in points.iterrows()}
        rivals = {int(i) for i, value in values.items() if _is_unsure(value, widest)}
    return rivals | {int(i) for i, row in points.iterrows() if row["left_out"] and not row["low"] > 0}


def _is_unsure(found: Ratio, widest: float) -> bool:
    """Returns whether an interval is wider than `widest` to either side, or does not exist."""
    if found.low is None or found.high is None or not found.low > 0 or not math.isfinite(found.high):
        return True
    return math.sqrt(found.high / found.low) - 1 > widest


def _largest_repetition(folder: Path, point: Point) -> int:
    """Returns the number of the latest repetition of a point that has a record."""
    numbers = [
        int(path.parent.name.removeprefix("rep-")) for path in (folder / "points" / point.id).glob("rep-*/run.json")
    ]
    return max(numbers, default=0)


def confirming(experiment: Experiment, folder: Path) -> list[Run]:
    """Returns the runs that follow the matrix; empty if no setting is better than the baseline.

    The best of many measured settings looks better than it is, because luck helped to select it. Runs that took no part
    in the selection are unbiased. The order of the two settings alternates with every repetition, so that drift affects
    both equally.
    """
    wanted = experiment.confirming_pairs
    if not wanted:
        return []
    from iolens.metrics.comparison.results import compare

    results = load_results(folder)
    found = compare(results.runs, results.settings, results.measure)
    if found.best is None or found.baseline is None or found.best == found.baseline:
        return []
    both = [point_at(experiment, dict(found.points.loc[i, list(found.settings)])) for i in (found.best, found.baseline)]
    return [Run(point, i) for i in range(1, wanted + 1) for point in (both if i % 2 else both[::-1])]
