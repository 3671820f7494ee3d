"""Compares ratios within blocks of runs with values computed by hand, Student's paired t test, and seeded
simulation.
"""

from __future__ import annotations

import importlib.util
import math
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from iolens.metrics.statistics.intervals import t_quantile
from iolens.metrics.statistics.paired import design, run_blocks, run_order

BENCH = Path(__file__).parents[1] / "bench" / "coverage.py"


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    """Imports the simulation whose tables are in report/STATISTICS.md."""
    spec = importlib.util.spec_from_file_location("coverage_of_intervals", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def noisy(generator: random.Random, count: int, spread: float = 0.05) -> list[float]:
    return [math.exp(generator.gauss(0.0, spread)) for _ in range(count)]


def test_two_points_in_blocks_are_compared_by_the_paired_t() -> None:
    # Logarithms of the ratios: 0.1, 0.2, 0.3, 0.4; mean 0.25, s = 0.129099, half width t_3 s / 2 = 3.182446 *
    # 0.0645497.
    base = [1.0, 5.0, 25.0, 125.0]
    other = [value * math.exp(log) for value, log in zip(base, (0.1, 0.2, 0.3, 0.4), strict=True)]
    found = design([base, other], [range(4)] * 2).contrast([(1, 1), (-1, 0)])
    assert found.value == pytest.approx(math.exp(0.25))
    assert found.high is not None
    assert math.log(found.high) - 0.25 == pytest.approx(t_quantile(0.975, 3) * 0.0645497, rel=0.05)


def test_drift_cancels_within_blocks_alone() -> None:
    speeds = [[100.0, 200.0, 400.0], [111.0, 219.0, 442.0]]
    paired, means = design(speeds, [range(3)] * 2), design(speeds)
    assert (paired.by_block, means.by_block) == (True, False)
    assert paired.against(0)[1].is_clear
    assert not means.against(0)[1].is_clear
    assert paired.against(0)[1].value == pytest.approx(means.against(0)[1].value)


def test_a_steady_trend_within_blocks_is_no_scatter() -> None:
    order = [[0, 5, 10, 13], [1, 7, 8, 15], [2, 4, 11, 12], [3, 6, 9, 14]]
    speeds = [[(1.1 if point == 1 else 1.0) * 1.05**place for place in places] for point, places in enumerate(order)]
    found = design(speeds, [range(4)] * 4, order).against(0)
    assert [one.value for one in found] == pytest.approx([1.0, 1.1, 1.0, 1.0])
    assert found[1].high is not None
    assert found[1].high < 1.101


def test_a_block_without_some_points_counts_for_those_it_has() -> None:
    """The third block is four times as fast, but holds only the second point, so it tells nothing about the ratio."""
    found = design([[100.0, 200.0], [110.0, 220.0, 900.0], [90.0, 180.0]], [[0, 1], [0, 1, 2], [0, 1]])
    assert found.by_block
    assert found.against(0)[1].value == pytest.approx(1.1)


def test_blocks_that_connect_nothing_are_not_used() -> None:
    assert not design([[1.0, 1.1], [2.0, 2.1]], [[0, 1], [2, 3]]).by_block


def test_equal_runs_have_narrow_intervals_and_still_ends() -> None:
    found = design([[4.0, 4.0], [2.0, 2.0]], [[0, 1]] * 2)
    assert found.against(1)[0].low == pytest.approx(2.0)
    assert found.can_be_best() == [True, False]


def test_single_runs_have_no_interval() -> None:
    found = design([[1.0], [9.0]], [[0]] * 2)
    assert (found.against(0)[1].low, found.contrast([(1, 1), (-1, 0)]).high) == (None, None)
    assert found.can_be_best() == [True, True]
    mixed = design([[1.0, 1.1], [9.0, 9.1], [7.0]])
    assert (mixed.against(1)[2].low, mixed.against(1)[2].high) == (None, None)
    assert mixed.against(1)[0].low is not None
    assert mixed.can_be_best()[2]


def test_two_runs_of_many_points_have_intervals_with_ends() -> None:
    found = design([[1.0, 1.5], *([2.0 + n, 6.0] for n in range(31))])
    assert all(one.low is not None and 0 < one.low < one.value < one.high < math.inf for one in found.against(0)[1:])


def test_no_or_impossible_values_are_refused() -> None:
    for values in ([], [0.0, 1.0], [-1.0]):
        with pytest.raises(ValueError, match="positive"):
            design([[1.0, 2.0], values])


def test_the_best_keeps_company_only_with_its_equals() -> None:
    groups = [[100.0, 101, 99], [300.0, 303, 297], [301.0, 299, 302], [50.0, 51, 49]]
    assert design(groups, [range(3)] * 4).can_be_best() == [False, True, True, False]
    assert design(groups).can_be_best() == [False, True, True, False]


def test_without_allowing_for_the_choice_the_best_would_be_left_out_too_often() -> None:
    generator = random.Random(7)
    trials, kept, naive = 25, 0, 0
    for _ in range(trials):
        found = design([noisy(generator, 5) for _ in range(18)], [range(5)] * 18)
        best = int(found.logs.argmax())
        high = found.contrast([(1, 0), (-1, best)], 0.1).high
        naive += best != 0 and high is not None and high < 1
        kept += found.can_be_best()[0]
    assert naive / trials > 0.1
    assert kept / trials >= 0.9


def test_a_wild_point_widens_its_own_interval_and_hardly_the_others() -> None:
    generator = random.Random(4)
    quiet = [noisy(generator, 3) for _ in range(12)]
    wild = [0.3, 1.0, 3.0]
    found, alone = design([*quiet, wild]).against(0), design(quiet).against(0)
    assert found[12].high / found[12].value > 5
    assert found[1].high / found[1].value < 1.5 * alone[1].high / alone[1].value


FEW = 40
SURE = 0.93 - 2.6 * math.sqrt(0.93 * 0.07 / FEW)
"""The lowest share of sweeps that still passes: a correct method with 93 % coverage falls below it in one test
of two hundred.
"""


@pytest.mark.parametrize("kind", ["equal", "baseline double", "baseline tenfold", "drift of 80 %", "10 % slow runs"])
def test_intervals_hold_as_often_as_the_page_says(simulation: ModuleType, kind: str) -> None:
    row = simulation.simulated(kind, 8, 3, FEW)
    assert min(row.together, row.best, row.effect) >= SURE


def test_a_gain_of_a_third_is_proven_among_eighteen_with_three_runs(simulation: ModuleType) -> None:
    row = simulation.simulated("equal", 18, 3, FEW, 1.3)
    assert row.found >= 0.9
    assert row.width < 1.3


def test_a_gain_of_a_tenth_is_proven_under_drift_by_blocks_alone(simulation: ModuleType) -> None:
    assert simulation.simulated("drift, scatter of 2 %", 4, 5, FEW, 1.1).found >= 0.95
    assert simulation.simulated("drift, scatter of 2 %", 4, 5, FEW, 1.1, blocked=False).found < 0.5


def frame(rows: Sequence[tuple[int, str | None]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["repetition", "started"])


def at(minute: int) -> str:
    return f"2026-11-21T10:{minute:02d}:00+00:00"


def test_a_block_is_a_repetition_of_every_point() -> None:
    parts = [frame([(1, at(0)), (2, at(5))]), frame([(1, at(1)), (2, at(4))])]
    assert run_blocks(parts) == [[1, 2], [1, 2]]


def test_the_order_of_runs_is_that_of_their_starts() -> None:
    parts = [frame([(1, at(0)), (2, at(5))]), frame([(1, at(1)), (2, at(5))])]
    assert run_order(parts) == [[0.25, 0.875], [0.5, 0.875]]


def test_a_run_made_again_is_of_the_block_that_was_under_way() -> None:
    parts = [frame([(r, at(10 * r + place)) for r in (1, 2, 3)]) for place in range(4)]
    parts[0].loc[0, "started"] = at(25)
    assert run_blocks(parts) == [[2, 2, 3], *[[1, 2, 3]] * 3]
    parts[0].loc[0, "started"] = at(50)
    assert run_blocks(parts) == [[4, 2, 3], *[[1, 2, 3]] * 3]


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [frame([(1, None), (2, at(1))])],
        [frame([(1, at(0)), (2, at(1))]), frame([(1, at(30)), (2, at(31))])],
        [frame([(1, at(9)), (2, at(1))])],
    ],
    ids=["none", "unknown start", "points one after the other", "backwards"],
)
def test_broken_blocks_are_none(parts: Sequence[pd.DataFrame]) -> None:
    assert run_blocks(parts) is None
