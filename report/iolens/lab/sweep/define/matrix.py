"""The points of an experiment, and the order in which their repetitions run."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from iolens.lab.sizes import short_size
from iolens.lab.sweep.define.experiment import FACTORS, Experiment
from iolens.lab.sweep.define.expression import holds, parse_expression
from iolens.lab.values import slug

_ABBREVIATIONS = {
    "stripe_count": "sc",
    "stripe_size": "ss",
    "object_size": "os",
    "aggregators": "ag",
    "cb_buffer_size": "cb",
    "ranks": "np",
    "nodes": "nn",
}


@dataclass(frozen=True)
class Point:
    """One combination of settings."""

    settings: Mapping[str, int | str]

    @property
    def id(self) -> str:
        """Returns a readable folder name: `sc4_ag2_cb16M`, and `api-posix` for a user-defined factor."""
        return "_".join(_folder_part(key, value) for key, value in self.settings.items())

    @property
    def numbers(self) -> dict[str, int]:
        """Returns the settings that every workload knows, without user-defined factors."""
        return {key: int(value) for key, value in self.settings.items() if key in FACTORS}


def _folder_part(factor: str, level: int | str) -> str:
    """Returns a setting as part of a folder's name."""
    if isinstance(level, int):
        return f"{_ABBREVIATIONS[factor]}{short_size(level)}"
    return f"{factor}-{slug(level)}"


@dataclass(frozen=True)
class Run:
    """One repetition of one point."""

    point: Point
    repetition: int

    @property
    def id(self) -> str:
        """Returns the folder below the results: `sc4_ag2_cb16M/rep-1`."""
        return f"{self.point.id}/rep-{self.repetition}"


def matrix_points(experiment: Experiment) -> list[Point]:
    """Returns every combination of the matrix, the first factor slowest. Factors that go together take their levels
    side by side; combinations that a condition excludes are left out.
    """
    conditions = [parse_expression(text) for text in experiment.exclude]
    found = []
    for choice in product(*steps(experiment)):
        settings = {name: value for part in choice for name, value in part.items()}
        point = Point({name: settings[name] for name in experiment.matrix})
        if not any(holds(condition, point.settings) for condition in conditions):
            found.append(point)
    return found


def point_at(experiment: Experiment, levels: Mapping[str, object]) -> Point:
    """Returns the experiment's point with these levels."""
    return next(point for point in matrix_points(experiment) if dict(point.settings) == levels)


def steps(experiment: Experiment) -> list[list[dict[str, int | str]]]:
    """Returns the levels of each factor, or of each group of factors that go together, in the order of the matrix."""
    together = {name: group for group in experiment.together for name in group}
    groups = dict.fromkeys(together.get(name, (name,)) for name in experiment.matrix)
    return [
        [
            dict(zip(group, values, strict=True))
            for values in zip(*(experiment.matrix[name] for name in group), strict=True)
        ]
        for group in groups
    ]


def schedule(experiment: Experiment) -> list[Run]:
    """Returns all runs in blocks of one repetition of every point. A block is shuffled, and the one after it has the
    reverse order, so that a steady drift of the machine cancels in the two of them.

    The shuffle depends on the experiment's name alone, so an interrupted sweep continues in the same order.
    """
    runs: list[Run] = []
    block: list[Point] = []
    for repetition in range(1, experiment.repetitions + 1):
        if repetition % 2:
            block = matrix_points(experiment)
            random.Random(f"{experiment.name}:{repetition}").shuffle(block)
        else:
            block = block[::-1]
        runs += [Run(point, repetition) for point in block]
    return runs
