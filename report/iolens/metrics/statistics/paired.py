"""Ratios between the points of a sweep, from runs that are compared within their blocks, and the true spread of each
point's runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from iolens.lazy import pd
from iolens.metrics.statistics.intervals import CONFIDENCE, Ratio, Term, ratio_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]


_MOST_APART = 0.2
"""Maximum share of runs that may have been made apart from their repetition, such as failed runs that were repeated."""


def run_blocks(parts: Sequence[pd.DataFrame]) -> list[list[int]] | None:
    """Returns the number of each run's block, for the runs of each point. Returns None if the start of a run is
    unknown, or if the runs were not made repetition by repetition.

    A block is a repetition. A run that began while a later repetition was under way belongs to the later block. A run
    that was made before or after all others is a block by itself, so that it is compared with no other run.
    """
    runs = pd.concat(parts) if parts else pd.DataFrame()
    if runs.empty or "started" not in runs or runs["started"].isna().any():
        return None
    begun = pd.to_datetime(runs["started"], utc=True, format="ISO8601", errors="coerce")
    if begun.isna().any():
        return None
    seconds = [float(time.timestamp()) for time in begun]
    repetitions = [int(number) for number in runs["repetition"]]
    numbers = sorted(set(repetitions))
    middles = [_middle([s for s, r in zip(seconds, repetitions, strict=True) if r == number]) for number in numbers]
    if middles != sorted(middles):
        return None
    apart = _out_of_order(seconds, repetitions, dict(zip(numbers, middles, strict=True)))
    if sum(apart) > _MOST_APART * len(apart):
        return None
    found = _blocks(seconds, repetitions, apart)
    if found is None:
        return None
    numbers_left = iter(found)
    return [[next(numbers_left) for _ in range(len(part))] for part in parts]


def run_order(parts: Sequence[pd.DataFrame]) -> list[list[float]]:
    """Returns the position of each run in the order of starts, 0 to 1, for runs that have blocks (`run_blocks`). Runs
    that began in the same second have the same position.
    """
    begun = pd.to_datetime(pd.concat(parts)["started"], utc=True, format="ISO8601")
    places = iter((begun.rank() / len(begun)).tolist())
    return [[next(places) for _ in range(len(part))] for part in parts]


def _middle(seconds: Sequence[float]) -> float:
    """Returns the lower median of the values."""
    return sorted(seconds)[(len(seconds) - 1) // 2]


def _out_of_order(seconds: Sequence[float], repetitions: Sequence[int], middles: dict[int, float]) -> list[bool]:
    """Returns whether each run began after the middle of a later repetition, or before the middle of an earlier one."""
    return [
        any((other > own and begun > middle) or (other < own and begun < middle) for other, middle in middles.items())
        for begun, own in zip(seconds, repetitions, strict=True)
    ]


def _blocks(seconds: Sequence[float], repetitions: Sequence[int], apart: Sequence[bool]) -> list[int] | None:
    """Returns the blocks of runs, given which of them were made apart; None if repetitions overlap even without
    these.
    """
    whole = [(own, begun) for own, begun, far in zip(repetitions, seconds, apart, strict=True) if not far]
    spans = {own: [begun for one, begun in whole if one == own] for own in sorted({own for own, _ in whole})}
    ordered = list(spans.values())
    if any(max(one) > min(later) for one, later in pairwise(ordered)):
        return None
    found, alone = [], max(repetitions)
    for own, begun, far in zip(repetitions, seconds, apart, strict=True):
        under_way = [number for number, times in spans.items() if min(times) <= begun]
        if far and (not under_way or begun > max(ordered[-1])):
            alone += 1
            found.append(alone)
        else:
            found.append(under_way[-1] if far else own)
    return found


_ALIKE = (1.0, 4.0, 16.0)
"""Degrees of freedom with which the usual points may inform about one another's variance; all are equally likely a
priori.
"""

_ODD = 0.08
"""Minimum share of odd points that is expected a priori. If there are few points, one odd point is expected."""

_LARGEST, _STEEP = 1000.0, 0.2
"""Largest variance of an odd point as a multiple of the common one, and the power that makes larger variances more
likely a priori.
"""

_STEPS, _COMMON_STEPS, _BEYOND = 24, 60, 3.0
"""Number of steps for an odd point's variance and for the common one, and how far the logarithm of the common one may
lie outside the estimates.
"""


@dataclass(frozen=True)
class Spreads:
    """The probabilities of the variances behind some points' estimates.

    `variances` and `freedom` are the estimates with their degrees of freedom; `chances` has the probability of each
    pair of `alike` and `common` variance, and `odd` that of each point to be odd under that pair.
    """

    variances: Array
    freedom: Array
    common: Array
    chances: Array
    odd: Array

    def typical(self) -> Array:
        """Returns a variance for each point: the reciprocal of the expected reciprocal."""
        import numpy as np

        alike = np.array(_ALIKE)[:, None, None]
        usual = (alike + self.freedom) / (alike * self.common[:, None] + self.freedom * self.variances)
        inverse = usual * (1 - self.odd) + self.odd / self.variances
        return np.asarray(1 / (self.chances[:, :, None] * inverse).sum((0, 1)))

    def drawn(self, count: int, random: np.random.Generator) -> Array:
        """Returns `count` rows of variances, one column per point, as likely as the data make them."""
        import numpy as np

        places = random.choice(self.chances.size, count, p=self.chances.ravel())
        rows, columns = np.divmod(places, len(self.common))
        alike, common = np.array(_ALIKE)[rows][:, None], self.common[columns][:, None]
        scatter = random.chisquare(alike + self.freedom)
        found = (alike * common + self.freedom * self.variances) / scatter
        odd, points = np.nonzero(random.random(found.shape) < self.odd[rows, columns])
        factors, beforehand = _odd_factors()
        chances = beforehand * _density(
            (self.variances[points] / common[odd, 0])[:, None] / factors, self.freedom[points, None]
        )
        sums = chances.cumsum(1)
        chosen = (sums < random.random((len(odd), 1)) * sums[:, -1:]).sum(1)
        found[odd, points] = common[odd, 0] * factors[np.minimum(chosen, _STEPS - 1)]
        return np.asarray(found)


def spreads(variances: Array, freedom: Array) -> Spreads:
    """Returns the probabilities of the variances behind these estimates, which must be above 0."""
    import numpy as np

    logs = np.log(variances)
    common = np.exp(np.linspace(logs.min() - _BEYOND, logs.max() + _BEYOND, _COMMON_STEPS))
    quotients = variances / common[:, None]
    factors, beforehand = _odd_factors()
    share = max(_ODD, 1 / len(variances))
    odd = share * (_density(quotients[..., None] / factors, freedom[:, None]) * beforehand).sum(-1)
    usual = (1 - share) * np.stack([_usual_density(quotients, freedom, alike) for alike in _ALIKE])
    both = odd + usual + 1e-300
    chances = np.log(both).sum(2)
    chances = np.exp(chances - chances.max())
    return Spreads(variances, freedom, common, chances / chances.sum(), odd / both)


def _odd_factors() -> tuple[Array, Array]:
    """Returns the variances of outlying points, as multiples of the common variance, and their probabilities."""
    import numpy as np

    logs = np.linspace(0.0, math.log(_LARGEST), _STEPS)
    weights = np.exp(_STEEP * logs)
    return np.exp(logs), weights / weights.sum()


def _density(quotients: Array, freedom: Array) -> Array:
    """Returns the density of the logarithm of an estimated variance over the true one: chi-square over its freedom."""
    import numpy as np

    half = freedom / 2
    return np.asarray(np.exp(half * np.log(half * quotients) - half * quotients - _log_gamma(half)))


def _usual_density(quotients: Array, freedom: Array, alike: float) -> Array:
    """Returns the density of the logarithm of a usual point's estimated variance over the common one: Snedecor's F."""
    import numpy as np

    scaled = freedom * quotients / alike
    rest = _log_gamma((freedom + alike) / 2) - _log_gamma(freedom / 2) - math.lgamma(alike / 2)
    return np.asarray(np.exp(freedom / 2 * np.log(scaled) - (freedom + alike) / 2 * np.log1p(scaled) + rest))


def _log_gamma(values: Array) -> Array:
    """Returns the logarithm of the gamma function of each value."""
    import numpy as np

    return np.asarray(np.vectorize(math.lgamma, otypes=[float])(values))


_DRAWS, _SEED, _ROUNDS = 4000, 2026, 4
"""Number of draws of the errors, their seed, and the number of times that weights and fit are computed from one
another.
"""

_TREND_FROM = 8
"""A trend within blocks is estimated only with at least this number of degrees of freedom, because the trend uses one
of them.
"""

_ENOUGH = 500
"""Number of draws that estimate the usual size of each error. Errors are divided by their usual size, so that one
critical value serves all intervals that hold together.
"""

_BY_BLOCK = "each run is compared with the runs of its block, one repetition of every setting, so that drift cancels"
_BY_MEANS = "settings are compared by the means of their runs, because the blocks of runs are broken"

_LEAST_VARIANCE, _LEAST_FREEDOM = 1e-14, 1e-3
"""The smallest variance and degrees of freedom used in calculations, because runs may be equal to the last digit."""


@dataclass(frozen=True)
class Design:
    """The logarithms of the points' rates, up to a constant, and draws of their errors (rows), None without
    repetitions. `counts` are the points' runs; `by_block` says whether runs were compared within their blocks.
    """

    logs: Array
    errors: Array | None
    counts: Sequence[int]
    by_block: bool

    def contrast(self, terms: Sequence[Term], risk: float = 1.0 - CONFIDENCE) -> Ratio:
        """Returns exp of a weighted sum of logarithms whose weights sum to 0, with its interval: (1, a), (-1, b) is the
        ratio a / b. A point with a single run has no interval.
        """
        import numpy as np

        weights = np.zeros(len(self.logs))
        for weight, place in terms:
            weights[place] += weight
        estimate = float(weights @ self.logs)
        if self.errors is None or any(self.counts[place] < 2 for _, place in terms):
            return ratio_of(estimate, None)
        return ratio_of(estimate, float(np.quantile(np.abs(self.errors @ weights), 1.0 - risk)))

    def against(self, base: int) -> list[Ratio]:
        """Returns every point over the base, with intervals that all hold together."""
        import numpy as np

        if self.errors is None:
            return [self.contrast([(1, place), (-1, base)]) for place in range(len(self.logs))]
        errors, scale = self.differences(base)
        half = float(np.quantile(np.abs(errors / scale).max(1), CONFIDENCE)) * scale
        known = [place != base and min(self.counts[place], self.counts[base]) > 1 for place in range(len(self.logs))]
        ends = [float(end) if one else None for end, one in zip(half, known, strict=True)]
        return [ratio_of(float(log), end) for log, end in zip(self.logs - self.logs[base], ends, strict=True)]

    def can_be_best(self) -> list[bool]:
        """Returns for each point whether it can be the best (`may_be_best`)."""
        return [self.may_be_best(place) for place in range(len(self.logs))]

    def may_be_best(self, place: int) -> bool:
        """Returns whether a point can be the best.

        A point is excluded if another one is faster by more than the largest advantage that chance alone gives any
        other point over it in 95 % of cases. The best point therefore stays included with a probability of 95 %,
        however many points there are (J. C. Hsu, Multiple Comparisons, 1996, chapter 4).
        """
        import numpy as np

        known = np.array(self.counts) > 1
        if self.errors is None or not known[place]:
            return True
        errors, scale = self.differences(place)
        half = np.quantile((errors / scale).max(1), CONFIDENCE) * scale
        ahead = self.logs - self.logs[place] > half
        return not bool((ahead & known).any())

    def differences(self, base: int) -> tuple[Array, Array]:
        """Returns the draws of errors relative to the error of one point, and the usual size of each."""
        import numpy as np

        if self.errors is None:
            raise ValueError("without repetitions there are no errors")
        errors = self.errors - self.errors[:, [base]]
        scale = np.median(np.abs(errors[:_ENOUGH]), axis=0)
        scale[base] = 1.0
        return errors, np.maximum(scale, _LEAST_VARIANCE)


def method(by_block: bool) -> str:
    """Returns a sentence on how the ratios were computed, and on the coverage of their intervals."""
    return (
        f"{_BY_BLOCK if by_block else _BY_MEANS}; a setting's spread is estimated from its own and the others' runs, "
        f"and {100 * CONFIDENCE:.0f} % of intervals contain the true ratio (simulated: report/STATISTICS.md)"
    )


def design(
    groups: Sequence[Sequence[float]],
    blocks: Sequence[Sequence[int]] | None = None,
    order: Sequence[Sequence[float]] | None = None,
) -> Design:
    """Returns the points' rates, from groups of positive values with the number of each run's block and its place in
    the order of all runs.

    Without blocks, or if blocks do not connect all points, points are compared by their means. With an order and many
    runs, a steady trend within blocks is fitted, too.
    """
    import numpy as np

    counts = [len(group) for group in groups]
    if not groups or min(counts) < 1 or min(map(min, groups)) <= 0:
        raise ValueError("a group of measurements needs one or more positive values")
    points = np.repeat(np.arange(len(groups)), counts)
    logs = np.log(np.concatenate([np.asarray(group, float) for group in groups]))
    numbers = np.unique(np.concatenate(blocks), return_inverse=True)[1] if blocks else np.zeros(len(logs), int)
    table = _indicator_columns(points, numbers)
    if np.linalg.matrix_rank(table) < table.shape[1] or len(groups) == 1:
        numbers = np.zeros(len(logs), int)
        table = _indicator_columns(points, numbers)
    elif order is not None and numbers.any() and len(logs) - table.shape[1] >= _TREND_FROM:
        trend = np.hstack([table, np.concatenate([np.asarray(each, float) for each in order])[:, None]])
        table = trend if np.linalg.matrix_rank(trend) == trend.shape[1] else table
    return _fit_with_draws(logs, points, table, counts)


def _indicator_columns(points: Places, blocks: Places) -> Array:
    """Returns a column of zeros and ones for each point, and for each block but the first."""
    import numpy as np

    point = points[:, None] == np.arange(points.max() + 1)
    block = blocks[:, None] == np.arange(1, blocks.max() + 1)
    return np.hstack([point, block]).astype(float)


def _fit_with_draws(logs: Array, points: Places, table: Array, counts: Sequence[int]) -> Design:
    """Fits the logarithms by one value for each point and one for each block but the first; returns the values of the
    points, with random draws of their errors.
    """
    import numpy as np

    size, by_block = len(counts), table.shape[1] > len(counts)
    weights: Array = np.ones(len(logs))
    for last in range(_ROUNDS):
        fit = np.linalg.pinv(table.T @ (table * weights[:, None])) @ (table * weights[:, None]).T
        squares: Array = np.bincount(points, (logs - table @ (fit @ logs)) ** 2, size).astype(float)
        freedom: Array = np.bincount(points, 1 - (table * fit.T).sum(1), size).astype(float)
        if freedom.sum() < 0.5:
            return Design((fit @ logs)[:size], None, counts, by_block)
        if size == 2 or not by_block or last == _ROUNDS - 1:
            break
        variances, freedom = _estimated(squares, freedom)
        weights = 1 / spreads(variances, freedom).typical()[points]
        weights /= weights.mean()
    random = np.random.default_rng(_SEED)
    drawn = _variances_drawn(squares, freedom, by_block, random)
    errors = random.standard_normal((_DRAWS, len(logs))) * np.sqrt(drawn)[:, points] @ fit[:size].T
    return Design((fit @ logs)[:size], errors, counts, by_block)


def _variances_drawn(squares: Array, freedom: Array, by_block: bool, random: np.random.Generator) -> Array:
    """Returns rows of possible variances of the points.

    Two points in blocks have one variance, that of their difference, as in Student's paired t test. Two points without
    blocks each have their own variance: two points are too few to inform about one another.
    """
    import numpy as np

    if len(squares) == 2 and by_block:
        return np.repeat(squares.sum() / random.chisquare(freedom.sum(), (_DRAWS, 1)), 2, axis=1)
    variances, freedom = _estimated(squares, freedom)
    if len(squares) < 3:
        return np.asarray(freedom * variances / random.chisquare(freedom, (_DRAWS, len(squares))))
    return spreads(variances, freedom).drawn(_DRAWS, random)


def _estimated(squares: Array, freedom: Array) -> tuple[Array, Array]:
    """Returns variances and degrees of freedom that are above 0. A point without information from runs gets the usual
    variance.
    """
    import numpy as np

    known = freedom > _LEAST_FREEDOM
    usual = float(np.median(squares[known] / freedom[known]))
    variances = np.where(known, squares / np.where(known, freedom, 1.0), usual)
    return np.maximum(variances, _LEAST_VARIANCE), np.maximum(freedom, _LEAST_FREEDOM)
