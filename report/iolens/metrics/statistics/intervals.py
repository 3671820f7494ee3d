"""Typical values, intervals and ratios that hold for the three to ten repetitions a sweep can afford."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean


def t_cdf(t: float, freedom: float) -> float:
    """Returns the distribution function of Student's t, by the incomplete beta function (Abramowitz, Stegun 26.7.1)."""
    tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)
    return 1.0 - tail if t > 0 else tail


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: float) -> float:
    """Returns the t below which a Student variable lies with `probability` (0 < probability < 1), by bisection."""
    if probability < 0.5:
        return -t_quantile(1.0 - probability, freedom)
    high = 1.0
    while t_cdf(high, freedom) < probability:
        high *= 2.0
    return _bisect(lambda t: t_cdf(t, freedom) - probability, 0.0, high)


def _bisect(function: Callable[[float], float], low: float, high: float) -> float:
    """Returns the root of an increasing `function` between `low` and `high`, to ten digits."""
    while high - low > 1e-10 * max(1.0, abs(high)):
        middle = (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Returns the regularised incomplete beta function I_x(a, b), by its continued fraction (ibid. 26.5.8)."""
    if x <= 0.0 or x >= 1.0:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(1.0 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front / (a * _beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Returns the continued fraction 1 + d1/(1 + d2/(1 + …)) of the incomplete beta function, innermost first."""
    terms = 20 + int(2 * math.sqrt(a + b))
    fraction = 1.0
    for m in range(terms, 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        fraction = 1.0 + odd / (1.0 + even / fraction)
    return fraction


Term = tuple[float, int]
"""A term of a sum of groups' means: the weight, and the index of the group."""

CONFIDENCE = 0.95
_FARTHEST = 600.0
"""Maximum logarithm of an end of an interval. exp(600) and its reciprocal may still be multiplied by a rate."""

SINGLE = "single run, no interval"
GEOMETRIC = "geometric mean, t interval on logarithms from the spread of its own runs"
RATIO = "quotient of geometric means, interval from the spread of either side's own runs"
PAIRED = "quotient of runs of one block, a repetition of every setting, so that drift cancels; t interval on logarithms"

_SUPPOSES = {
    GEOMETRIC: "if the runs scatter log-normally",
    RATIO: "if the runs scatter log-normally, even with unequal spreads",
    PAIRED: "if the quotients scatter log-normally",
}
"""Assumptions under which the coverage of a method holds."""


@dataclass(frozen=True)
class Typical:
    """The typical value of repeated measurements, with an interval where the repetitions allow one.

    `low` and `high` are None for a single measurement; `coverage` is the probability (0 to 1) with which the method's
    interval at least holds the true value.
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
        """Returns True when the interval excludes 1."""
        return self.low is not None and self.high is not None and (self.low > 1.0 or self.high < 1.0)


def ratio_of(estimate: float, half: float | None) -> Ratio:
    """Returns the ratio whose logarithm is `estimate`, with an interval of `half` to either side, if there is one.

    With two repetitions and many comparisons `half` may be thousands, more than a floating-point number has room for.
    An end beyond exp(±_FARTHEST) is set to that, which pages print as "< 0.0001" or "> 1000000".
    """
    logs = [estimate] if half is None else [estimate, estimate - half, estimate + half]
    value, *ends = (math.exp(min(max(log, -_FARTHEST), _FARTHEST)) for log in logs)
    return Ratio(value, *(ends or (None, None)))


def claim(method: str, coverage: float | None, together: bool = False) -> str:
    """Returns in words the coverage that a method's intervals promise, rounded down. `together` means that all
    intervals hold at once.
    """
    if coverage is None:
        return method
    share = math.floor(1000 * coverage + 1e-9) / 10
    return f"{method} ({'all together cover' if together else 'covers'} at least {share:.1f} % {_SUPPOSES[method]})"


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """Returns the narrowest symmetric pair of order statistics that covers the median, and its exact coverage.

    Coverage of [x(k), x(n+1-k)] is 1 - 2 P(B <= k-1) with B binomial(n, 1/2), for any continuous distribution (W. J.
    Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2). Below six values even the extremes cover less
    than 95 %: the coverage returned says so.
    """
    ordered = sorted(values)
    n = len(ordered)
    best = 1
    for k in range(1, n // 2 + 1):
        if _median_coverage(n, k) >= confidence:
            best = k
    return ordered[best - 1], ordered[n - best], _median_coverage(n, best)


def _median_coverage(n: int, k: int) -> float:
    """Returns the probability that the k-th smallest and k-th largest of `n` values enclose the median."""
    return 1.0 - 2.0 * sum(math.comb(n, i) for i in range(k)) / 2.0**n


@dataclass(frozen=True)
class Summary:
    """A group's repetitions on the logarithmic scale: their number, mean and variance (None for a single one)."""

    count: int
    mean: float
    variance: float | None


def margin(parts: Iterable[tuple[float, int]], risk: float) -> float:
    """Returns half the width of an interval for a sum of independent means whose spreads may all differ.

    `parts` has each mean's squared standard error v and its degrees of freedom f; `risk` is the probability with
    which the interval may miss the true value, on both sides together. The half width is the root of the sum of
    t_f^2 v, t_f being Student's quantile for this risk (S. K. Banerjee, Sankhya 22, 1960). It is at least as wide
    as it must be: the square of the standardised error is chi-square with one degree of freedom, whose distribution
    function is concave, and a concave function of the weighted sum is no less than the weighted sum of the
    functions, each of which is 1 - risk by the definition of t_f. Welch's degrees of freedom give narrower
    intervals, but those of three runs miss up to 1.2 times as often as they say, at the small risks of many
    comparisons up to 3.7 times.
    """
    return math.sqrt(sum(t_quantile(1.0 - risk / 2.0, freedom) ** 2 * square for square, freedom in parts))


@dataclass(frozen=True)
class Family:
    """Groups of repetitions that are compared with each other.

    A group of one repetition has no spread of its own: no ratio with it has an interval, and it differs significantly
    from no other group.
    """

    groups: Sequence[Sequence[float]]
    summaries: Sequence[Summary]

    def typical(self, index: int, confidence: float = CONFIDENCE) -> Typical:
        """Returns the geometric mean and the t interval on logarithms, so that the quotient of two typical values is
        their ratio.
        """
        values = self.groups[index]
        mean = self.contrast([(1.0, index)], 1.0 - confidence)
        if len(values) == 1:
            return Typical(len(values), mean.value, None, None, SINGLE, None)
        return Typical(len(values), mean.value, mean.low, mean.high, GEOMETRIC, confidence)

    def contrast(self, terms: Sequence[Term], risk: float = 1.0 - CONFIDENCE) -> Ratio:
        """Returns exp of a weighted sum of mean logarithms, with its interval: (1, a), (-1, b) is the ratio a / b.

        A group named more than once has the sum of its weights.
        """
        weights: dict[int, float] = {}
        for weight, index in terms:
            weights[index] = weights.get(index, 0.0) + weight
        estimate = math.fsum(weight * self.summaries[i].mean for i, weight in weights.items())
        parts = []
        for i, weight in weights.items():
            group = self.summaries[i]
            if group.variance is None:
                return ratio_of(estimate, None)
            parts.append((weight**2 * group.variance / group.count, group.count - 1))
        half = margin(parts, risk)
        return ratio_of(estimate, half)

    def against(self, index: int, base: int, confidence: float = CONFIDENCE, comparisons: int | None = None) -> Ratio:
        """Returns group `index` over group `base`. By Bonferroni's correction the intervals of all `comparisons` hold
        together; by default these are the comparisons of all other groups with the base.
        """
        return self.contrast([(1.0, index), (-1.0, base)], self.share(confidence, comparisons))

    def share(self, confidence: float, comparisons: int | None = None) -> float:
        """Returns the probability with which the interval of one comparison may miss the true value, if all
        `comparisons` together are to hold with `confidence`. By default, every other group is compared with one group.
        """
        return (1.0 - confidence) / max(1, len(self.groups) - 1 if comparisons is None else comparisons)


def family(groups: Sequence[Sequence[float]]) -> Family:
    """Returns groups of positive values as a family."""
    if any(not group or min(group) <= 0 for group in groups):
        raise ValueError("a group of measurements must not be empty, and each of its values must be above 0")
    return Family(groups, [_log_moments([math.log(value) for value in group]) for group in groups])


def _log_moments(logs: Sequence[float]) -> Summary:
    """Returns the number, mean and variance of these logarithms; the variance of a single one is None."""
    mean = fmean(logs)
    if len(logs) == 1:
        return Summary(1, mean, None)
    return Summary(len(logs), mean, math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1))
