"""Ratios between the points of a sweep, from runs that are compared within their blocks.

A block is one repetition of every point. The logarithm of a rate is the sum of a term for its point, a term for its
block (which changes with drift), and scatter. Points and blocks are fitted together by weighted least squares; without
blocks, points are compared by their means. The intervals come from random draws of possible errors: variances by
`spreads`, normal scatter of every run, and the same fit. The intervals of a whole family therefore hold together
without a bound such as Bonferroni's. `tests/bench/coverage.py` simulates how often they hold; report/STATISTICS.md has
its table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iolens.metrics.statistics.intervals import CONFIDENCE, Ratio, Term, ratio_of
from iolens.metrics.statistics.spreads import spreads

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]
else:
    Array = Places = Any

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
