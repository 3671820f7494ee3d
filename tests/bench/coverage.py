"""Measures how often a sweep's intervals contain the true values and detect differences, on made-up runs whose true
values are known.

    python tests/bench/coverage.py [SWEEPS]

prints the tables of report/STATISTICS.md. Each row simulates SWEEPS sweeps (200) of one kind, number of points and
number of repetitions, with fixed seeds. `all`: all ratios of points to the baseline lie in their intervals at once.
`best`: the best point is among those that can be the best. `effect`: the mean ratio of half of the points to the other
half lies in its interval. The seeds depend only on the row, so that a row is the same no matter which other rows are
simulated.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from iolens.metrics.statistics.paired import Design, design

NOISE = 0.05
"""Standard deviation of the logarithms of a point's runs."""

Scatter = Callable[[np.random.Generator, np.ndarray], np.ndarray]
"""A function that draws the random errors of a sweep's runs; the array has one entry for each point and repetition."""


def normal(random: np.random.Generator, order: np.ndarray) -> np.ndarray:
    """Returns random errors that are equally wide for all points."""
    return NOISE * random.standard_normal(order.shape)


def wider(factor: float, baseline: bool) -> Scatter:
    """Returns scatter that is wider by a factor at one point: the baseline, or any other."""

    def scatter(random: np.random.Generator, order: np.ndarray) -> np.ndarray:
        found = normal(random, order)
        found[0 if baseline else random.integers(1, len(order))] *= factor
        return found

    return scatter


def half_wider(random: np.random.Generator, order: np.ndarray) -> np.ndarray:
    """Returns random errors that are ten times as wide at every second point."""
    found = normal(random, order)
    found[1::2] *= 10
    return found


def drifting(random: np.random.Generator, order: np.ndarray) -> np.ndarray:
    """Returns random errors on a machine that becomes faster by 80 % in the course of the sweep."""
    return normal(random, order) + math.log(1.8) * order / order.size


def drifting_quietly(random: np.random.Generator, order: np.ndarray) -> np.ndarray:
    """Returns the drift of `drifting` with random errors of 2 %."""
    return 0.4 * normal(random, order) + math.log(1.8) * order / order.size


def outliers(random: np.random.Generator, order: np.ndarray) -> np.ndarray:
    """Returns scatter in which every tenth run is slower, 1.3 to 2 times."""
    slow = random.random(order.shape) < 0.1
    return normal(random, order) - slow * random.uniform(math.log(1.3), math.log(2), order.shape)


def related(random: np.random.Generator, order: np.ndarray) -> np.ndarray:
    """Returns scatter in which consecutive runs are similar: autocorrelation of 0.7."""
    series = np.empty(order.size)
    series[0] = random.standard_normal()
    for place in range(1, order.size):
        series[place] = 0.7 * series[place - 1] + math.sqrt(1 - 0.49) * random.standard_normal()
    return NOISE * series[order]


def bimodal(random: np.random.Generator, order: np.ndarray) -> np.ndarray:
    """Returns scatter around two speeds, 1.5 times apart, each for half of the runs."""
    return normal(random, order) - (random.random(order.shape) < 0.5) * math.log(1.5)


def two_speeds(baseline: bool) -> Scatter:
    """Returns scatter in which one point, the baseline or any other, has two speeds 1.5 times apart, each in half of
    its runs; its typical value is between them.
    """

    def scatter(random: np.random.Generator, order: np.ndarray) -> np.ndarray:
        found = normal(random, order)
        point = 0 if baseline else random.integers(1, len(order))
        found[point] += math.log(1.5) * ((random.random(order.shape[1]) < 0.5) - 0.5)
        return found

    return scatter


KINDS: Mapping[str, Scatter] = {
    "equal": normal,
    "one point double": wider(2, baseline=False),
    "baseline double": wider(2, baseline=True),
    "one point tenfold": wider(10, baseline=False),
    "baseline tenfold": wider(10, baseline=True),
    "every second tenfold": half_wider,
    "drift of 80 %": drifting,
    "drift, scatter of 2 %": drifting_quietly,
    "10 % slow runs": outliers,
    "autocorrelation 0.7": related,
    "bimodal": bimodal,
    "one point of two speeds": two_speeds(baseline=False),
    "baseline of two speeds": two_speeds(baseline=True),
}

SIZES = ((2, 3), (4, 3), (4, 5), (8, 3), (8, 20), (18, 3), (24, 5))
"""Number of points and number of repetitions of each row of the tables."""


POWER = ((1.3, "equal", 18, 3), (1.1, "drift, scatter of 2 %", 18, 5), (1.1, "drift, scatter of 2 %", 4, 5))
"""For each simulation of power: the ratio of one point to the others, the kind of runs, the number of points and the
number of repetitions.
"""


@dataclass(frozen=True)
class CoverageRow:
    """Shares of simulated sweeps in which each statement holds, and the median width of a ratio's interval, as a
    factor.
    """

    together: float
    best: float
    effect: float
    found: float
    width: float


def shuffled(random: np.random.Generator, points: int, repetitions: int) -> np.ndarray:
    """Returns the order in which runs of the points are made: in every block each point runs once, in random order or
    in the reverse order of the block before.
    """
    places = np.argsort(random.random((points, repetitions)), axis=0)
    reverse = slice(1, None, 2)
    places[:, reverse] = points - 1 - places[:, : repetitions - 1 : 2]
    return np.asarray(places + points * np.arange(repetitions))


def simulated(
    kind: str, points: int, repetitions: int, sweeps: int, best: float = 1.0, blocked: bool = True
) -> CoverageRow:
    """Returns the shares of simulated sweeps in which each statement holds. All points of a sweep are equal, except for
    one that is `best` times as fast.
    """
    random = np.random.default_rng(zlib.crc32(f"{kind} {points} {repetitions} {best} {blocked}".encode()))
    truth = np.zeros(points)
    truth[1] = math.log(best)
    held, widths = np.zeros((sweeps, 4), bool), []
    for row in held:
        order = shuffled(random, points, repetitions)
        rates = np.exp(truth[:, None] + KINDS[kind](random, order))
        found = design(rates.tolist(), [range(repetitions)] * points if blocked else None, order.tolist())
        ratios = found.against(0)
        row[0] = all(one.low <= math.exp(true) <= one.high for one, true in zip(ratios[1:], truth[1:], strict=True))
        row[1] = found.may_be_best(1 if best > 1 else int(random.integers(points)))
        row[2] = effect_holds(found, truth)
        row[3] = int(np.argmax(found.logs)) == 1 and ratios[1].low > 1
        widths.append(ratios[1].high / ratios[1].value)
    return CoverageRow(*map(float, held.mean(0)), float(np.median(widths)))


def effect_holds(found: Design, truth: np.ndarray) -> bool:
    """Returns True if the interval of the mean ratio of odd-numbered points to even-numbered points contains the true
    value.
    """
    half = len(truth) // 2
    ratio = found.contrast(
        [(sign / half, 2 * pair + place) for pair in range(half) for place, sign in ((1, 1), (0, -1))]
    )
    return ratio.low <= math.exp(truth[1] / half) <= ratio.high


def main(arguments: Sequence[str]) -> None:
    """Prints the tables."""
    sweeps = int(arguments[0]) if arguments else 200
    sizes = [tuple(map(int, one.split("x"))) for one in arguments[1].split(",")] if len(arguments) > 1 else SIZES
    print("| runs | points × repetitions | all | best | effect | width |\n|---|---|---|---|---|---|")
    for kind in KINDS:
        for points, repetitions in sizes:
            row = simulated(kind, points, repetitions, sweeps)
            print(
                f"| {kind} | {points} × {repetitions} | {row.together:.1%} | {row.best:.1%} | {row.effect:.1%} | "
                f"× {row.width:.2f} |",
                flush=True,
            )
    print("\n| one point is faster | runs | proven | unpaired |\n|---|---|---|---|")
    for best, kind, points, repetitions in POWER:
        paired, means = (simulated(kind, points, repetitions, sweeps, best, blocked) for blocked in (True, False))
        print(f"| × {best} | {kind}, {points} × {repetitions} | {paired.found:.1%} | {means.found:.1%} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
