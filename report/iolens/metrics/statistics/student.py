"""Student's t distribution to ten digits, from the standard library alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache


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
