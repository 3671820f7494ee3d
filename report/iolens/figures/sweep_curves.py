"""The points of a sweep in order: by rank, scaling, search, prediction, and latency by message size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from iolens.figures.style import FULL_WIDTH, INK, QUIET, styled
from iolens.figures.sweep_effects import (
    BEST,
    LEFT_OUT,
    MARKERS,
    POINT,
    error_bar,
    level_colours,
    level_line,
    level_lines,
    name_places,
    reach,
    wrapped_label,
)
from iolens.lazy import pd
from iolens.metrics.comparison.settings import size_text

MOST = 36
"""Maximum number of rows on a page that can be read."""
_ROW_NAME = 72
"""Maximum width of a line of a row's name, in characters."""
_TALLEST, _LINE, _GAP, _AXIS = 8.6, 0.125, 0.05, 0.5
"""Sizes in inches: the tallest figure, a line of a row's name, the space between rows, and the axis below them."""


def ranked(points: pd.DataFrame, less_is_better: bool = False) -> pd.DataFrame:
    """Returns the points that the figure shows: the best first, as many as fit. The column `row` has their names in
    lines.
    """
    order = points.dropna(subset=["value"]).sort_values("value", ascending=less_is_better).head(MOST)
    order = order.assign(row=[wrapped_label(str(name), _ROW_NAME) for name in order["name"]])
    return order.head(int((_TALLEST - _AXIS) / _row_height(order)))


def _row_height(order: pd.DataFrame) -> float:
    """Returns the height of each row in inches: all rows have room for the longest name."""
    return _GAP + _LINE * max(map(level_lines, order["row"]), default=1)


@styled
def ranking(points: pd.DataFrame, label: str, less_is_better: bool = False) -> Figure:
    """Draws the points that `ranked` chooses; orange points cannot be distinguished from the best."""
    order = ranked(points, less_is_better)
    figure = Figure(figsize=(FULL_WIDTH, _AXIS + _row_height(order) * len(order)), layout="constrained")
    axes = figure.subplots()
    for y, (_, point) in enumerate(order.iterrows()):
        colour = LEFT_OUT if point["left_out"] else BEST if point["tied"] else POINT
        error_bar(axes, y, point["low"], point["high"], horizontal=True)
        axes.plot(point["value"], y, "o", markersize=4, color=colour, zorder=5)
    axes.set_yticks(range(len(order)), list(order["row"]))
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlim(0, reach(order["value"], order["high"]))
    axes.set_xlabel(label)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    return figure


@styled
def efficiency_lines(found: pd.DataFrame) -> Figure:
    """Draws the efficiencies of metrics.comparison.scaling.scaling, one line for each `rest`."""
    figure = Figure(figsize=(FULL_WIDTH, 2.5), layout="constrained")
    axes = figure.subplots()
    groups = list(dict.fromkeys(found["rest"]))
    for place, (rest, colour) in enumerate(level_colours(groups).items()):
        rows = found[found["rest"] == rest]
        shift = 1 + 0.012 * (place - (len(groups) - 1) / 2)
        percent = 100 * rows[["efficiency", "low", "high"]].set_axis(["value", "low", "high"], axis=1)
        level_line(axes, place, list(shift * rows["workers"]), percent, color=colour, label=rest or "all")
    workers = sorted(set(found["workers"]))
    axes.axhline(100, color=INK, linewidth=1.4)
    axes.annotate(
        "ideal: every worker fully used",
        (0.99, 100),
        (0, 3),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        color=QUIET,
    )
    axes.set_xscale("log", base=2)
    axes.set_xticks(workers, [str(each) for each in workers])
    axes.xaxis.set_minor_locator(NullLocator())
    top = max(110.0, 1.1 * 100 * float(found["efficiency"].max()))
    axes.set_ylim(0, top)
    axes.set(xlabel="processes or nodes", ylabel="efficiency, %")
    if len(groups) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


_HEIGHT = 2.4
"""Size of the figure in inches."""

_BEGIN = ("default", "rule of thumb", "rule of thumb, other stripe size")
"""Reasons for the first runs of a search, which no model chose."""


@styled
def search_path(steps: pd.DataFrame, label: str = "bandwidth, MiB/s") -> Figure:
    """Draws one step per row of `steps`: `number`, `bandwidth`, `expected`, `low`, `high` and `best`, in the unit of
    the `label`, and `why`.
    """
    figure = Figure(figsize=(FULL_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.subplots()
    axes.step(steps["number"], steps["best"], where="post", color=BEST, linewidth=1.2, zorder=2)
    for _, one in steps.dropna(subset=["expected"]).iterrows():
        axes.plot([one["number"]] * 2, [one["low"], one["high"]], color=INK, linewidth=4, alpha=0.2, zorder=1)
        axes.plot(one["number"], one["expected"], "_", color=INK, markersize=9, zorder=3)
    for _, one in steps.dropna(subset=["bandwidth"]).iterrows():
        hollow = "white" if one["why"] in _BEGIN else POINT
        axes.plot(one["number"], one["bandwidth"], "o", color=POINT, markerfacecolor=hollow, markersize=5, zorder=4)
    axes.set_xticks(list(steps["number"]))
    axes.set_xlim(0.5, len(steps) + 0.5)
    if steps["bandwidth"].notna().any():
        axes.set_ylim(0, reach(steps["bandwidth"], steps["high"]))
    axes.set_xlabel("run of the search")
    axes.set_ylabel(wrapped_label(label, 20))
    return figure


_MOST = 24
"""Maximum number of bars that a reader can distinguish."""
_WHAT_IF_ROW_NAME = 60
"""Maximum width of a line of a bar's name, in characters."""
_WHAT_IF_LINE, _WHAT_IF_GAP, _WHAT_IF_AXIS = 0.125, 0.07, 0.55
"""Sizes in inches: a line of a name, the space between bars, the axis below them."""


@styled
def what_if_strip(points: pd.DataFrame, measured: float, error: float) -> Figure:
    """Draws a hatched bar for each row of `points` (settings, io: seconds), or only for the fastest ones if there are
    many. A whisker shows the relative `error`, and a line the `measured` seconds.
    """
    shown = points if len(points) <= _MOST else points.iloc[[0, *points.iloc[1:].nsmallest(_MOST - 1, "io").index]]
    names = [wrapped_label(str(name), _WHAT_IF_ROW_NAME) for name in shown["settings"]]
    height = _WHAT_IF_GAP + _WHAT_IF_LINE * max(map(level_lines, names), default=1)
    figure = Figure(figsize=(FULL_WIDTH, _WHAT_IF_AXIS + height * len(shown)), layout="constrained")
    axes = figure.subplots()
    places = range(len(shown))
    seconds = shown["io"].to_numpy()
    whisker = {"ecolor": INK, "elinewidth": 0.8, "capsize": 2}
    axes.barh(
        places, seconds, 0.7, color="white", edgecolor=POINT, hatch="////", xerr=seconds * error, error_kw=whisker
    )
    axes.axvline(measured, color=INK, linewidth=1)
    axes.set_yticks(places, names)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(0, 1.05 * max(measured, float((seconds * (1 + error)).max())))
    axes.set_xlabel("I/O time, s: predicted (bars), measured in the recorded run (line)")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    return figure


LOWEST = -150.0
"""Lower end of the axis, in per cent of improvement. The bar of a variant that takes more than 2.5 times as long as the
baseline is cut here, and its number is written beside it.
"""

_FAINT = 0.35

PLOT_WIDTH, KEY_WIDTH = 5.0, 22
"""Width of the bars beside the legend, in inches, and of a line of the legend, in characters."""

_MOST_BARS, _MOST_ROWS = 40, 5
"""Largest number of bars that stay readable in half the width of a page, and of rows of panels on a page."""


@styled
def improvement_bars(cells: pd.DataFrame, baseline: str) -> Figure:
    """Draws one panel per operation; `cells` as in `LatencyComparison`. Faint bars: the difference is not proven."""
    compared = cells[(cells["variant"] != baseline) & cells["improvement"].notna()]
    operations = list(dict.fromkeys(compared["operation"]))
    variants = list(dict.fromkeys(compared["variant"]))
    palette = level_colours(variants)
    bars = len(variants) * compared["bytes"].nunique()
    across = 1 if len(operations) == 1 or (bars > _MOST_BARS and len(operations) <= _MOST_ROWS) else 2
    down = math.ceil(len(operations) / across)
    figure = Figure(figsize=(FULL_WIDTH, 0.4 + min(8.4, 1.65 * down)), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    for axes, operation in zip(grid.flat, operations, strict=False):
        _draw(axes, compared[compared["operation"] == operation], palette)
        axes.set_title(operation, loc="left")
    for axes in grid.flat[len(operations) :]:
        axes.remove()
    figure.supylabel("improvement, %", fontsize=7.5)
    handles = [Patch(color=palette[variant], label=variant) for variant in variants]
    figure.legend(handles=handles, loc="outside upper right", ncols=min(3, len(handles)))
    return figure


@styled
def operation_improvement(cells: pd.DataFrame, baseline: str) -> Figure:
    """Draws operations without sizes: one panel, with a group of bars per operation. Faint bars: the difference is not
    proven.
    """
    compared = cells[(cells["variant"] != baseline) & cells["improvement"].notna()]
    palette = level_colours(list(dict.fromkeys(compared["variant"])))
    figure = Figure(figsize=(FULL_WIDTH, 2.6), layout="constrained")
    axes = figure.subplots()
    operations = list(dict.fromkeys(compared["operation"]))
    _draw_bars(axes, compared, palette, "operation", operations)
    name_places(axes, operations, PLOT_WIDTH)
    axes.set_ylabel("improvement, %")
    handles = [Patch(color=colour, label=wrapped_label(variant, KEY_WIDTH)) for variant, colour in palette.items()]
    figure.legend(handles=handles, loc="outside right upper")
    return figure


def _draw(axes: Axes, cells: pd.DataFrame, palette: Mapping[str, Any]) -> None:
    """Draws the bars of one operation over its sizes."""
    sizes = sorted(set(cells["bytes"]))
    _draw_bars(axes, cells, palette, "bytes", sizes)
    step = math.ceil(len(sizes) / 8)
    axes.set_xticks(range(0, len(sizes), step), [size_label(size) for size in sizes[::step]])
    axes.tick_params(axis="x", labelsize=6)


def _draw_bars(axes: Axes, cells: pd.DataFrame, palette: Mapping[str, Any], column: str, places: Sequence[Any]) -> None:
    """Draws a group of bars at each of the `places`; their lengths are the values of `column`."""
    width = 0.8 / len(palette)
    for i, (variant, colour) in enumerate(palette.items()):
        for _, row in cells[cells["variant"] == variant].iterrows():
            x = places.index(row[column]) + (i - (len(palette) - 1) / 2) * width
            height = max(row["improvement"], LOWEST)
            axes.bar(x, height, width * 0.94, color=colour, alpha=1.0 if row["clear"] else _FAINT)
            if row["improvement"] < LOWEST:
                text = f"{row['improvement']:.0f}"
                axes.annotate(text, (x, LOWEST), ha="center", va="bottom", fontsize=5, rotation=90, color=INK)
            elif row["clear"]:
                error_bar(axes, x, max(row["improvement_low"], LOWEST), row["improvement_high"])
    axes.axhline(0, color=INK, linewidth=0.8)
    low, high = float(cells["improvement"].min()), float(cells["improvement"].max())
    axes.set_ylim(max(LOWEST, min(-10.0, 1.25 * low)), max(10.0, 1.25 * high))


def size_label(size: int) -> str:
    """Returns a message size for an axis: '64 KiB' without the blank and the B."""
    return size_text(size).replace(" ", "").replace("iB", "")


_MICRO = 1e6


@styled
def latency_lines(cells: pd.DataFrame, marks: Mapping[str, float]) -> Figure:
    """Draws one line per variant; `cells` is the table of a `LatencyComparison`. Operations without a message (a
    barrier) are left out. Both axes are logarithmic; the band is the interval. `marks` has one size to mark per
    variant, such as its eager limit.
    """
    sized = cells[cells["bytes"] > 0]
    operations = list(dict.fromkeys(sized["operation"]))
    palette = level_colours(list(dict.fromkeys(cells["variant"])))
    across = 1 if len(operations) == 1 else 2
    down = math.ceil(len(operations) / across)
    figure = Figure(figsize=(FULL_WIDTH, 0.4 + min(8.4, 1.75 * down)), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    for axes, operation in zip(grid.flat, operations, strict=False):
        for variant, colour in palette.items():
            line = sized[(sized["operation"] == operation) & (sized["variant"] == variant)].sort_values("bytes")
            known = line.dropna(subset=["low", "high"])
            axes.plot(line["bytes"], line["seconds"] * _MICRO, color=colour, linewidth=1.1, label=variant)
            low, high = known["low"].astype(float) * _MICRO, known["high"].astype(float) * _MICRO
            if variant in marks:
                axes.axvline(marks[variant], color=colour, linewidth=0.8, linestyle=":")
            axes.fill_between(known["bytes"], low, high, color=colour, alpha=0.2, linewidth=0)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_locator(LogLocator(base=2, numticks=8))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_label(int(value)) if value >= 1 else ""))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.tick_params(axis="x", labelsize=6)
        axes.set_title(operation, loc="left")
    for axes in grid.flat[len(operations) :]:
        axes.remove()
    figure.supylabel("latency, µs", fontsize=7.5)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=min(4, len(labels)))
    return figure


@styled
def operation_latencies(cells: pd.DataFrame) -> Figure:
    """Draws operations without sizes: a dot with its interval per operation and variant, on a logarithmic axis."""
    operations = list(dict.fromkeys(cells["operation"]))
    palette = level_colours(list(dict.fromkeys(cells["variant"])))
    figure = Figure(figsize=(FULL_WIDTH, 2.6), layout="constrained")
    axes = figure.subplots()
    for i, (variant, colour) in enumerate(palette.items()):
        shift = (i - (len(palette) - 1) / 2) * 0.5 / len(palette)
        chosen = cells[cells["variant"] == variant]
        places = [operations.index(operation) + shift for operation in chosen["operation"]]
        for x, low, high in zip(places, chosen["low"].astype(float), chosen["high"].astype(float), strict=True):
            error_bar(axes, x, low * _MICRO, high * _MICRO)
        label = wrapped_label(variant, KEY_WIDTH)
        axes.plot(places, chosen["seconds"] * _MICRO, MARKERS[i % len(MARKERS)], color=colour, label=label, zorder=5)
    axes.set_yscale("log")
    axes.set_xlim(-0.5, len(operations) - 0.5)
    name_places(axes, operations, PLOT_WIDTH)
    axes.set_ylabel("latency, µs")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    return figure
