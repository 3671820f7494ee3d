"""Typical values, intervals and ratios that hold for the three to ten repetitions a sweep can afford.

All bandwidths are positive numbers of one unit; they are compared on the logarithmic scale, where a ratio
is a difference. Every interval names its method and its coverage. Nothing here needs more than the standard
library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, variance

from iolens.metrics.student import t_cdf, t_quantile

Term = tuple[float, Sequence[float]]
"""A weight and the positive values of one group."""

CONFIDENCE = 0.95
MEDIAN_FROM = 6
"""Repetitions from which [smallest, largest] covers the median with at least 95 % (1 - 2/2^6 = 96.9 %)."""


SINGLE = "single run, no interval"
GEOMETRIC = "geometric mean, t interval on logarithms with the spread of all points"
MEDIAN = "median, order-statistic interval"


@dataclass(frozen=True)
class Typical:
    """The typical value of repeated measurements, with an interval where the repetitions allow one.

    `low` and `high` are None for a single measurement; `coverage` is the probability (0 to 1) with which
    the method's interval holds the true value.
    """

    count: int
    value: float
    low: float | None
    high: float | None
    method: str
    coverage: float | None


@dataclass(frozen=True)
class Ratio:
    """A quotient of geometric means; `low` and `high` are its interval, None without repetitions."""

    value: float
    low: float | None
    high: float | None

    @property
    def is_clear(self) -> bool:
        """True when the interval excludes 1."""
        return self.low is not None and self.high is not None and (self.low > 1.0 or self.high < 1.0)


def typical(values: Sequence[float], confidence: float = CONFIDENCE) -> Typical:
    """The typical value of one group alone; see `Family.typical`."""
    return family([values]).typical(0, confidence)


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """The narrowest symmetric pair of order statistics that covers the median, and its exact coverage.

    Coverage of [x(k), x(n+1-k)] is 1 - 2 P(B <= k-1) with B binomial(n, 1/2), for any continuous
    distribution (W. J. Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2). Below six values
    even the extremes cover less than 95 %: the coverage returned says so.
    """
    ordered = sorted(values)
    n = len(ordered)
    best = 1
    for k in range(1, n // 2 + 1):
        if median_coverage(n, k) >= confidence:
            best = k
    return ordered[best - 1], ordered[n - best], median_coverage(n, best)


def median_coverage(n: int, k: int) -> float:
    """Probability that the k-th smallest and k-th largest of `n` values enclose the median."""
    return 1.0 - 2.0 * sum(math.comb(n, i) for i in range(k)) / 2.0**n


def ratio(values: Sequence[float], base: Sequence[float], confidence: float = CONFIDENCE) -> Ratio:
    """How many times `base` the `values` are: quotient of geometric means, with Welch's interval."""
    return contrast([(1.0, values), (-1.0, base)], confidence)


def contrast(terms: Sequence[Term], confidence: float = CONFIDENCE) -> Ratio:
    """exp of the weighted sum of mean logarithms of independent groups, with its interval (see `welch`)."""
    estimate, error, freedom = welch(terms)
    if error is None:
        return Ratio(math.exp(estimate), None, None)
    half = t_quantile(0.5 + confidence / 2, freedom) * error
    return Ratio(math.exp(estimate), math.exp(estimate - half), math.exp(estimate + half))


def welch(terms: Sequence[Term]) -> tuple[float, float | None, float]:
    """Estimate, standard error and degrees of freedom of a weighted sum of mean logarithms.

    The squared error is the sum of the v = weight^2 s^2 / n, the degrees of freedom are
    (sum v)^2 / sum(v^2 / (n-1)) (B. L. Welch, Biometrika 34, 1947). The error is None when a
    group has one value.
    """
    logs = [(weight, [math.log(v) for v in values]) for weight, values in terms]
    estimate = sum(weight * fmean(group) for weight, group in logs)
    if any(len(group) < 2 for _, group in logs):
        return estimate, None, 1.0
    parts = [(weight**2 * variance(group) / len(group), len(group) - 1) for weight, group in logs]
    total = sum(part for part, _ in parts)
    freedom = total**2 / sum(part**2 / df for part, df in parts) if total else 1.0
    return estimate, math.sqrt(total), freedom


@dataclass(frozen=True)
class Family:
    """Groups of repetitions that are compared with one of them, all statements holding together.

    Their relative spread is estimated from all groups at once, since three runs alone say little about it;
    a group that scatters more than the others keeps its own spread. `squares` are the squared spreads of
    the logarithms, `freedom` the degrees of freedom of the common one. A group of one value has no error of
    its own to show and takes part without interval.
    """

    groups: Sequence[Sequence[float]]
    squares: Sequence[float | None]
    freedom: int

    def typical(self, index: int, confidence: float = CONFIDENCE) -> Typical:
        """Below six values geometric mean and t interval on logarithms, else median and order statistics."""
        values, square = self.groups[index], self.squares[index]
        if len(values) >= MEDIAN_FROM:
            low, high, coverage = median_interval(values, confidence)
            return Typical(len(values), median(values), low, high, MEDIAN, coverage)
        mean = fmean(math.log(v) for v in values)
        if square is None:
            return Typical(1, values[0], None, None, SINGLE, None)
        half = t_quantile(0.5 + confidence / 2, self.freedom) * math.sqrt(square / len(values))
        return Typical(len(values), math.exp(mean), math.exp(mean - half), math.exp(mean + half), GEOMETRIC, confidence)

    def against(self, index: int, base: int, confidence: float = CONFIDENCE) -> Ratio:
        """Group `index` over group `base`; by Bonferroni the intervals of all groups hold together."""
        estimate, error = self.difference(index, base)
        if error is None:
            return Ratio(math.exp(estimate), None, None)
        alpha = (1.0 - confidence) / max(1, len(self.groups) - 1)
        half = t_quantile(1.0 - alpha / 2, self.freedom) * error
        return Ratio(math.exp(estimate), math.exp(estimate - half), math.exp(estimate + half))

    def not_told_from_best(self, confidence: float = CONFIDENCE) -> list[bool]:
        """For each group: can it not be told from the group with the largest geometric mean?

        A group is told apart when the one-sided p of its difference is at most (1 - confidence) / (groups -
        1). By the union bound over the rivals of the truly best group, that group stays in the set with
        probability `confidence` or more, although the reference was chosen from the same data.
        """
        means = [fmean(math.log(v) for v in group) for group in self.groups]
        best = means.index(max(means))
        threshold = (1.0 - confidence) / max(1, len(self.groups) - 1)
        return [index == best or self.p_below(index, best) > threshold for index in range(len(means))]

    def p_below(self, index: int, base: int) -> float:
        """One-sided p of data like these if group `index` were truly no lower than `base`; 1 when unknown."""
        estimate, error = self.difference(index, base)
        if error is None or estimate >= 0:
            return 1.0
        return t_cdf(estimate / error, self.freedom) if error else 0.0

    def difference(self, index: int, base: int) -> tuple[float, float | None]:
        """Difference of the mean logarithms of two groups, and its standard error."""
        means = [fmean(math.log(v) for v in self.groups[i]) for i in (index, base)]
        squares = [(self.squares[i], len(self.groups[i])) for i in (index, base)]
        parts = [square / count for square, count in squares if square is not None]
        return means[0] - means[1], math.sqrt(sum(parts)) if len(parts) == 2 else None


def family(groups: Sequence[Sequence[float]]) -> Family:
    """Groups of positive values as a family."""
    if any(not group or min(group) <= 0 for group in groups):
        raise ValueError("a group of measurements needs one or more positive values")
    own = [variance([math.log(v) for v in group]) if len(group) > 1 else None for group in groups]
    freedom = sum(len(group) - 1 for group in groups)
    total = sum(square * (len(group) - 1) for square, group in zip(own, groups, strict=True) if square is not None)
    common = total / freedom if freedom else 0.0
    return Family(groups, [None if square is None else max(square, common) for square in own], freedom)
