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
from iolens.metrics.statistics import Ratio, family


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


NUMBERS = ["value", "low", "high", "coverage", "seconds", "seconds_low", "seconds_high"]
NUMBERS += ["ratio", "ratio_low", "ratio_high"]


def compare(runs: pd.DataFrame, settings: Sequence[str]) -> Comparison:
    """Compare the points of a sweep."""
    names = tuple(settings)
    keys = [tuple(row) for row in runs[list(names)].itertuples(index=False)] if names else [()] * len(runs)
    order = list(dict.fromkeys(keys))
    runs = runs.assign(point=[order.index(key) for key in keys])
    points = pd.DataFrame([point_row(names, key, runs[runs["point"] == i]) for i, key in enumerate(order)])
    speeds = [measured(runs[runs["point"] == i], "bandwidth") for i in range(len(order))]
    kept = [i for i in range(len(order)) if not points.loc[i, "left_out"]]
    groups = Groups({order[i]: place for place, i in enumerate(kept)}, family([speeds[i] for i in kept]))
    factors = tuple(name for i, name in enumerate(names) if len({key[i] for key in order}) > 1)
    base = tuple(base_level(name, [key[i] for key in groups.at or order]) for i, name in enumerate(names))
    points = points.join([typicals(speeds), times(runs, len(order)), standing(order, groups, base)])
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
        baseline=order.index(base) if base in groups.at else None,
        best=best,
        worst=int(ranked.idxmin()) if len(ranked) else None,
    )


def measured(runs: pd.DataFrame, column: str) -> list[float]:
    """The values of the usable runs."""
    return [float(v) for v in runs.loc[runs["usable"], column].dropna()]


def point_row(names: Sequence[str], key: Point, runs: pd.DataFrame) -> dict[str, Any]:
    """One row of `Comparison.points` but for its numbers."""
    count = len(measured(runs, "bandwidth"))
    row = dict(zip(names, key, strict=True))
    row |= {"label": describe(row) or "the only point", "planned": len(runs), "count": count}
    return row | {"left_out": left_out(runs, count)}


def typicals(groups: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Typical value, interval, method and coverage of each point; missing where a point has no value."""
    present = [i for i, group in enumerate(groups) if group]
    together = family([groups[i] for i in present])
    found = {i: together.typical(place) for place, i in enumerate(present)}
    rows = [
        (t.value, t.low, t.high, t.method, t.coverage) if (t := found.get(i)) else (None,) * 5
        for i in range(len(groups))
    ]
    return pd.DataFrame(rows, columns=["value", "low", "high", "interval_method", "coverage"])


def times(runs: pd.DataFrame, count: int) -> pd.DataFrame:
    """Typical I/O time of each point and its interval, seconds."""
    found = typicals([measured(runs[runs["point"] == i], "io_seconds") for i in range(count)])
    names = {"value": "seconds", "low": "seconds_low", "high": "seconds_high"}
    return found.rename(columns=names)[list(names.values())]


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
    tied = groups.family.not_told_from_best() if groups.at else []
    rows = []
    for point in order:
        place, found = groups.at.get(point), Ratio(math.nan, None, None)
        if place is not None and base in groups.at and point != base:
            found = groups.family.against(place, groups.at[base])
        rows.append((place is not None and tied[place], found.value, found.low, found.high))
    return pd.DataFrame(rows, columns=["tied", "ratio", "ratio_low", "ratio_high"])
