"""Which points of a sweep need more repetitions: those whose interval is still wider than the experiment wants."""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from pathlib import Path

from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.matrix import Point, Run, point_at, points
from iolens.lab.sweep.results import load_results

MOST = 20
"""Repetitions of a point at most, unless the experiment says otherwise."""


def most_repetitions(experiment: Experiment) -> int:
    """How often a point is run at most."""
    if experiment.until_interval is None:
        return experiment.repetitions
    return max(experiment.repetitions, experiment.until_repetitions or MOST)


def next_block(experiment: Experiment, folder: Path, given_up: Collection[str]) -> list[Run]:
    """One more run of every point whose 95 % interval reaches further than `until.interval` to either side of its
    typical value, on the average of both as a ratio; shuffled like the blocks before it.

    Looking at the interval to decide whether to go on makes it cover a little less than it says; the smaller the
    interval that is wanted against the first ones, the less.
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
    """The number of the last repetition of a point that has a record."""
    numbers = [
        int(path.parent.name.removeprefix("rep-")) for path in (folder / "points" / point.id).glob("rep-*/run.json")
    ]
    return max(numbers, default=0)


def begun_before(experiment: Experiment, folder: Path) -> list[Run]:
    """The repetitions beyond those of the experiment that an earlier sweep added."""
    return [
        Run(point, number)
        for point in points(experiment)
        for number in range(experiment.repetitions + 1, most_repetitions(experiment) + 1)
        if (folder / "points" / Run(point, number).id / "run.json").exists()
    ]
