"""The results of a sweep: its points, the effect of each setting, and all runs with requested and observed settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from iolens.lazy import pd
from iolens.metrics.comparison.results import Comparison
from iolens.metrics.comparison.settings import Measure, level_text, name_text, size_text, sorted_levels, three_digits
from iolens.metrics.files.stripes.bound import has_limits
from iolens.metrics.statistics.intervals import CONFIDENCE, claim
from iolens.metrics.statistics.paired import method
from iolens.missing import is_nan
from iolens.pages.base import words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.columns import extremes
from iolens.pages.base.exhibit import Column, Exhibit
from iolens.pages.base.words import interval, value_with_unit
from iolens.pages.wording.sweep_remedy import plain

_LAYERED = {
    "stripe_count": ("requested.stripe_count", "effective.stripe_count"),
    "stripe_size": (),
    "object_size": (),
    "aggregators": ("requested.cb_nodes", "effective.cb_nodes", "observed.aggregators"),
    "cb_buffer_size": ("requested.cb_buffer_size", "effective.cb_buffer_size"),
}
"""Settings that have special columns in the table of runs, and the columns of the runs that these show. A setting
without columns is not in the table.
"""

_LEAVES = "An interval without a cap continues beyond the axis."

_TIME = ("seconds", "seconds_low", "seconds_high", "io_seconds")


def comparison_points(comparison: Comparison) -> pd.DataFrame:
    """Returns `Comparison.points`, with `standing` (best, tied, worst, or why a point was left out) and
    `is_baseline`.
    """
    found = comparison.points
    standings = [_standing_words(comparison, index, point) for index, point in found.iterrows()]
    return found.assign(standing=standings, is_baseline=found.index == comparison.baseline)


def _best_first(comparison: Comparison) -> pd.DataFrame:
    """Returns `comparison_points` with the best typical value first."""
    return comparison_points(comparison).sort_values(
        "value", ascending=comparison.measure.less_is_better, kind="stable"
    )


def _effects(comparison: Comparison) -> pd.DataFrame:
    """Returns `Comparison.effects`: a row for each level of each setting against its lowest."""
    return comparison.effects


def _interaction(comparison: Comparison) -> pd.DataFrame | None:
    """Returns the cells of `Comparison.interaction`: the result of each pair of levels of two settings."""
    return None if comparison.interaction is None else comparison.interaction.cells


def _runs_with_fresh(comparison: Comparison) -> pd.DataFrame:
    """Returns `Comparison.runs` and the confirming runs, with missing values if no run has a column that the
    table shows.
    """
    found = comparison.runs
    if comparison.fresh is not None:
        found = pd.concat([found, comparison.fresh.runs], ignore_index=True)
    shown = [name for names in _LAYERED.values() for name in names] + ["observed.largest_write"]
    return found.assign(**dict.fromkeys(name for name in shown if name not in found))


def _standing_words(comparison: Comparison, index: Any, point: pd.Series[Any]) -> str:
    """Returns the standing of a point: best, tied with it, worst, or the reason why it was left out."""
    if point["left_out"]:
        return str(point["left_out"])
    if index == comparison.best:
        return "best"
    if point["tied"]:
        return "tied" if point["count"] > 1 else "single run"
    return "worst" if index == comparison.worst else ""


def _map_figure(comparison: Comparison, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the map of the measured values by two settings: the pair whose joint effect is known, or else the first
    two.
    """
    from iolens.figures.sweep_effects import heatmap_figure

    if len(comparison.factors) < 2 or comparison.best is None:
        return
    pair = comparison.interaction.names if comparison.interaction else comparison.factors[:2]
    rest = [name for name in comparison.factors if name not in pair]
    figure = heatmap_figure(found, (pair[0], pair[1]), rest, comparison.measure.axis, comparison.best)
    caption = f"Typical {comparison.measure.name} of each setting. Framed: the best"
    caption += "; hatched: left out of the comparison" if (found["left_out"] != "").any() else ""
    cells = math.prod(len(sorted_levels(found[name])) for name in (*pair, *rest))
    caption += "; blank: not among the settings of the sweep" if cells > len(found) else ""
    caption += "."
    yield FigureBlock(figure, caption, says=_ends_of_points(comparison))


def _ends_of_points(comparison: Comparison, column: str = "value") -> str:
    """Returns the compared points with the largest and the smallest number in a column: `value`, or `seconds`."""
    points = comparison.points[comparison.points["left_out"] == ""].dropna(subset=[column])
    pairs = zip(points["label"].astype(str), points[column], strict=True)
    if column == "seconds":
        return extremes(pairs, words.duration)
    return extremes(pairs, lambda value: value_with_unit(comparison.measure, value))


def _has_io_times(comparison: Comparison) -> bool:
    """Returns True if settings are compared by a speed, and runs have the I/O time that belongs to it."""
    return not comparison.measure.less_is_better and bool(comparison.runs["io_seconds"].notna().any())


def _bar_figures(comparison: Comparison, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figures of throughput and I/O time of every point."""
    from iolens.figures.sweep_effects import grouped_bars

    measure = comparison.measure
    what = measure.name.capitalize() if measure.less_is_better else "Throughput"
    throughput = f"{what}: typical value, interval, single runs (dots). " + _LEAVES
    if has_limits(comparison.limits):
        throughput += (
            " Black line: the bound, the smallest of stripes × {ost_mb_per_s:g} MB/s (targets; of several "
            "files, those of all), ranks that wrote × {link_mb_per_s:g} MB/s (links) and × {memory_mb_per_s:g} MB/s "
            "(copy in memory); what is missing to it is exchange between the ranks, latency and waiting."
        ).format(**comparison.limits)
    if (comparison.points["bound_by"] == "device").any():
        throughput += " Black line: the bound that was given for the device."
    drawn = [(("value", "low", "high", measure.column), measure.axis, throughput)]
    drawn += (
        []
        if not _has_io_times(comparison)
        else [(_TIME, "I/O time, s", "I/O time of the slowest rank, drawn in the same way.")]
    )
    for columns, axis, caption in drawn:
        figure = grouped_bars(found, comparison.runs, comparison.factors, columns, axis, comparison.best)
        yield FigureBlock(figure, caption, says=_ends_of_points(comparison, columns[0]))


def _ranking_figure(comparison: Comparison, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure that ranks the points from best to worst."""
    from iolens.figures.sweep_curves import ranked, ranking

    caption = "From best to worst. Orange: cannot be told from the best; grey: left out of the comparison. "
    caption += _LEAVES
    shown, measured = len(ranked(found, comparison.measure.less_is_better)), int(found["value"].notna().sum())
    if shown < measured:
        caption += f" The best {shown} of {measured}."
    figure = ranking(found, comparison.measure.axis, comparison.measure.less_is_better)
    yield FigureBlock(figure, caption, says=_ends_of_points(comparison))


def _effects_figure(comparison: Comparison, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the effects with their intervals."""
    from iolens.figures.sweep_effects import effect_forest

    caption = (
        f"Effect of each setting, the others balanced: mean ratio (diamond) and {100 * CONFIDENCE:.0f} % interval; "
        "the grey bar spans the single pairs: a long one means that the effect depends on the other settings. "
        + _LEAVES
    )
    changes = [
        f"{name_text(row['setting'])} {level_text(row['setting'], row['base'])} to "
        f"{level_text(row['setting'], row['level'])}: {three_digits(row['ratio'])} times"
        for row in found.to_dict("records")
    ]
    yield FigureBlock(effect_forest(found, _rate_name(comparison)), caption, says="; ".join(changes))


def _interaction_figure(comparison: Comparison, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a line for each level of one setting over the levels of the other."""
    from iolens.figures.sweep_effects import interaction_lines

    if comparison.interaction is not None:
        lines = interaction_lines(found, comparison.interaction.names, comparison.measure.axis)
        caption = "Parallel lines: the two settings act independently. Lines that fan out: they pay off together. "
        caption += _LEAVES
        yield FigureBlock(lines, caption, says=_ends_of_points(comparison))


def _points_note(comparison: Comparison) -> str:
    """Returns a note about the coverage of the intervals."""
    less = comparison.measure.less_is_better
    note = f"Typical value and interval: {'; '.join(_promises(comparison)) or words.NONE}. "
    extreme, lies = ("least", "low") if less else ("largest", "high")
    note += "Each interval holds by itself; the best setting's "
    note += f"lies too {lies}, because it was picked for its {extreme} value. "
    note += "Ratios are of speeds: 2 is twice as fast. " if less else ""
    if comparison.baseline is not None:
        note += f"Ratios to the baseline hold together: {method(comparison.by_block)}. "
    sure = f"{100 * CONFIDENCE:.0f} %"
    note += "Tied: cannot be told from the best. "
    return note + f"With {sure} confidence the truly best setting is the best here or tied with it."


def _effects_note(comparison: Comparison) -> str:
    """Returns a note about the effects and their intervals."""
    return (
        "Geometric mean of the ratios (of bandwidths, or of reciprocals of times) of all pairs of points that differ "
        f"in this setting alone, with its interval, each by itself: {method(comparison.by_block)}; then the smallest "
        "and the largest ratio of a single pair. A point that is left out of the comparison is in no pair."
    )


def _promises(comparison: Comparison) -> list[str]:
    """Returns the coverage of the points' intervals, one sentence per method that was used."""
    lowest = comparison.points.groupby("interval_method")["coverage"].min()
    return [claim(str(method), None if is_nan(share) else float(share)) for method, share in lowest.items()]


def _levels(names: Sequence[str]) -> list[Column]:
    """Returns a column for each of these settings."""
    return [Column(name_text(name), name, lambda level, name=name: level_text(name, level)) for name in names]


def _points_columns(comparison: Comparison) -> list[Column]:
    """Returns the columns: first the settings that vary, then the results."""
    io = [_TIMES] if _has_io_times(comparison) else []
    return [
        *_levels(comparison.factors),
        _COUNT,
        _value_column(comparison),
        *io,
        *_baseline_column(comparison),
        Column("standing", "standing"),
    ]


def _brief_columns(comparison: Comparison) -> list[Column]:
    """Returns the columns of points for a narrow terminal: the settings that vary, and the results."""
    reason = Column("standing", "standing", lambda text: text.partition(":")[0])
    return [*_levels(comparison.factors), _COUNT, _value_column(comparison), *_baseline_column(comparison), reason]


def _value_column(comparison: Comparison) -> Column:
    """Returns the column of the typical values with their intervals, whose head has the unit."""
    measure = comparison.measure
    return Column(measure.axis if measure.less_is_better else measure.unit, ("value", "low", "high"), _with_interval)


def _baseline_column(comparison: Comparison) -> list[Column]:
    """Returns the column of ratios to the baseline; none if no run is the baseline."""
    if comparison.baseline is None:
        return []
    return [Column("× as fast" if comparison.measure.less_is_better else "× baseline", _AGAINST, _against_baseline)]


def _rate_name(comparison: Comparison) -> str:
    """Returns the name of the rate whose ratio is shown."""
    return "speed" if comparison.measure.less_is_better else "bandwidth"


def _runs_columns(comparison: Comparison) -> list[Column]:
    """Returns the columns of requested, effective and observed settings, and of whether the run counts."""
    return [
        *_levels([name for name in comparison.settings if name not in _LAYERED]),
        Column("stripes r / e", _LAYERED["stripe_count"], _slashed),
        Column("aggregators r / e / o", _LAYERED["aggregators"], _slashed),
        Column("buffer r / e", _LAYERED["cb_buffer_size"], _slashed_sizes),
        Column("largest write", "observed.largest_write", _slashed_sizes),
        Column("rep.", ("repetition", "fresh"), lambda number, fresh: f"{number}{' fresh' if fresh else ''}"),
        *_measured_columns(comparison.measure),
        Column("standing", ("usable", "status", "reason", "ignored", "confirmed"), _run_standing),
    ]


def _measured_columns(measure: Measure) -> list[Column]:
    """Returns the columns of each run's measurements."""
    if measure.less_is_better:
        return [Column(measure.axis, measure.column, _measured_number)]
    return [Column(measure.unit, measure.column, _measured_number), Column("I/O s", "io_seconds", _measured_number)]


def _runs_text(count: int, planned: int, lost: int) -> str:
    """Returns the usable and the planned runs, and the number of discarded ones: '3/3', '1/3, 2 lost'."""
    return f"{count}/{planned}" + (f", {lost} lost" if lost else "")


def _with_interval(value: float, low: float, high: float) -> str:
    """Formats a value with its interval: '571 [560, 582]', or n/a."""
    return f"{three_digits(value)}{interval(low, high)}" if not is_nan(value) else words.NONE


def _against_baseline(is_baseline: bool, ratio: float, low: float, high: float) -> str:
    """Returns the point's ratio to the baseline, with its interval."""
    return "baseline" if is_baseline else _with_interval(ratio, low, high)


def _level_change(setting: str, base: Any, level: Any) -> str:
    """Returns the change from one level of a setting to another in words."""
    return f"{level_text(setting, base)} → {level_text(setting, level)}"


def _slashed(*values: Any) -> str:
    """Returns values separated by slashes, with n/a in place of each missing value."""
    return " / ".join(words.NONE if value is None or is_nan(value) else plain(value) for value in values)


def _slashed_sizes(*values: Any) -> str:
    """Returns sizes separated by slashes, with n/a in place of each missing size."""
    return " / ".join(words.NONE if value is None or is_nan(value) else size_text(float(value)) for value in values)


def _measured_number(value: Any) -> str:
    """Returns a measured number, n/a if it is missing."""
    return words.NONE if value is None or is_nan(value) else three_digits(float(value))


def _run_standing(usable: bool, status: str, reason: str | None, ignored: Sequence[str], confirmed: bool) -> str:
    """Returns ok, or the reason why the run does not count."""
    if not usable:
        state = status if status != "ok" else "invalid"
        return f"{state}: {reason}" if reason else str(state)
    if ignored:
        return f"ignored: {', '.join(ignored)}"
    return "ok" if confirmed else "ok, not confirmed"


_COUNT = Column("runs", ("count", "planned", "lost"), _runs_text)
_TIMES = Column("I/O time, s", ("seconds", "seconds_low", "seconds_high"), _with_interval)
_AGAINST = ("is_baseline", "ratio", "ratio_low", "ratio_high")

MAP: Exhibit[Comparison] = Exhibit("map", "Two settings against each other", comparison_points, draw=_map_figure)

BARS: Exhibit[Comparison] = Exhibit("bars", "What every setting gave", comparison_points, draw=_bar_figures)

POINTS: Exhibit[Comparison] = Exhibit(
    name="points",
    title="Settings and their results",
    metric=comparison_points,
    columns=_points_columns,
    note=_points_note,
    draw=_ranking_figure,
)

BRIEF: Exhibit[Comparison] = Exhibit(
    name="brief",
    title="Settings and their results, best first",
    metric=_best_first,
    columns=_brief_columns,
)

EFFECTS: Exhibit[Comparison] = Exhibit(
    name="effects",
    title="Effect of each setting",
    metric=_effects,
    columns=[
        Column("setting", "setting", name_text),
        Column("change", ("setting", "base", "level"), _level_change),
        Column("mean ×", ("ratio", "low", "high"), _with_interval),
        Column(
            "single pairs ×", ("smallest", "largest"), lambda low, high: f"{three_digits(low)} … {three_digits(high)}"
        ),
        Column("pairs", "pairs"),
    ],
    note=_effects_note,
    draw=_effects_figure,
)

INTERACTION: Exhibit[Comparison] = Exhibit(
    "interaction", "What two settings give together", _interaction, draw=_interaction_figure
)


def _runs_note(comparison: Comparison) -> str:
    """Returns the meaning of the columns that the runs have."""
    measure = comparison.measure
    said = (
        "r: requested by hints and layout; e: effective, as a trustworthy source reports it (n/a: none does); o: "
        "observed, the ranks that wrote to the file. Largest write: the largest single write any of them made."
    )
    if not measure.less_is_better:
        said += f" I/O s: the slowest rank's time; {measure.unit}: amount divided by that time."
    if "compute" in measure.axis.lower():
        said += " Compute time: run time less the I/O of an average process."
    fresh = " Fresh: made after the best was picked, to confirm it."
    return said + (fresh if comparison.runs["fresh"].isin([True, 1]).any() else "")


RUNS: Exhibit[Comparison] = Exhibit(
    name="runs",
    title="All runs",
    metric=_runs_with_fresh,
    columns=_runs_columns,
    note=_runs_note,
)

COMPARISON_EXHIBITS: tuple[Exhibit[Comparison], ...] = (POINTS, RUNS, EFFECTS, INTERACTION)
"""Exhibits whose numbers are exported, in the order of the exports."""
