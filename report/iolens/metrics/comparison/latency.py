"""Latencies of a sweep whose workload times operations, possibly at many message sizes; the variants are compared with
each other.

Input rows (`latency_rows`): one per run, operation and size, with `variant` (the run's settings in words),
`bytes` of a message and `seconds`, the mean over iterations of the mean over ranks (as the OSU micro-benchmarks
print it). Lower is better.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from iolens.lazy import pd
from iolens.metrics.comparison.settings import describe
from iolens.metrics.statistics.intervals import Family, Ratio, family


@dataclass(frozen=True)
class LatencyComparison:
    """`cells` has one row per operation, size and variant: `seconds` with `low`, `high`, and against the baseline
    `improvement` in percent (100 (t_base - t) / t_base, negative when slower) with `improvement_low`,
    `improvement_high`; `clear` if the difference is proven among all comparisons of its operation, and neither of the
    two variants lost its slow runs. `overall` has one row per operation and variant: geometric mean `ratio` of the
    baseline's time to the variant's over the `sizes` that all their runs have, with `low` and `high`; above 1 the
    variant is faster.
    """

    baseline: str
    variants: tuple[str, ...]
    cells: pd.DataFrame
    overall: pd.DataFrame

    @property
    def by_size(self) -> bool:
        """Returns True when an operation was timed at several sizes, such as messages; False for operations on
        files.
        """
        return bool((self.cells.groupby("operation")["bytes"].nunique() > 1).any())


def latency_rows(runs: pd.DataFrame, settings: Sequence[str]) -> pd.DataFrame:
    """Returns the latencies of all usable runs, from the `latency` table of their result files."""
    rows: list[dict[str, Any]] = []
    for _, run in runs[runs["usable"]].iterrows():
        variant = describe({name: run[name] for name in settings})
        for entry in _read_entries(run["result"]):
            seconds = {"seconds": entry["t_avg"], "bytes": entry["bytes"], "operation": entry["operation"]}
            rows.append({"variant": variant, "repetition": run["repetition"], **seconds})
    return pd.DataFrame(rows, columns=["variant", "repetition", "operation", "bytes", "seconds"])


def _read_entries(path: str | None) -> list[Mapping[str, Any]]:
    """Returns the `extra.latency` table of a result file (workloads/RESULT.md); empty if the file has none."""
    return list(_read_extra(path).get("latency") or [])


def _read_extra(path: str | None) -> Mapping[str, Any]:
    """Returns the `extra` part of a result file."""
    if path is None:
        return {}
    result = json.loads(Path(path).read_text(encoding="utf-8"))
    return result.get("extra") or {}


def choices(runs: pd.DataFrame, settings: Sequence[str]) -> pd.DataFrame:
    """Returns the choices of the MPI library under each variant, as its workload determined them; one row per variant.

    Columns: `variant`, `selected` (component of the collectives with the highest priority), `eager_observed` (bytes of
    the largest message that needed no receiver), `oversubscribed`; missing if the workload does not know. `same_as` is
    the first variant with the same components and variables in effect, None if there is none before.
    """
    rows: dict[str, dict[str, Any]] = {}
    known: dict[tuple[Any, ...], str] = {}
    for _, run in runs[runs["usable"]].iterrows():
        extra = _read_extra(run["result"])
        row = {key: extra.get(key) for key in ("selected", "eager_observed", "oversubscribed")}
        variant = describe({name: run[name] for name in settings})
        effect = _effect_of(extra)
        first = known.setdefault(effect, variant) if effect else variant
        rows[variant] = {**row, "same_as": first if first != variant else None}
    return pd.DataFrame([{"variant": variant, **row} for variant, row in rows.items()], dtype=object)


def _effect_of(extra: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the components that the MPI library reports as available and the variables in effect; empty if it reports
    no components. Priorities are left out, since they only decide in which order the library tries its components.
    """
    components = tuple(str(component["name"]) for component in extra.get("components") or ())
    variables = {**(extra.get("variables") or {})}
    return (components, *sorted(pair for pair in variables.items() if not pair[0].endswith("_priority"))) * bool(
        components
    )


def compare_latencies(rows: pd.DataFrame, variants: Sequence[str], lossy: Collection[str] = ()) -> LatencyComparison:
    """Compares every variant with the first one, operation by operation; differences of variants in `lossy` never count
    as proven.
    """
    cells: list[dict[str, Any]] = []
    overall: list[dict[str, Any]] = []
    for operation, chosen in rows.groupby("operation", sort=False):
        groups = {key: list(part) for key, part in chosen.groupby(["variant", "bytes"], sort=False)["seconds"]}
        places = {key: i for i, key in enumerate(groups)}
        timed = Timed(str(operation), family(list(groups.values())), places, variants[0])
        for variant in variants:
            sizes = sorted(size for name, size in places if name == variant)
            cells += [_cell(timed, variant, size) for size in sizes]
            if variant != variants[0]:
                overall += over_sizes(chosen, str(operation), variants[0], variant)
    columns = ["operation", "variant", "ratio", "low", "high", "sizes"]
    table = pd.DataFrame(cells)
    table["clear"] &= ~table["variant"].isin(lossy) & (variants[0] not in lossy)
    return LatencyComparison(variants[0], tuple(variants), table, pd.DataFrame(overall, columns=columns))


def lossy_variants(runs: pd.DataFrame, settings: Sequence[str]) -> set[str]:
    """Returns the variants that lost a run for good, or more runs than they kept: their remaining runs are the lucky
    ones.
    """
    names = [describe({name: run[name] for name in settings}) for _, run in runs.iterrows()]
    found = set()
    for variant in set(names):
        own = runs[[name == variant for name in names]]
        kept = int(own["usable"].sum())
        if kept < len(own) or own["lost_attempts"].map(len).sum() > kept:
            found.add(variant)
    return found


def over_sizes(rows: pd.DataFrame, operation: str, base: str, variant: str) -> list[dict[str, Any]]:
    """Returns the row of `LatencyComparison.overall` for one variant; no row if the runs of variant and baseline have
    no message size in common.

    A disturbance slows a run down at every size. A run therefore counts once, by its geometric mean over the sizes.
    """
    both = rows[rows["variant"].isin([base, variant])]
    table = both.pivot_table(index=["variant", "repetition"], columns="bytes", values="seconds").dropna(axis=1)
    if table.shape[1] == 0 or not {base, variant} <= set(both["variant"]):
        return []
    means = [[math.exp(fmean(map(math.log, run))) for run in table.loc[name].to_numpy()] for name in (base, variant)]
    ratio = family(means).contrast([(1, 0), (-1, 1)])
    line = {"ratio": ratio.value, "low": ratio.low, "high": ratio.high, "sizes": table.shape[1]}
    return [{"operation": operation, "variant": variant, **line}]


@dataclass(frozen=True)
class Timed:
    """The times of one operation for all variants and sizes. `together` holds the samples, `places` the position of
    each variant's and size's sample among them, and `base` names the baseline.
    """

    operation: str
    together: Family
    places: Mapping[tuple[str, int], int]
    base: str

    @cached_property
    def comparisons(self) -> int:
        """Returns the number of comparisons: pairs of a variant and a size for which the baseline has the same size."""
        return sum(variant != self.base and (self.base, size) in self.places for variant, size in self.places)


def _cell(timed: Timed, variant: str, size: int) -> dict[str, Any]:
    """Returns one row of `LatencyComparison.cells`."""
    together, base = timed.together, timed.base
    place, against = timed.places[variant, size], timed.places.get((base, size))
    typical = together.typical(place)
    row: dict[str, Any] = {"operation": timed.operation, "variant": variant, "bytes": size, "seconds": typical.value}
    row |= {"low": typical.low, "high": typical.high, "count": typical.count}
    if against is None:
        return row | {"improvement": None, "improvement_low": None, "improvement_high": None, "clear": False}
    ratio = Ratio(1.0, None, None) if variant == base else together.contrast([(1, place), (-1, against)])
    return row | {
        "improvement": 100 * (1 - ratio.value),
        "improvement_low": None if ratio.high is None else 100 * (1 - ratio.high),
        "improvement_high": None if ratio.low is None else 100 * (1 - ratio.low),
        "clear": variant != base and together.against(place, against, comparisons=timed.comparisons).is_clear,
    }
