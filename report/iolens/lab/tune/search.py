"""Which setting to try next: the default, the rule of thumb, then what the model of the machine expects most of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iolens.errors import UsageError
from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.matrix import Point, points
from iolens.lab.tune.belief import Belief, believe, kernel
from iolens.lab.tune.features import Features, features_of
from iolens.lab.tune.machine import Array, Machines, draw, log_bandwidth
from iolens.lab.tune.traits import Trait, traits
from iolens.metrics.settings import SETTINGS

SEED = 1
WORTH_A_RUN = 0.005
"""The expected gain over the best so far, as a share of it, below which no further run is made."""

MOST_SETTINGS = 5000
"""What the covariance of their departures leaves room for in memory."""

DEFAULT, RULE, MODEL = "default", "rule of thumb", "model"


@dataclass(frozen=True)
class Choice:
    """The setting to try next and why. Where the model chose it: the bandwidth that it expects, with two standard
    deviations to either side, in the unit of those measured, and the `gain` over the best that it hopes for (a share).
    """

    place: int
    why: str
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    gain: float | None = None


@dataclass(frozen=True)
class Search:
    """A matrix to be searched: its points, their features, those to begin with, the machines that there may be, the
    logarithms of their bandwidths (`logs`), and the covariance of the departures from them."""

    points: tuple[Point, ...]
    features: tuple[Features, ...]
    machines: Machines
    begin: tuple[tuple[int, str], ...]
    logs: Array
    covariance: Array

    def next(self, measured: Mapping[int, float], failed: Sequence[int] = ()) -> Choice | None:
        """What to try after these runs: `measured` has a bandwidth by the number of the point. None when no point is
        left, or none is expected to be better by as much as is worth a run."""
        left = [i for i in range(len(self.points)) if i not in measured and i not in failed]
        for place, why in self.begin:
            if place in left:
                return self.choice(place, why, measured)
        if not left or not measured:
            return Choice(left[0], DEFAULT) if left else None
        gains = self.belief(measured).improvement(math.log(max(measured.values())))
        place = max(left, key=lambda i: float(gains[i]))
        return self.choice(place, MODEL, measured) if gains[place] >= math.log1p(WORTH_A_RUN) else None

    def belief(self, measured: Mapping[int, float]) -> Belief:
        """What the model believes after these runs, one at least."""
        return believe(self.logs, self.covariance, {i: math.log(value) for i, value in measured.items()})

    def traits(self, measured: Mapping[int, float]) -> list[Trait]:
        """The machine as it is believed to be after these runs, one at least, with the own factors as at the best."""
        best = max(measured, key=lambda i: measured[i])
        return traits(self.machines, self.features, best, self.belief(measured))

    def choice(self, place: int, why: str, measured: Mapping[int, float]) -> Choice:
        """A choice, with what the model expects of it once there is anything to tell from."""
        if not measured:
            return Choice(place, why)
        belief = self.belief(measured)
        middle, two = float(belief.expected[place]), 2.0 * float(belief.spread[place])
        gain = math.expm1(float(belief.improvement(math.log(max(measured.values())))[place]))
        return Choice(place, why, math.exp(middle), math.exp(middle - two), math.exp(middle + two), gain)


def search_of(experiment: Experiment) -> Search:
    """The search of an experiment's matrix; raises UsageError for one that is too large."""
    found = points(experiment)
    if len(found) > MOST_SETTINGS:
        raise UsageError(
            f"the matrix has {len(found)} settings, and a search takes at most {MOST_SETTINGS}: thin it out"
        )
    settings = tuple(features_of(experiment, point) for point in found)
    machines = draw(settings, SEED)
    return Search(
        points=tuple(found),
        features=settings,
        machines=machines,
        begin=((usual(experiment, found), DEFAULT), (rule_of_thumb(experiment, found), RULE)),
        logs=log_bandwidth(machines, settings),
        covariance=kernel(settings),
    )


def usual(experiment: Experiment, found: Sequence[Point]) -> int:
    """The point that one gets without asking: usual levels where the matrix has them, else the lowest, and the first of
    an own factor's."""
    return nearest(found, {name: usual_level(experiment, name) for name in experiment.matrix})


def rule_of_thumb(experiment: Experiment, found: Sequence[Point]) -> int:
    """The point that courses and manuals advise for one large shared file: stripes over all targets, and as many
    aggregators as share them, on all nodes; everything else as usual."""
    wanted = {name: usual_level(experiment, name) for name in experiment.matrix}
    wanted |= {name: max(experiment.matrix[name]) for name in ("stripe_count", "nodes") if name in experiment.matrix}
    if "aggregators" in experiment.matrix:
        most = min(int(wanted.get("stripe_count", experiment.ranks)), experiment.ranks)
        levels = sorted(int(level) for level in experiment.matrix["aggregators"])
        wanted["aggregators"] = max((level for level in levels if level <= most), default=levels[0])
    return nearest(found, wanted)


def usual_level(experiment: Experiment, name: str) -> Any:
    """The level of a factor that one gets without asking."""
    levels = experiment.matrix[name]
    known = SETTINGS[name].usual if name in SETTINGS else None
    return known if known in levels else levels[0] if name in experiment.own else min(levels)


def nearest(found: Sequence[Point], wanted: Mapping[str, Any]) -> int:
    """The point with these levels, else the first that differs in the fewest: conditions may exclude it."""
    return min(range(len(found)), key=lambda i: sum(found[i].settings[name] != wanted[name] for name in wanted))
