"""The statistics against published tables, hand-computed values, integration and seeded simulation."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from iolens.metrics import statistics as st
from iolens.metrics import student

PUBLISHED_T = [
    # probability, degrees of freedom, t: the tables printed in any statistics book
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
    assert student.t_quantile(probability, freedom) == pytest.approx(expected, abs=6e-4)
    assert student.t_quantile(1 - probability, freedom) == pytest.approx(-expected, abs=6e-4)


@pytest.mark.parametrize("freedom", [1.0, 2.5, 3.7, 11.3])
def test_t_distribution_agrees_with_integration_of_its_density(freedom: float) -> None:
    def density(t: float) -> float:
        log = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
        return math.exp(log - (freedom + 1) / 2 * math.log1p(t * t / freedom))

    upper, steps = 1.7, 4000
    width = upper / steps
    simpson = sum((1 if i in (0, steps) else 4 if i % 2 else 2) * density(i * width) for i in range(steps + 1))
    assert student.t_cdf(upper, freedom) == pytest.approx(0.5 + simpson * width / 3, abs=1e-9)
    assert student.t_cdf(-upper, freedom) == pytest.approx(0.5 - simpson * width / 3, abs=1e-9)


def test_incomplete_beta_of_small_integers_by_hand() -> None:
    # I_x(2,3) = 6x^2 - 8x^3 + 3x^4
    assert student.incomplete_beta(0.3, 2, 3) == pytest.approx(0.54 - 0.216 + 0.0243, abs=1e-14)
    assert student.incomplete_beta(0.0, 2, 3) == 0.0
    assert student.incomplete_beta(1.0, 2, 3) == 1.0


def alone(values: Sequence[float]) -> st.Typical:
    return st.family([values]).typical(0)


def ratio(values: Sequence[float], base: Sequence[float]) -> st.Ratio:
    return st.family([values, base]).contrast([(1, 0), (-1, 1)])


def test_three_values_give_the_geometric_mean_and_a_t_interval() -> None:
    # logs 0, ln 2, ln 4: mean ln 2, s = ln 2, half width 4.3027 * ln 2 / sqrt(3) = 1.72189
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
    # the classical table of order-statistic intervals of the median; coverage = 1 - 2 P(B(n, 1/2) < k)
    [
        (6, 1, 6, 0.96875),
        (8, 1, 8, 0.9921875),
        (9, 2, 8, 0.9609375),
        (10, 2, 9, 0.978515625),
        (15, 4, 12, 0.96484375),
    ],
)
def test_median_interval_is_the_published_one(count: int, low: int, high: int, coverage: float) -> None:
    result = alone([float(v) for v in range(count, 0, -1)])
    assert result.value == (count + 1) / 2
    assert (result.low, result.high, result.coverage) == (low, high, pytest.approx(coverage))
    assert "median" in result.method


def test_five_values_do_not_pretend_to_cover_95_percent() -> None:
    assert st.median_interval([1, 2, 3, 4, 5]) == (1, 5, pytest.approx(0.9375))


def test_no_or_impossible_values_are_refused() -> None:
    for values in ([], [0.0, 1.0], [-1.0]):
        with pytest.raises(ValueError, match="positive"):
            alone(values)


def test_ratio_by_hand() -> None:
    # both groups s^2 = (ln 2)^2/2 of 2 values: variance (ln 2)^2/2, df 2, half width 4.3027 ln(2) / sqrt(2)
    result = ratio([4.0, 8.0], [1.0, 2.0])
    assert result.value == pytest.approx(4.0)
    half = 4.302653 * math.log(2) / math.sqrt(2)
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
    assert st.family([[2.0, 2.0], [4.0, 4.0]]).p_below(0, 1) == 0.0
    assert st.family([[2.0, 2.0], [2.0, 2.0]]).p_below(0, 1) == 1.0


def test_contrast_weighs_its_groups() -> None:
    # (8/1)^(1/2) * (2/1)^(1/2) = 4: the mean effect over two settings of another parameter
    family = st.family([[8.0, 8.0], [1.0, 1.0], [2.0, 2.0], [1.0, 1.0]])
    assert family.contrast([(0.5, 0), (-0.5, 1), (0.5, 2), (-0.5, 3)]).value == pytest.approx(4.0)


PUBLISHED_F = [(0.95, 1, 10, 4.965), (0.95, 2, 4, 6.944), (0.99, 2, 30, 5.390), (0.99, 5, 5, 10.967)]


@pytest.mark.parametrize(("probability", "above", "below", "expected"), PUBLISHED_F)
def test_f_quantile_is_the_published_one(probability: float, above: int, below: int, expected: float) -> None:
    assert student.f_quantile(probability, above, below) == pytest.approx(expected, abs=6e-4)


def test_degrees_of_freedom_by_welch() -> None:
    # six quiet groups and a wild one, which keeps its own spread: v1 = s1^2/3 with 2, v2 = s2^2/3 with 14 degrees
    quiet = [[1.00, 1.01, 1.02]] * 6
    family = st.family([[1.0, 2.0, 4.0], *quiet])
    wild, common = family.spreads[0], family.spreads[1]
    assert wild is not None
    assert common is not None
    assert (wild.own, wild.freedom, wild.square) == (True, 2, pytest.approx(math.log(2) ** 2))
    assert (common.own, common.freedom) == (False, 14)
    _, error, freedom = family.combine([(1, 0), (-1, 1)])
    v1, v2 = wild.square / 3, common.square / 3
    assert error == pytest.approx(math.sqrt(v1 + v2))
    assert freedom == pytest.approx((v1 + v2) ** 2 / (v1**2 / 2 + v2**2 / 14))


def test_the_best_keeps_company_only_with_its_equals() -> None:
    groups = [[100.0, 101, 99], [300.0, 303, 297], [301.0, 299, 302], [50.0, 51, 49]]
    assert st.family(groups).not_told_from_best() == [False, True, True, False]


def test_without_any_repetition_nothing_can_be_told() -> None:
    singles = st.family([[1.0], [9.0]])
    assert singles.not_told_from_best() == [True, True]
    assert singles.against(0, 1) == st.Ratio(pytest.approx(1 / 9), None, None)


def test_a_single_value_among_repeated_ones_borrows_their_spread() -> None:
    mixed = st.family([[1.0, 1.1], [9.0, 9.1, 9.2], [7.0], [9.0]])
    assert mixed.not_told_from_best() == [False, True, False, True]
    # pooled s^2 of the repeated groups with 1 + 2 degrees of freedom; error^2 = s^2 (1 + 1/3)
    logs = [math.log(v) for v in (9.0, 9.1, 9.2)]
    square = (math.log(1.1) ** 2 / 2 + sum((v - sum(logs) / 3) ** 2 for v in logs)) / 3
    _, error, freedom = mixed.combine([(1, 2), (-1, 1)])
    assert (error, freedom) == (pytest.approx(math.sqrt(square * 4 / 3)), pytest.approx(3))
    assert mixed.typical(2).low is None


def test_family_interval_by_hand() -> None:
    # two groups of two with s^2 = (ln 2)^2/2 each: common s^2 the same, df 2, one comparison
    result = st.family([[4.0, 8.0], [1.0, 2.0]]).against(0, 1)
    half = 4.302653 * math.log(2) / math.sqrt(2)
    assert result.value == pytest.approx(4.0)
    assert result.low == pytest.approx(4 * math.exp(-half), rel=1e-6)
    # a third group, exactly repeated: the common s^2 falls to 2/3, the others keep theirs; df 3, alpha/2
    third = st.family([[4.0, 8.0], [1.0, 2.0], [1.0, 1.0]])
    assert third.spreads[2] == st.Spread(pytest.approx(math.log(2) ** 2 / 3), 3, own=False)
    half = student.t_quantile(1 - 0.0125, 3) * math.log(2) / math.sqrt(2)
    assert third.against(0, 1).high == pytest.approx(4 * math.exp(half))


def lognormal(generator: random.Random, count: int, spread: float = 0.15) -> list[float]:
    return [math.exp(generator.gauss(0.0, spread)) for _ in range(count)]


@pytest.mark.parametrize("count", [2, 3, 5, 6, 10])
def test_intervals_cover_what_they_promise(count: int) -> None:
    """1500 trials: three standard errors of a 95 % share are 1.7 percentage points."""
    generator = random.Random(20261)
    trials, hits, promised = 1500, 0, 0.0
    for _ in range(trials):
        result = alone(lognormal(generator, count))
        assert result.low is not None
        assert result.high is not None
        assert result.coverage is not None
        promised = result.coverage
        hits += result.low <= 1.0 <= result.high
    assert hits / trials == pytest.approx(promised, abs=0.017)


@pytest.mark.parametrize(("first", "second"), [((3, 0.1), (3, 0.1)), ((3, 0.05), (4, 0.15)), ((6, 0.02), (3, 0.2))])
def test_ratios_cover_95_percent(first: tuple[int, float], second: tuple[int, float]) -> None:
    """Two settings among nine, one of them perhaps wilder than the rest."""
    generator = random.Random(4)
    trials, hits = 600, 0
    for _ in range(trials):
        rest = [lognormal(generator, 3, first[1]) for _ in range(7)]
        family = st.family([lognormal(generator, *first), lognormal(generator, *second), *rest])
        r = family.contrast([(1, 0), (-1, 1)])
        hits += r.low is not None and r.high is not None and r.low <= 1 <= r.high
    assert hits / trials >= 0.92


EQUAL = [0.15] * 18
QUIET_AND_NOISY = [0.02] * 9 + [0.3] * 9


@pytest.mark.parametrize(("spreads", "truly_best"), [(EQUAL, 0), (QUIET_AND_NOISY, 0), (QUIET_AND_NOISY, 17)])
def test_the_truly_best_is_rarely_left_out(spreads: list[float], truly_best: int) -> None:
    """Eighteen equal settings, three runs each: the family-wise error is at most 5 %, whoever scatters."""
    generator = random.Random(7)
    trials, left_out = 400, 0
    for _ in range(trials):
        family = st.family([lognormal(generator, 3, spread) for spread in spreads])
        left_out += not family.not_told_from_best()[truly_best]
    assert left_out / trials <= 0.05


def test_the_intervals_of_a_family_hold_together() -> None:
    generator = random.Random(11)
    trials, hits = 200, 0
    for _ in range(trials):
        family = st.family([lognormal(generator, 3) for _ in range(9)])
        ratios = [family.against(i, 0) for i in range(1, 9)]
        hits += all(r.low is not None and r.high is not None and r.low <= 1 <= r.high for r in ratios)
    assert hits / trials >= 0.95


def test_without_the_correction_the_best_would_be_left_out_too_often() -> None:
    generator = random.Random(7)
    trials, left_out = 200, 0
    for _ in range(trials):
        groups = [lognormal(generator, 3) for _ in range(18)]
        best = max(range(18), key=lambda i: math.prod(groups[i]))
        left_out += best != 0 and st.family(groups).p_below(0, best) <= 0.05
    assert left_out / trials > 0.2


def test_twice_as_slow_is_told_apart_among_many_with_three_runs() -> None:
    generator = random.Random(3)
    groups = [lognormal(generator, 3, 0.08) for _ in range(79)]
    groups.append([2.0 * v for v in lognormal(generator, 3, 0.08)])
    assert sum(st.family(groups).not_told_from_best()) <= 5  # itself, and the few that scatter clearly more
