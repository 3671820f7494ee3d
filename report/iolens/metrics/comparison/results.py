"""The results of a sweep: typical values per point, effects of each setting, their interaction, best and worst.

Input is the frame of runs (`Results.runs`): one row per run with the settings' columns, `usable`, `ignored`, the column
of the measure and `io_seconds`. Ratios and averages are geometric (see `statistics`), and ratios are those of rates:
above 1 is better (`measure.Measure`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iolens.lazy import pd
from iolens.log.job import EMULATED
from iolens.metrics.comparison.effects import Interaction, Point, PointGroups, effects, interaction
from iolens.metrics.comparison.points import Fresh, fresh_runs, measured, point_row
from iolens.metrics.comparison.settings import (
    BANDWIDTH,
    COSTLY,
    SETTINGS,
    Measure,
    joints,
    names_with,
    sorted_levels,
    with_joints,
)
from iolens.metrics.files.stripes.bound import bounds
from iolens.metrics.statistics.intervals import Ratio, family
from iolens.metrics.statistics.paired import design, run_blocks, run_order


@dataclass(frozen=True)
class Comparison:
    """The sweep in frames; `baseline`, `best` and `worst` are row labels of `points`.

    `settings` are the settings of the runs; in `factors`, `effects` and `interaction`, settings that change side by
    side are one (see `together`). `points`: the settings' columns, `label`, `planned` and `count` (usable) runs, `lost`
    (runs thrown away, repeated or not), `name` (the label and, where runs were lost, how many), `value`, `low`, `high`
    with `interval_method` and `coverage`, `seconds`, `seconds_low`, `seconds_high`, `left_out` (why, or empty), `tied`
    (cannot be distinguished from the best), `ratio`, `ratio_low`, `ratio_high` (of the rates, to the baseline; the
    intervals hold for all points together). `effects` and `interaction` are results of the module `effects`. `bound`
    and `bound_by` are those of `bound.bounds`, from the storage's `limits`. `runs`: the input and `point`, the row
    label in `points`. `measure`: the compared quantity; values are in its unit. `fresh`: the result of the runs that
    were made after the best was picked. `by_block`: whether ratios compare runs of the same block. `to_best`: for every
    other point that can be compared, its ratio to the best; each interval holds by itself. `equals`: row labels of the
    points, the best included, that were hardly slower than the fastest and cannot be distinguished from it; the best is
    the smallest of them.
    """

    measure: Measure
    settings: tuple[str, ...]
    factors: tuple[str, ...]
    runs: pd.DataFrame
    points: pd.DataFrame
    effects: pd.DataFrame
    interaction: Interaction | None
    baseline: int | None
    best: int | None
    worst: int | None
    fresh: Fresh | None
    limits: Mapping[str, float]
    by_block: bool
    to_best: Mapping[int, Ratio]
    equals: tuple[int, ...] = ()

    @property
    def proven(self) -> bool:
        """Returns True if the best is proven better than the baseline; if there are runs that confirm both, these alone
        decide.
        """
        if self.fresh is not None and self.fresh.ratio is not None:
            return self.fresh.ratio.is_clear and self.fresh.ratio.value > 1
        return self.best is not None and bool(self.points.loc[self.best, "ratio_low"] > 1)


HARDLY = 0.02
"""Largest share by which a point may be slower than the fastest and still be recommended because its settings are
smaller.
"""

_NUMBERS = ["value", "low", "high", "coverage", "seconds", "seconds_low", "seconds_high"]
_NUMBERS += ["ratio", "ratio_low", "ratio_high"]


def compare(
    runs: pd.DataFrame,
    settings: Sequence[str],
    measure: Measure = BANDWIDTH,
    fresh: pd.DataFrame | None = None,
    limits: Mapping[str, float] | None = None,
) -> Comparison:
    """Compares the points of a sweep by `measure`.

    `fresh` are further runs of some points that only confirm the result. `limits` are the parameters of the storage's
    model, from which the bound of each point follows.
    """
    together = joints(runs, settings) if len(runs) else []
    runs, names = with_joints(runs, together), names_with(settings, together)
    fresh = None if fresh is None else with_joints(fresh, together)
    keys = [tuple(row) for row in runs[list(names)].itertuples(index=False)] if names else [()] * len(runs)
    order = list(dict.fromkeys(keys))
    place_of = {key: i for i, key in enumerate(order)}
    runs = runs.assign(point=[place_of[key] for key in keys])
    parts = [part for _, part in runs.groupby("point")]
    values = [measured(part, measure.column) for part in parts]
    most = max(map(len, values), default=0)
    points = pd.DataFrame([point_row(names, *each, most, measure) for each in zip(order, parts, strict=True)])
    # Columns of objects keep the levels' Python types; a frame built from rows might convert them to text.
    for place, name in enumerate(names):
        points[name] = pd.Series([key[place] for key in order], dtype=object)
    for joint in together:
        for name in joint.names:
            points[name] = pd.Series([level.parts[name] for level in points[joint.name]], dtype=object)
    points = points.join([_typicals(values), _times(parts), bounds(parts, limits or {})])
    kept = [i for i in range(len(order)) if not points.loc[i, "left_out"]]
    ranked = points.loc[kept, "value"].astype(float)
    first, last = (ranked.idxmin, ranked.idxmax) if measure.less_is_better else (ranked.idxmax, ranked.idxmin)
    groups = groups_of([order[i] for i in kept], [parts[i] for i in kept], measure)
    tied = [i for i, is_tied in zip(kept, groups.design.can_be_best(), strict=True) if is_tied] if groups.design else []
    equals = _equals(points, settings, tied, int(first())) if kept else []
    best = equals[0] if equals else None
    factors = tuple(name for i, name in enumerate(names) if len({key[i] for key in order}) > 1)
    base = tuple(base_level(name, [key[i] for key in groups.at or order]) for i, name in enumerate(names))
    points = points.join(_ratio_columns(order, groups, base, {*tied, *equals}))
    points[_NUMBERS] = points[_NUMBERS].astype(float)
    baseline = order.index(base) if base in groups.at else None
    picked = (order[best], base) if best is not None and baseline not in (None, best) else None
    return Comparison(
        measure=measure,
        equals=tuple(equals),
        settings=tuple(settings),
        factors=factors,
        runs=runs,
        points=points,
        effects=effects(names, factors, groups, base),
        interaction=interaction(names, factors, groups, base, order[best], measure) if best is not None else None,
        baseline=baseline,
        best=best,
        worst=int(last()) if kept else None,
        limits=limits or {},
        fresh=fresh_runs(fresh, names, *picked, measure) if fresh is not None and picked else None,
        by_block=groups.design is not None and groups.design.by_block,
        to_best={i: groups.contrast([(1, order[i]), (-1, order[best])]) for i in kept if best not in (None, i)},
    )


def groups_of(order: Sequence[Point], parts: Sequence[pd.DataFrame], measure: Measure) -> PointGroups:
    """Returns the points that may be compared, given the runs of each; runs are compared within their blocks."""
    rates = [measure.rates(measured(part, measure.column)) for part in parts]
    at = {point: place for place, point in enumerate(order)}
    used = [part[part["usable"].astype(bool) & part[measure.column].notna()] for part in parts]
    if not rates:
        return PointGroups(at, family(rates), None)
    blocks = run_blocks(used)
    return PointGroups(at, family(rates), design(rates, blocks, None if blocks is None else run_order(used)))


def bounded(comparison: Comparison, device_rate: float) -> Comparison:
    """Returns the comparison with a device's rate (MiB/s) as the bound of the points that were not on emulated storage;
    returns it unchanged if the rate is 0.
    """
    if not device_rate:
        return comparison
    points, runs = comparison.points, comparison.runs
    real = [not (runs.loc[runs["point"] == index, "storage"] == EMULATED).any() for index in points.index]
    bound = points["bound"].where(points["bound"].notna() | ~pd.Series(real, index=points.index), device_rate)
    by = points["bound_by"].where(bound.isna() | points["bound"].notna(), "device")
    return replace(comparison, points=points.assign(bound=bound, bound_by=by))


def _typicals(groups: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Returns typical value, interval, method and coverage of each point; missing if a point has no value."""
    present = [i for i, group in enumerate(groups) if group]
    together = family([groups[i] for i in present])
    found = {i: together.typical(place) for place, i in enumerate(present)}
    rows = [
        (t.value, t.low, t.high, t.method, t.coverage) if (t := found.get(i)) else (None,) * 5
        for i in range(len(groups))
    ]
    return pd.DataFrame(rows, columns=["value", "low", "high", "interval_method", "coverage"])


def _times(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Returns the typical I/O time of each point with its interval, in seconds, from the runs of each."""
    found = _typicals([measured(part, "io_seconds") for part in parts])
    names = {"value": "seconds", "low": "seconds_low", "high": "seconds_high"}
    return found.rename(columns=names)[list(names.values())]


def base_level(name: str, levels: Sequence[Any]) -> Any:
    """Returns the default level of a setting if the sweep has it, else the lowest level."""
    usual = SETTINGS[name].usual if name in SETTINGS else None
    return usual if usual in levels else sorted_levels(levels)[0]


def _equals(points: pd.DataFrame, names: Sequence[str], tied: Sequence[int], fastest: int) -> list[int]:
    """Returns the points that are hardly slower than the fastest one and cannot be distinguished from it. Points with
    fewer stripes come first, then those with fewer aggregators, then those with smaller buffers. Points that differ
    from the fastest in another setting are left out.
    """
    costly = [name for name in COSTLY if name in names]
    others = [name for name in names if name not in costly]
    near = [
        i
        for i in tied
        if abs(math.log(points.loc[i, "value"] / points.loc[fastest, "value"])) <= math.log1p(HARDLY)
        and all(points.loc[i, name] == points.loc[fastest, name] for name in others)
    ]
    return sorted({fastest, *near}, key=lambda i: [*(points.loc[i, name] for name in costly), i != fastest])


def _ratio_columns(order: Sequence[Point], groups: PointGroups, base: Point, tied: Collection[int]) -> pd.DataFrame:
    """Returns the columns `tied` (with the best) and `ratio`, `ratio_low`, `ratio_high` (to `base`) of each point."""
    ratios = groups.design.against(groups.at[base]) if groups.design is not None and base in groups.at else []
    rows = []
    for index, point in enumerate(order):
        place, found = groups.at.get(point), Ratio(math.nan, None, None)
        if place is not None and base in groups.at and point != base:
            found = ratios[place]
        rows.append((index in tied, found.value, found.low, found.high))
    return pd.DataFrame(rows, columns=["tied", "ratio", "ratio_low", "ratio_high"])
