"""Compares the statistics with published tables, hand-computed values, integration and seeded simulation."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence

import pytest
from iolens.metrics.statistics import intervals
from iolens.metrics.statistics import intervals as st

PUBLISHED_T = [
    # Columns: probability, degrees of freedom, t; from printed statistical tables.
    (0.90, 1, 3.078),
    (0.95, 1, 6.314),
    (0.975, 1, 12.706),
    (0.995, 1, 63.657),
    (0.975, 2, 4.303),
    (0.995, 2, 9.925),
    (0.9995, 2, 31.599),
    (0.95, 3, 2.353),
    (0.975, 3, 3.182),
    (0.975, 4, 2.776),
    (0.975, 5, 2.571),
    (0.99, 7, 2.998),
    (0.975, 10, 2.228),
    (0.95, 30, 1.697),
    (0.975, 120, 1.980),
    (0.975, 100000, 1.960),
]


@pytest.mark.parametrize(("probability", "freedom", "expected"), PUBLISHED_T)
def test_t_quantile_is_the_published_one(probability: float, freedom: int, expected: float) -> None:
    assert intervals.t_quantile(probability, freedom) == pytest.approx(expected, abs=6e-4)
    assert intervals.t_quantile(1 - probability, freedom) == pytest.approx(-expected, abs=6e-4)


@pytest.mark.parametrize("freedom", [1.0, 2.5, 3.7, 11.3])
def test_t_distribution_agrees_with_integration_of_its_density(freedom: float) -> None:
    def density(t: float) -> float:
        log = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
        return math.exp(log - (freedom + 1) / 2 * math.log1p(t * t / freedom))

    upper, steps = 1.7, 4000
    width = upper / steps
    simpson = sum((1 if i in (0, steps) else 4 if i % 2 else 2) * density(i * width) for i in range(steps + 1))
    assert intervals.t_cdf(upper, freedom) == pytest.approx(0.5 + simpson * width / 3, abs=1e-9)
    assert intervals.t_cdf(-upper, freedom) == pytest.approx(0.5 - simpson * width / 3, abs=1e-9)


def test_incomplete_beta_of_small_integers_by_hand() -> None:
    # The expected value follows from I_x(2,3) = 6x^2 - 8x^3 + 3x^4.
    assert intervals.incomplete_beta(0.3, 2, 3) == pytest.approx(0.54 - 0.216 + 0.0243, abs=1e-14)
    assert intervals.incomplete_beta(0.0, 2, 3) == 0.0
    assert intervals.incomplete_beta(1.0, 2, 3) == 1.0


def alone(values: Sequence[float]) -> st.Typical:
    return st.family([values]).typical(0)


def ratio(values: Sequence[float], base: Sequence[float]) -> st.Ratio:
    return st.family([values, base]).contrast([(1, 0), (-1, 1)])


def test_three_values_give_the_geometric_mean_and_a_t_interval() -> None:
    # The logarithms are 0, ln 2, ln 4: mean ln 2, s = ln 2, half width 4.3027 * ln 2 / sqrt(3) = 1.72189
    result = alone([1.0, 2.0, 4.0])
    assert result.value == pytest.approx(2.0)
    assert result.low == pytest.approx(2.0 * math.exp(-1.72189), rel=1e-4)
    assert result.high == pytest.approx(2.0 * math.exp(1.72189), rel=1e-4)
    assert result.coverage == 0.95
    assert "geometric mean" in result.method


def test_one_value_has_no_interval() -> None:
    result = alone([3.5])
    assert (result.value, result.low, result.high, result.coverage) == (3.5, None, None, None)
    assert "single" in result.method


@pytest.mark.parametrize(
    ("count", "low", "high", "coverage"),
    # The classical table of order-statistic intervals of the median; coverage = 1 - 2 P(B(n, 1/2) < k)
    [
        (6, 1, 6, 0.96875),
        (8, 1, 8, 0.9921875),
        (9, 2, 8, 0.9609375),
        (10, 2, 9, 0.978515625),
        (15, 4, 12, 0.96484375),
    ],
)
def test_median_interval_is_the_published_one(count: int, low: int, high: int, coverage: float) -> None:
    found = st.median_interval([float(v) for v in range(count, 0, -1)])
    assert found == (low, high, pytest.approx(coverage))


@pytest.mark.parametrize("count", [2, 5, 6, 7, 30])
def test_a_ratio_is_the_quotient_of_typical_values_however_many(count: int) -> None:
    family = st.family([[100.0] * (count - 1) + [400.0], [60.0 + n for n in range(count)]])
    assert family.against(0, 1).value == pytest.approx(family.typical(0).value / family.typical(1).value)


def test_five_values_do_not_pretend_to_cover_95_percent() -> None:
    assert st.median_interval([1, 2, 3, 4, 5]) == (1, 5, pytest.approx(0.9375))


def test_no_or_impossible_values_are_refused() -> None:
    for values in ([], [0.0, 1.0], [-1.0]):
        with pytest.raises(ValueError, match="above 0"):
            alone(values)


def test_ratio_by_hand() -> None:
    # Both groups have two values and s^2 = (ln 2)^2/2: squared error (ln 2)^2/2, df 1 each, half width 12.7062 ln(2) /
    # sqrt(2).
    result = ratio([4.0, 8.0], [1.0, 2.0])
    assert result.value == pytest.approx(4.0)
    half = 12.7062047 * math.log(2) / math.sqrt(2)
    assert result.low == pytest.approx(4 * math.exp(-half), rel=1e-6)
    assert result.high == pytest.approx(4 * math.exp(half), rel=1e-6)
    assert not result.is_clear


def test_ratio_without_repetitions_has_no_interval_and_is_never_clear() -> None:
    result = ratio([9.0], [3.0])
    assert result.low is None
    assert result.high is None
    assert not result.is_clear
    assert result.value == pytest.approx(3.0)


def test_ratio_of_exactly_repeating_values() -> None:
    assert ratio([4.0, 4.0], [2.0, 2.0]) == st.Ratio(pytest.approx(2.0), pytest.approx(2.0), pytest.approx(2.0))


def test_contrast_weighs_its_groups() -> None:
    # Mean effect over two settings of another parameter: (8/1)^(1/2) * (2/1)^(1/2) = 4.
    family = st.family([[8.0, 8.0], [1.0, 1.0], [2.0, 2.0], [1.0, 1.0]])
    assert family.contrast([(0.5, 0), (-0.5, 1), (0.5, 2), (-0.5, 3)]).value == pytest.approx(4.0)


def test_the_margin_by_hand() -> None:
    # Student's t at 5 % is 4.302653 for 2 and 2.776445 for 4 degrees of freedom.
    assert st.margin([(0.04, 2), (0.01, 4)], 0.05) == pytest.approx(
        math.sqrt(4.302653**2 * 0.04 + 2.776445**2 * 0.01), rel=1e-6
    )


def test_a_group_named_twice_counts_once() -> None:
    family = st.family([[4.0, 8.0], [1.0, 2.0]])
    assert family.contrast([(0.5, 0), (0.5, 0), (-1, 1)]) == family.contrast([(1, 0), (-1, 1)])


def test_without_any_repetition_nothing_can_be_told() -> None:
    singles = st.family([[1.0], [9.0]])
    assert singles.against(0, 1) == st.Ratio(pytest.approx(1 / 9), None, None)


def test_a_single_value_borrows_no_spread() -> None:
    """The ratio of a point has no interval if the point itself has none."""
    mixed = st.family([[1.0, 1.1], [9.0, 9.1, 9.2], [7.0]])
    assert (mixed.typical(2).low, mixed.against(2, 1).low, mixed.against(2, 1).high) == (None, None, None)


def test_a_quiet_neighbour_narrows_no_interval() -> None:
    wild, quiet = [50.0, 100.0, 200.0], [100.0, 100.1, 100.2]
    assert st.family([wild, *[quiet] * 6]).typical(0) == alone(wild)


def test_intervals_that_hold_together_are_wider() -> None:
    # There are two comparisons, so alpha is halved. Both groups have two runs and s^2 = (ln 2)^2 / 2, so the half width
    # is t_1 ln(2) / sqrt(2).
    family = st.family([[4.0, 8.0], [1.0, 2.0], [1.0, 1.0]])
    half = intervals.t_quantile(1 - 0.0125, 1) * math.log(2) / math.sqrt(2)
    assert family.against(0, 1).high == pytest.approx(4 * math.exp(half))
    alone = intervals.t_quantile(1 - 0.025, 1) * math.log(2) / math.sqrt(2)
    assert family.against(0, 1, comparisons=1).high == pytest.approx(4 * math.exp(alone))


def lognormal(generator: random.Random, count: int, spread: float = 0.15) -> list[float]:
    return [math.exp(generator.gauss(0.0, spread)) for _ in range(count)]


TRIALS = 1500
ERROR = 3.5 * math.sqrt(0.05 * 0.95 / TRIALS)
"""3.5 standard errors of a share of 95 % in this many trials: 2.0 percentage points."""


def promised(words: str) -> float:
    """Returns the coverage, from 0 to 1, that a sentence on a page promises."""
    return float(re.search(r"at least ([0-9.]+) %", words)[1]) / 100


def holds(found: st.Ratio | st.Typical) -> bool:
    return found.low is not None and found.high is not None and found.low <= 1.0 <= found.high


@pytest.mark.parametrize("count", range(2, 11))
@pytest.mark.parametrize("spread", [1, 2, 10])
def test_intervals_cover_what_the_page_says(count: int, spread: int) -> None:
    """The intervals hold for a setting that scatters 1, 2 or 10 times as much as its three neighbours, and for its
    ratio.
    """
    generator = random.Random(20261)
    typical, ratio = 0, 0
    for _ in range(TRIALS):
        odd = lognormal(generator, count, 0.05 * spread)
        family = st.family([odd, *(lognormal(generator, count, 0.05) for _ in range(3))])
        found = family.typical(0)
        typical += holds(found)
        ratio += holds(family.contrast([(1, 0), (-1, 1)]))
    assert typical / TRIALS >= promised(st.claim(found.method, found.coverage)) - ERROR
    assert ratio / TRIALS >= promised(st.claim(st.RATIO, st.CONFIDENCE)) - ERROR


@pytest.mark.parametrize("count", [3, 5, 10])
@pytest.mark.parametrize("spread", [1, 2, 10])
def test_a_mean_effect_covers_what_the_page_says(count: int, spread: int) -> None:
    """The mean of three pairs, one point of which scatters more."""
    generator = random.Random(5)
    hits = 0
    for _ in range(TRIALS):
        family = st.family([lognormal(generator, count, 0.05 * (spread if i == 0 else 1)) for i in range(6)])
        hits += holds(family.contrast([(sign / 3, i + j) for i in range(3) for sign, j in ((1, 0), (-1, 3))]))
    assert hits / TRIALS >= promised(st.claim(st.RATIO, st.CONFIDENCE)) - ERROR


def test_a_claim_is_never_rounded_up() -> None:
    assert "at least 96.8 %" in st.claim(st.GEOMETRIC, 0.96875)
    assert "at least 95.0 %" in st.claim(st.GEOMETRIC, 0.95)
    assert st.claim(st.SINGLE, None) == st.SINGLE


def test_an_interval_of_two_runs_each_and_many_comparisons_has_ends() -> None:
    """The half width on the logarithmic scale exceeds the largest representable number (exp(709.8))."""
    groups = [[1.0, 1.5], *([2.0 + n, 6.0] for n in range(31))]
    together = st.family(groups)
    assert st.margin([(summary.variance or 0, 1) for summary in together.summaries[:2]], together.share(0.95)) > 50
    found = together.against(1, 0, comparisons=10_000)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 1e-200 < found.value < 1e200 < found.high < math.inf
    assert not found.is_clear
