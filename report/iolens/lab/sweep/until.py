"""Find the points of a sweep that need more repetitions because their interval is wider than the experiment
requests.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from pathlib import Path

from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.matrix import Point, Run, point_at, points
from iolens.lab.sweep.results import load_results

MOST = 20
"""Default maximum number of repetitions per point."""


def most_repetitions(experiment: Experiment) -> int:
    """Returns the maximum number of runs of a point."""
    if experiment.until_interval is None:
        return experiment.repetitions
    return max(experiment.repetitions, experiment.until_repetitions or MOST)


def next_block(experiment: Experiment, folder: Path, given_up: Collection[str]) -> list[Run]:
    """Returns one more run of every point whose 95 % interval is wider than `until.interval`, in a shuffled order like
    earlier blocks. The width is the average distance, as a ratio, from the typical value to both ends.

    A decision to continue that depends on the interval makes the interval cover slightly less than it states; the
    effect is larger if the requested interval is small relative to the first ones.
    """
    if experiment.until_interval is None:
        return []
    from iolens.metrics.comparison import compare

    results = load_results(folder)
    found = compare(results.runs, results.settings, results.measure).points
    block = []
    for row in found.to_dict("records"):
        point = point_at(experiment, {name: row[name] for name in results.settings})
        number = largest_repetition(folder, point) + 1
        known = row["low"] > 0 and math.isfinite(row["high"])
        wide = not known or math.sqrt(row["high"] / row["low"]) - 1 > experiment.until_interval
        if wide and number <= most_repetitions(experiment) and point.id not in given_up:
            block.append(Run(point, number))
    random.Random(f"{experiment.name}:{len(results.runs)}").shuffle(block)
    return block


def largest_repetition(folder: Path, point: Point) -> int:
    """Returns the number of the latest repetition of a point that has a record."""
    numbers = [
        int(path.parent.name.removeprefix("rep-")) for path in (folder / "points" / point.id).glob("rep-*/run.json")
    ]
    return max(numbers, default=0)


def begun_before(experiment: Experiment, folder: Path) -> list[Run]:
    """Returns the repetitions that an earlier sweep added beyond those of the experiment."""
    return [
        Run(point, number)
        for point in points(experiment)
        for number in range(experiment.repetitions + 1, most_repetitions(experiment) + 1)
        if (folder / "points" / Run(point, number).id / "run.json").exists()
    ]
