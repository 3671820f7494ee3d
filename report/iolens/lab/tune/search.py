"""Chooses the next setting: first the default, then the rule of thumb, with two sizes of stripes if the matrix has
them, then the setting for which the model expects the highest bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iolens.errors import UsageError
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.matrix import Point, matrix_points
from iolens.lab.tune.belief import Belief, believe, kernel
from iolens.lab.tune.features import Features, features_of
from iolens.lab.tune.machine import Array, Machines, draw, log_bandwidth
from iolens.lab.tune.refused import ignored_factors
from iolens.lab.tune.traits import Trait, traits
from iolens.metrics.comparison.settings import SETTINGS

_SEED = 1
_WORTH_A_RUN = 0.005
"""Minimum expected gain for which another run is made, as a share of the best bandwidth so far."""

_MOST_SETTINGS = 5000
"""Maximum number of settings, limited by the memory for the covariance of their departures."""

DEFAULT, RULE, MODEL = "default", "rule of thumb", "model"
OTHER_SIZE = "rule of thumb, other stripe size"


@dataclass(frozen=True)
class Choice:
    """The setting to try next and the reason. If the model chose it: the expected bandwidth with two standard
    deviations to either side, in the unit of the measured ones, and the `gain` over the best so far (a share).
    """

    place: int
    why: str
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    gain: float | None = None


@dataclass(frozen=True)
class Search:
    """A matrix to be searched: its points, their features, the points to begin with, the possible machines, the
    logarithms of their bandwidths (`logs`), and the covariance of departures from them.
    """

    points: tuple[Point, ...]
    features: tuple[Features, ...]
    machines: Machines
    begin: tuple[tuple[int, str], ...]
    logs: Array
    covariance: Array

    def next(self, measured: Mapping[int, float], failed: Sequence[int] = ()) -> Choice | None:
        """Returns the next choice after these runs: `measured` has a bandwidth by the number of the point. Returns None
        if no point is left, or if none is expected to gain enough.
        """
        left = [i for i in range(len(self.points)) if i not in measured and i not in failed]
        for place, why in self.begin:
            if place in left:
                return self.choice(place, why, measured)
        if not left or not measured:
            return Choice(left[0], DEFAULT) if left else None
        gains = self.belief(measured).improvement(math.log(max(measured.values())))
        place = max(left, key=lambda i: float(gains[i]))
        return self.choice(place, MODEL, measured) if gains[place] >= math.log1p(_WORTH_A_RUN) else None

    def belief(self, measured: Mapping[int, float]) -> Belief:
        """Returns the model's estimate after at least one run."""
        return believe(self.logs, self.covariance, {i: math.log(value) for i, value in measured.items()})

    def traits(self, measured: Mapping[int, float]) -> list[Trait]:
        """Returns the parameters of the estimated machine after at least one run, at the levels that the user-defined
        factors have in the best setting.
        """
        best = max(measured, key=lambda i: measured[i])
        return traits(self.machines, self.features, best, self.belief(measured))

    def choice(self, place: int, why: str, measured: Mapping[int, float]) -> Choice:
        """Returns the choice of this setting, with the bandwidth that the model expects of it; before the first run,
        the choice has no expected bandwidth.
        """
        if not measured:
            return Choice(place, why)
        belief = self.belief(measured)
        middle, two = float(belief.expected[place]), 2.0 * float(belief.spread[place])
        gain = math.expm1(float(belief.improvement(math.log(max(measured.values())))[place]))
        return Choice(place, why, math.exp(middle), math.exp(middle - two), math.exp(middle + two), gain)


def search_of(experiment: Experiment, file_bytes: int = 0) -> Search:
    """Returns the search of an experiment's matrix, in which a hint that the driver ignores keeps one level; raises
    UsageError if it is too large. `file_bytes` is the size of the largest file, 0 as long as no run has shown it.
    """
    fixed = {name: _usual_level(experiment, name) for name in ignored_factors(experiment)}
    found = [point for point in matrix_points(experiment) if all(point.settings[name] == fixed[name] for name in fixed)]
    if len(found) > _MOST_SETTINGS:
        raise UsageError(
            f"the matrix has {len(found)} settings, but a search takes at most {_MOST_SETTINGS}; remove some"
        )
    settings = tuple(features_of(experiment, point, file_bytes) for point in found)
    machines = draw(settings, _SEED)
    return Search(
        points=tuple(found),
        features=settings,
        machines=machines,
        begin=((_usual(experiment, found), DEFAULT), *_rules_of_thumb(experiment, found)),
        logs=log_bandwidth(machines, settings),
        covariance=kernel(settings),
    )


def _usual(experiment: Experiment, found: Sequence[Point]) -> int:
    """Returns the default point: default levels that the matrix has, else the lowest, and the first level of a
    user-defined factor.
    """
    return nearest_setting(found, {name: _usual_level(experiment, name) for name in experiment.matrix})


def _rules_of_thumb(experiment: Experiment, found: Sequence[Point]) -> list[tuple[int, str]]:
    """Returns the point that courses and manuals advise for one large shared file: stripes over all targets,
    aggregators that divide the stripes evenly, on all nodes; all other settings at their defaults. A second point has
    the stripe size that differs most from the default, because several writers may be faster than one with only one of
    the two sizes.
    """
    wanted = {name: _usual_level(experiment, name) for name in experiment.matrix}
    wanted |= {name: max(experiment.matrix[name]) for name in ("stripe_count", "nodes") if name in experiment.matrix}
    if "aggregators" in experiment.matrix:
        most = min(int(wanted.get("stripe_count", experiment.ranks)), experiment.ranks)
        levels = sorted(int(level) for level in experiment.matrix["aggregators"])
        wanted["aggregators"] = max((level for level in levels if level <= most), default=levels[0])
    rules = [(nearest_setting(found, wanted), RULE)]
    sizes = experiment.matrix.get("stripe_size", ())
    if len(sizes) > 1:
        other = max(sizes, key=lambda size: abs(math.log(size / wanted["stripe_size"])))
        rules.append((nearest_setting(found, {**wanted, "stripe_size": other}), OTHER_SIZE))
    return rules


def _usual_level(experiment: Experiment, name: str) -> Any:
    """Returns the default level of a factor."""
    levels = experiment.matrix[name]
    known = SETTINGS[name].usual if name in SETTINGS else None
    return known if known in levels else levels[0] if name in experiment.own else min(levels)


def nearest_setting(found: Sequence[Point], wanted: Mapping[str, Any]) -> int:
    """Returns the point with these levels; if conditions exclude it, the first point that differs in the
    fewest levels.
    """
    return min(range(len(found)), key=lambda i: sum(found[i].settings[name] != wanted[name] for name in wanted))
