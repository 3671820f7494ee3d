"""The comparison's tables: points, effects and all runs with what was requested, effective and observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from iolens.metrics.comparison import Comparison
from iolens.metrics.settings import level_text, name_text, size_text
from iolens.metrics.statistics import CONFIDENCE, RATIO, claim
from iolens.pages.blocks import Table
from iolens.pages.comparison_remedy import plain
from iolens.pages.comparison_words import interval, number

if TYPE_CHECKING:
    import pandas as pd

NONE = "n/a"

LAYERED = ("stripe_count", "stripe_size", "aggregators", "cb_buffer_size")
"""Settings whose requested and effective values have columns of their own."""


def points_table(comparison: Comparison) -> Table:
    """Every point: typical bandwidth and time with intervals, ratio to the baseline, its standing."""
    note = f"Typical value and interval: {'; '.join(promises(comparison)) or NONE}. "
    note += "Each holds by itself; the best's, picked because it is the largest, lies rather high. "
    note += f"Ratios to the baseline: {claim(RATIO, CONFIDENCE, together=True)}. "
    note += f"Tied: cannot be told from the best; the truly best is it or tied with it with {100 * CONFIDENCE:.0f} %."
    columns = [*map(name_text, comparison.factors), "runs", "MiB/s", "I/O time, s", "× baseline", "standing"]
    rows = [
        [
            *(level_text(name, point[name]) for name in comparison.factors),
            runs_text(point),
            with_interval(point, "value", "low", "high"),
            with_interval(point, "seconds", "seconds_low", "seconds_high"),
            against_baseline(comparison, i, point),
            standing(comparison, i, point),
        ]
        for i, point in comparison.points.iterrows()
    ]
    return Table("Settings and what they gave", columns, rows, note)


def promises(comparison: Comparison) -> list[str]:
    """What is promised of the intervals of the points, a sentence per method that was used."""
    lowest = comparison.points.groupby("interval_method")["coverage"].min()
    return [claim(str(method), None if share != share else float(share)) for method, share in lowest.items()]


def brief_table(comparison: Comparison) -> Table:
    """The points, best first, narrow enough for a terminal."""
    columns = [*map(name_text, comparison.factors), "runs", "MiB/s", "× baseline", "standing"]
    rows = [
        [
            *(level_text(name, point[name]) for name in comparison.factors),
            runs_text(point),
            with_interval(point, "value", "low", "high"),
            against_baseline(comparison, i, point),
            standing(comparison, i, point).partition(":")[0],
        ]
        for i, point in comparison.points.sort_values("value", ascending=False, kind="stable").iterrows()
    ]
    return Table("Settings and what they gave, best first", columns, rows)


def runs_text(point: Mapping[str, Any]) -> str:
    """Usable of planned runs, and how many were lost on the way: '3/3', '1/3, 2 lost'."""
    return f"{point['count']}/{point['planned']}" + (f", {point['lost']} lost" if point["lost"] else "")


def against_baseline(comparison: Comparison, index: Any, point: Mapping[str, Any]) -> str:
    """The point's ratio to the baseline, with its interval."""
    if index == comparison.baseline:
        return "baseline"
    return with_interval(point, "ratio", "ratio_low", "ratio_high")


def with_interval(row: Mapping[str, Any], value: str, low: str, high: str) -> str:
    """'571 [560, 582]' or n/a."""
    return f"{number(row[value])}{interval(row[low], row[high])}" if row[value] == row[value] else NONE


def standing(comparison: Comparison, index: Any, point: Mapping[str, Any]) -> str:
    """Where a point stands: best, tied with it, worst, or why it was left out."""
    if point["left_out"]:
        return str(point["left_out"])
    if index == comparison.best:
        return "best"
    if point["tied"]:
        return "tied" if point["count"] > 1 else "single run"
    return "worst" if index == comparison.worst else ""


def effects_table(comparison: Comparison) -> Table:
    """The effect of each level of each setting."""
    rows = [
        [
            name_text(row["setting"]),
            f"{level_text(row['setting'], row['base'])} → {level_text(row['setting'], row['level'])}",
            with_interval(row, "ratio", "low", "high"),
            f"{number(row['smallest'])} … {number(row['largest'])}",
            str(row["pairs"]),
        ]
        for _, row in comparison.effects.iterrows()
    ]
    note = (
        "Geometric mean of the bandwidth ratios of all pairs of points that differ in this setting alone, with its "
        f"interval: {claim(RATIO, CONFIDENCE)}, each by itself; then the smallest and the largest ratio of a single "
        "pair. A point left out of the comparison is in no pair."
    )
    return Table("Effect of each setting", ["setting", "change", "mean ×", "single pairs ×", "pairs"], rows, note)


def runs_table(comparison: Comparison) -> Table:
    """All runs: requested / effective / observed settings, and whether the run counts."""
    extra = [name for name in comparison.settings if name not in LAYERED]
    columns = [
        *(name_text(name) for name in extra),
        "stripes r / e",
        "aggregators r / e / o",
        "buffer r / e",
        "largest write",
        "rep.",
        "MiB/s",
        "I/O s",
        "standing",
    ]
    rows = [
        [
            *(level_text(name, run[name]) for name in extra),
            cells(run, "requested.stripe_count", "effective.stripe_count"),
            cells(run, "requested.cb_nodes", "effective.cb_nodes", "observed.aggregators"),
            cells(run, "requested.cb_buffer_size", "effective.cb_buffer_size", size=True),
            cells(run, "observed.largest_write", size=True),
            str(run["repetition"]),
            figure(run["bandwidth"]),
            figure(run["io_seconds"]),
            run_standing(run),
        ]
        for _, run in comparison.runs.iterrows()
    ]
    note = (
        "r: requested by hints and layout; e: effective, as a trustworthy source reports it (n/a: none "
        "does); o: observed, the ranks that wrote to the file. Largest write: the largest single write any "
        "of them made. I/O s: the slowest rank's time; MiB/s: MiB divided by that time."
    )
    return Table("All runs", columns, rows, note)


def cells(run: pd.Series[Any], *columns: str, size: bool = False) -> str:
    """Values of some columns, separated by slashes."""
    return " / ".join(cell(run.get(column), size) for column in columns)


def cell(value: Any, size: bool) -> str:
    """One value, n/a when it is missing."""
    if value is None or value != value:
        return NONE
    return size_text(float(value)) if size else plain(value)


def figure(value: Any) -> str:
    """A measured number, n/a when it is missing."""
    return NONE if value is None or value != value else number(float(value))


def run_standing(run: Mapping[str, Any]) -> str:
    """ok, or why the run does not count."""
    if not run["usable"]:
        state = run["status"] if run["status"] != "ok" else "invalid"
        return f"{state}: {run['reason']}" if run["reason"] else str(state)
    if run["ignored"]:
        return f"ignored: {', '.join(run['ignored'])}"
    return "ok" if run["confirmed"] else "ok, not confirmed"
