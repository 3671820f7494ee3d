"""The effect of each setting on the measure, alone and together with another setting, and the drift of the machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from iolens.lazy import pd
from iolens.metrics.comparison.settings import Measure, sorted_levels
from iolens.metrics.statistics.intervals import CONFIDENCE, Family, Ratio, ratio_of, t_quantile
from iolens.metrics.statistics.paired import Design

if TYPE_CHECKING:
    from iolens.metrics.comparison.settings import Measure


Point = tuple[Any, ...]
"""The levels of one point, in the order of the settings."""


@dataclass(frozen=True)
class PointGroups:
    """The comparable points: `family` has the rates of each point, `design` the estimates by which points are compared
    (None without points). `at` gives a point's position in both.
    """

    at: Mapping[Point, int]
    family: Family
    design: Design | None

    def contrast(self, weights: Sequence[tuple[float, Point]], candidates: int = 1) -> Ratio:
        """Returns a weighted ratio of points (`Design.contrast`).

        If the points were selected by their values, `candidates` is the number of points to select from; by
        Bonferroni's correction the interval then holds for each of them.
        """
        if self.design is None:
            raise ValueError("no point can be compared")
        return self.design.contrast([(w, self.at[point]) for w, point in weights], (1.0 - CONFIDENCE) / candidates)

    def mean(self, points: Sequence[Point]) -> Ratio:
        """Returns the geometric mean of points, from the spread of their own runs (`Family.contrast`)."""
        return self.family.contrast([(1 / len(points), self.at[point]) for point in points])


@dataclass(frozen=True)
class Interaction:
    """The effects of two settings alone and together, from `base` to `target` levels, averaged over the other settings.

    The target is the level of the best point; the intervals of the ratios hold although it was selected by its value.
    `synergy` = both / (first alone x second alone); 1 if the gains simply multiply. `cells` has one row per pair of
    levels: the settings' columns, `value`, `low`, `high` (of the measure, averaged over the other settings).
    """

    names: tuple[str, str]
    base: tuple[Any, Any]
    target: tuple[Any, Any]
    first: Ratio
    second: Ratio
    both: Ratio
    synergy: Ratio
    cells: pd.DataFrame


def effects(names: Sequence[str], factors: Sequence[str], groups: PointGroups, base: Point) -> pd.DataFrame:
    """Returns the effect of each level of each setting against its base level, the other settings balanced.

    A pair is two points that differ in this setting alone. Columns: `setting`, `base`, `level`, `pairs` (their number),
    `ratio` (geometric mean of the pairs' ratios) with `low` and `high`, and the `smallest` and `largest` ratio of a
    single pair.
    """
    rows = []
    for name in factors:
        index = names.index(name)
        for level in sorted_levels(key[index] for key in groups.at):
            pairs = [(key, _swap(key, index, base[index])) for key in groups.at if key[index] == level]
            pairs = [(key, other) for key, other in pairs if other in groups.at]
            if level == base[index] or not pairs:
                continue
            weight = 1 / len(pairs)
            mean = groups.contrast([term for a, b in pairs for term in ((weight, a), (-weight, b))])
            single = [groups.contrast([(1, a), (-1, b)]).value for a, b in pairs]
            rows.append(
                (
                    name,
                    base[index],
                    level,
                    len(pairs),
                    mean.value,
                    mean.low,
                    mean.high,
                    min(single),
                    max(single),
                )
            )
    numbers = ["ratio", "low", "high", "smallest", "largest"]
    frame = _frame_of(rows, ["setting", "base", "level", "pairs", *numbers], ("base", "level"))
    return frame.astype(dict.fromkeys(numbers, float))


def _swap(key: Point, index: int, level: Any) -> Point:
    """Returns the point with one level replaced."""
    return (*key[:index], level, *key[index + 1 :])


def interaction(
    names: Sequence[str], factors: Sequence[str], groups: PointGroups, base: Point, best: Point, measure: Measure
) -> Interaction | None:
    """Returns how stripes and aggregators (or the first two settings varied) act together.

    Returns None without two settings, or if too few points can be compared, for example because every run of a level
    was discarded.
    """
    pair = ("stripe_count", "aggregators")
    if not set(pair) <= set(factors):
        if len(factors) < 2:
            return None
        pair = (factors[0], factors[1])
    i, j = (names.index(name) for name in pair)
    rest = list(dict.fromkeys(_swap(_swap(key, i, None), j, None) for key in groups.at))

    def at(first: Any, second: Any) -> list[Point]:
        return [_swap(_swap(key, i, first), j, second) for key in rest]

    levels = {k: {key[k] for key in groups.at} for k in (i, j)}
    if min(map(len, levels.values())) < 2:
        return None
    low = (base[i], base[j])
    high = tuple(_target_level(levels[k], base[k], best[k]) for k in (i, j))
    candidates = (len(levels[i]) - 1) * (len(levels[j]) - 1)
    corners = {(a, b): at(a, b) for a in (low[0], high[0]) for b in (low[1], high[1])}
    if len(corners) < 4 or not all(key in groups.at for keys in corners.values() for key in keys):
        return None

    def combine(weights: Sequence[tuple[float, tuple[Any, Any]]]) -> Ratio:
        return groups.contrast([(w / len(rest), key) for w, corner in weights for key in corners[corner]], candidates)

    hh, hl, lh, ll = (high[0], high[1]), (high[0], low[1]), (low[0], high[1]), low
    return Interaction(
        names=pair,
        base=low,
        target=hh,
        first=combine([(1, hl), (-1, ll)]),
        second=combine([(1, lh), (-1, ll)]),
        both=combine([(1, hh), (-1, ll)]),
        synergy=combine([(1, hh), (-1, hl), (-1, lh), (1, ll)]),
        cells=_interaction_cells(pair, groups, i, j, at, measure),
    )


def _target_level(levels: Collection[Any], base: Any, best: Any) -> Any:
    """Returns the level to compare with the base: the best point's level, or the last other level if the best point has
    the base level. `levels` has at least one level besides the base.
    """
    return best if best != base else sorted_levels(level for level in levels if level != base)[-1]


def _interaction_cells(
    pair: tuple[str, str], groups: PointGroups, i: int, j: int, at: Callable[[Any, Any], list[Point]], measure: Measure
) -> pd.DataFrame:
    """Returns the measure at each pair of levels, averaged over the other settings; incomplete pairs are left out."""
    rows = []
    for a, b in product(*(sorted_levels(key[k] for key in groups.at) for k in (i, j))):
        keys = at(a, b)
        if all(key in groups.at for key in keys):
            mean = groups.mean(keys)
            rows.append((a, b, *measure.span(mean.value, mean.low, mean.high)))
    found = _frame_of(rows, [*pair, "value", "low", "high"], pair)
    return found.astype({"value": float, "low": float, "high": float})


def _frame_of(rows: Sequence[tuple[Any, ...]], columns: Sequence[str], levels: Sequence[str]) -> pd.DataFrame:
    """Returns rows as a frame in which the columns of `levels` keep their Python types, because pandas might convert
    them to plain text.
    """
    kinds = {name: object if name in levels else None for name in columns}
    return pd.DataFrame(
        {name: pd.Series([row[n] for row in rows], dtype=kinds[name]) for n, name in enumerate(columns)}
    )


_LEAST_FREEDOM = 3
"""Fewest degrees of freedom for which a trend can be distinguished from scatter."""


def drift(runs: pd.DataFrame, measure: Measure) -> Ratio | None:
    """Returns how much faster the last run of a sweep is expected to be than the first, whatever their settings, with
    its 95 % interval; None if too few settings ran more than once.

    `runs` have their point in `point`. A straight line is fitted by least squares through the logarithms of the rates
    over the runs' place in the order of starts (0 to 1). From both, the mean over all runs of the same point is
    subtracted, so that settings do not matter. The interval is Student's, from the scatter around the line.
    """
    import numpy as np

    usable = runs[runs["usable"].astype(bool) & runs[measure.column].notna() & runs["started"].notna()]
    if len(usable) < _LEAST_FREEDOM:
        return None
    usable = usable.sort_values(["started", "repetition"], kind="stable")
    rates = measure.rates([float(value) for value in usable[measure.column]])
    table = pd.DataFrame(
        {"point": usable["point"].to_numpy(), "x": np.linspace(0.0, 1.0, len(usable)), "y": np.log(rates)}
    )
    x, y = (table[name] - table.groupby("point")[name].transform("mean") for name in ("x", "y"))
    freedom, spread = len(table) - table["point"].nunique() - 1, float((x * x).sum())
    if freedom < _LEAST_FREEDOM or spread <= 0:
        return None
    slope = float((x * y).sum()) / spread
    error = math.sqrt(float(((y - slope * x) ** 2).sum()) / freedom / spread)
    half = t_quantile(0.5 + CONFIDENCE / 2, freedom) * error
    return ratio_of(slope, half)
