"""What a sweep says: typical values per point, effects of each setting, their interaction, best and worst.

Input is the frame of runs (`Results.runs`): one row per run with the settings' columns, `usable`,
`ignored`, `bandwidth` (MiB/s, higher is better) and `io_seconds`. Ratios and averages are geometric (see
`statistics`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from iolens.metrics.comparison_effects import Groups, Interaction, Point, effects, interaction
from iolens.metrics.settings import SETTINGS, describe, sorted_levels
from iolens.metrics.statistics import Ratio, family, typical


@dataclass(frozen=True)
class Comparison:
    """The sweep in frames; `baseline`, `best` and `worst` are row labels of `points`.

    `points`: the settings' columns, `label`, `planned` and `count` (usable) runs, `value`, `low`, `high`
    with `interval_method` and `coverage`, `seconds`, `seconds_low`, `seconds_high`, `left_out` (why, or
    empty), `tied` (cannot be told from the best), `ratio`, `ratio_low`, `ratio_high` (to the baseline,
    simultaneous over all points). `effects` and `interaction` are those of `comparison_effects`.
    `runs`: the input and `point`, the row label in `points`.
    """

    settings: tuple[str, ...]
    factors: tuple[str, ...]
    runs: pd.DataFrame
    points: pd.DataFrame
    effects: pd.DataFrame
    interaction: Interaction | None
    baseline: int | None
    best: int | None
    worst: int | None


SPEED, TIME = ["value", "low", "high"], ["seconds", "seconds_low", "seconds_high"]
NUMBERS = [*SPEED, *TIME, "coverage", "ratio", "ratio_low", "ratio_high"]


def compare(runs: pd.DataFrame, settings: Sequence[str]) -> Comparison:
    """Compare the points of a sweep."""
    names = tuple(settings)
    keys = [tuple(row) for row in runs[list(names)].itertuples(index=False)] if names else [()] * len(runs)
    order = list(dict.fromkeys(keys))
    runs = runs.assign(point=[order.index(key) for key in keys])
    points = pd.DataFrame([point_row(names, key, runs[runs["point"] == i]) for i, key in enumerate(order)])
    groups: Groups = {
        key: bandwidths(runs[runs["point"] == i])
        for i, key in enumerate(order)
        if not points.loc[i, "left_out"]
    }
    factors = tuple(name for i, name in enumerate(names) if len({key[i] for key in order}) > 1)
    base = tuple(base_level(name, [key[i] for key in groups or order]) for i, name in enumerate(names))
    points = points.join(standing(order, groups, base))
    points[NUMBERS] = points[NUMBERS].astype(float)
    ranked = points.loc[points["left_out"] == "", "value"]
    best = int(ranked.idxmax()) if len(ranked) else None
    return Comparison(
        settings=names,
        factors=factors,
        runs=runs,
        points=points,
        effects=effects(names, factors, groups, base),
        interaction=interaction(names, factors, groups, base, order[best]) if best is not None else None,
        baseline=order.index(base) if base in groups else None,
        best=best,
        worst=int(ranked.idxmin()) if len(ranked) else None,
    )


def bandwidths(runs: pd.DataFrame) -> list[float]:
    """The usable bandwidths of some runs, MiB/s."""
    return [float(v) for v in runs.loc[runs["usable"], "bandwidth"].dropna()]


def point_row(names: Sequence[str], key: Point, runs: pd.DataFrame) -> dict[str, Any]:
    """One row of `Comparison.points` but for its ratio."""
    values = bandwidths(runs)
    row = dict(zip(names, key, strict=True))
    row |= {"label": describe(row) or "the only point", "planned": len(runs), "count": len(values)}
    row["left_out"] = left_out(runs, len(values))
    if not values:
        return row | dict.fromkeys([*SPEED, *TIME, "interval_method", "coverage"])
    speed = typical(values)
    time = typical([float(v) for v in runs.loc[runs["usable"], "io_seconds"].dropna()])
    return row | {
        "value": speed.value,
        "low": speed.low,
        "high": speed.high,
        "interval_method": speed.method,
        "coverage": speed.coverage,
        "seconds": time.value,
        "seconds_low": time.low,
        "seconds_high": time.high,
    }


def left_out(runs: pd.DataFrame, usable: int) -> str:
    """Why a point cannot be the best; empty when it can."""
    if not usable:
        reasons = [reason for reason in runs["reason"] if isinstance(reason, str) and reason]
        return f"no usable run: {reasons[0]}" if reasons else "no usable run"
    ignored = sorted({key for keys in runs.loc[runs["usable"], "ignored"] for key in keys})
    return f"{', '.join(ignored)} did not take effect" if ignored else ""


def base_level(name: str, levels: Sequence[Any]) -> Any:
    """The level one gets without asking when the sweep has it, else the lowest."""
    usual = SETTINGS[name].usual if name in SETTINGS else None
    return usual if usual in levels else sorted_levels(levels)[0]


def standing(order: Sequence[Point], groups: Groups, base: Point) -> pd.DataFrame:
    """Columns `tied` and `ratio`, `ratio_low`, `ratio_high` (to `base`) of each point."""
    points, together = list(groups), family(list(groups.values()))
    tied = dict(zip(points, together.not_told_from_best(), strict=True)) if points else {}
    at = {point: i for i, point in enumerate(points)}
    rows = []
    for point in order:
        found = Ratio(math.nan, None, None)
        if point in at and base in at and point != base:
            found = together.against(at[point], at[base])
        rows.append((tied.get(point, False), found.value, found.low, found.high))
    return pd.DataFrame(rows, columns=["tied", "ratio", "ratio_low", "ratio_high"])
