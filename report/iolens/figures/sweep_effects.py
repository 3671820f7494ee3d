"""The settings of a sweep and their effect: grouped bars, tables of colours, intervals of ratios, and interactions."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import NullLocator

from iolens.figures.style import FULL_WIDTH, INK, WRITE, styled
from iolens.lazy import pd
from iolens.metrics.comparison.settings import describe, describe_one, level_text, name_text, sorted_levels
from iolens.missing import is_nan

BEST = WRITE
_CHARACTER = 0.06
"""Inches that a character of a tick's label takes on average."""
_ANGLED = 28
"""Maximum width of a line of a label that stands at an angle, in characters."""
_MOST_TICKS = 9
"""Maximum number of ticks on a logarithmic axis; more would not be readable."""
_KEY_WIDTH = 28
"""Maximum width of a line in the key of a line chart, in characters."""
MARKERS = "osD^vP*X"
POINT, LEFT_OUT = "#31688e", "#b8b8b8"


def level_colours(levels: Sequence[Any]) -> dict[Any, Any]:
    """Returns ordered colours from dark to light that remain distinguishable in grey and for colour-blind readers."""
    scale = matplotlib.colormaps["viridis"]
    steps = max(1, len(levels) - 1)
    return {level: scale(0.15 + 0.65 * i / steps) for i, level in enumerate(levels)}


def reach(singles: pd.Series[float], highs: pd.Series[float]) -> float:
    """Returns the end of an axis: all runs fit, and the intervals too unless they are far wider than the runs."""
    top = float(singles.max())
    return 1.06 * min(max(top, float(highs.max())), 1.5 * top) if highs.notna().any() else 1.06 * top


def wrapped_label(text: str, width: int) -> str:
    """Returns the text in lines of at most `width` characters; longer words are not broken."""
    return textwrap.fill(text, width, break_long_words=False)


def level_lines(text: str) -> int:
    """Returns the number of lines of a label."""
    return text.count("\n") + 1


def name_places(axes: Axes, names: Sequence[str], inches: float) -> None:
    """Labels the places 0, 1, … of the x axis, with lines broken so that the labels fit side by side into `inches`.

    If a single word is wider than its place, the names stand at an angle.
    """
    width = max(4, int(inches / max(1, len(names)) / _CHARACTER) - 1)
    labels = [wrapped_label(name, width) for name in names]
    if max((len(line) for label in labels for line in label.split("\n")), default=0) <= width:
        axes.set_xticks(range(len(names)), labels)
    else:
        upright = [wrapped_label(name, _ANGLED) for name in names]
        axes.set_xticks(range(len(names)), upright, rotation=35, ha="right", rotation_mode="anchor")


def error_bar(axes: Axes, x: float, low: float, high: float, horizontal: bool = False) -> None:
    """Draws a thin interval with caps; nothing if there is no interval."""
    if math.isnan(low) or math.isnan(high):
        return
    middle, half = (low + high) / 2, (high - low) / 2
    at = (middle, x) if horizontal else (x, middle)
    xerr, yerr = (half, None) if horizontal else (None, half)
    axes.errorbar(*at, xerr=xerr, yerr=yerr, fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.5, zorder=4)


def level_line(axes: Axes, place: int, at: Sequence[float], rows: pd.DataFrame, **look: Any) -> None:
    """Draws the `value` of rows at these positions on the x axis as a line, with intervals from `low` to `high`.
    `place` is the place of the level, which determines its marker; `look` has its colour and its label.
    """
    look["label"] = wrapped_label(look["label"], _KEY_WIDTH)
    axes.plot(at, rows["value"], marker=MARKERS[place % len(MARKERS)], zorder=3, **look)
    for x, low, high in zip(at, rows["low"], rows["high"], strict=True):
        error_bar(axes, x, low, high)


def value_bar(
    axes: Axes,
    x: float,
    width: float,
    interval: tuple[float, float, float],
    singles: Sequence[float],
    bound: float | None,
    **look: Any,
) -> None:
    """Draws a value as a bar, from its `interval` (the value and both ends), with dots for its single measurements and
    a line at the bound of the storage; n/a without a value.
    """
    value, low, high = interval
    if is_nan(value):
        axes.annotate("n/a", (x, 0), ha="center", va="bottom", fontsize=6.5)
        return
    axes.bar(x, value, width * 0.94, **look)
    error_bar(axes, x, low, high)
    if bound is not None and not is_nan(bound):
        axes.plot((x - width * 0.47, x + width * 0.47), (bound,) * 2, color=INK, linewidth=1.4, zorder=4)
    places = [x + width * 0.5 * ((i + 0.5) / len(singles) - 0.5) for i in range(len(singles))]
    axes.scatter(places, list(singles), s=7, color="white", edgecolor=INK, linewidth=0.6, zorder=5)


def ratio_mark(axes: Axes, y: float, ratio: float, low: float, high: float, **look: Any) -> None:
    """Draws a ratio as a diamond with its interval, and its number at the right edge."""
    axes.plot(ratio, y, marker="D", zorder=5, **look)
    error_bar(axes, y, low, high, horizontal=True)
    places = 2 if ratio < 9.995 else 1 if ratio < 99.95 else 0
    axes.annotate(f"{ratio:.{places}f}×", (1.01, y), xycoords=("axes fraction", "data"), va="center", color=INK)


def ratio_axes(axes: Axes, low: float, high: float, names: Sequence[str], label: str) -> None:
    """Gives a figure of ratios its logarithmic axis from `low` to `high`, a line at 1, and a named row per ratio."""
    axes.axvline(1.0, color=INK, linewidth=0.8)
    axes.set_xscale("log")
    ticks = ratio_ticks(low, high)
    axes.set_xlim(low, high)
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(names)), list(names))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(label)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")


def ratio_ticks(low: float, high: float) -> list[float]:
    """Returns ticks of a ratio axis; finer when all effects are small."""
    if high / low < 1.6:
        return [t for t in (0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5) if low <= t <= high]
    if high / low < 3:
        return [t for t in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.6, 1.8, 2, 2.5) if low <= t <= high]
    return nice_ticks(low, high)


def nice_ticks(low: float, high: float) -> list[float]:
    """Returns round numbers within [low, high] of a logarithmic axis, as many as stay readable."""
    for steps in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [m * 10.0**e for e in range(-9, 12) for m in steps if low <= m * 10.0**e <= high]
        if len(ticks) <= _MOST_TICKS:
            break
    return ticks


_ROW_NAME = 48
"""Maximum width of a line of a row's name, in characters."""


@styled
def ratio_rows(ratios: pd.DataFrame, label: str, legend: Mapping[str, str]) -> Figure:
    """Draws a row for each `text`, and in it a diamond for each `series`, with the interval of its `ratio` from `low`
    to `high` (NaN without one), and a grey line from `smallest` to `largest`, if these columns exist. `legend` has
    the names of the series in their order, and of the baseline; `label` names the axis.
    """
    rows, others = list(dict.fromkeys(ratios["text"])), list(legend)[1:]
    texts = [wrapped_label(text, _ROW_NAME) for text in rows]
    height = max(0.13 + 0.13 * len(others), 0.05 + 0.13 * max(map(level_lines, texts)))
    figure = Figure(figsize=(FULL_WIDTH, 0.7 + height * len(rows)), layout="constrained")
    axes = figure.subplots()
    palette = level_colours(list(legend)) if len(others) > 1 else dict.fromkeys(legend, POINT)
    for mark in ratios.to_dict("records"):
        y = rows.index(mark["text"]) + (others.index(mark["series"]) - (len(others) - 1) / 2) * 0.7 / len(others)
        if not is_nan(mark.get("smallest", float("nan"))):
            span = [mark["smallest"], mark["largest"]]
            axes.plot(span, [y, y], color="#bbbbbb", linewidth=3.5, solid_capstyle="round")
        ratio_mark(axes, y, mark["ratio"], mark["low"], mark["high"], markersize=5, color=palette[mark["series"]])
    ratio_axes(axes, *_axis_ends(ratios), texts, label)
    if len(others) > 1:
        handles = [Line2D([], [], marker="D", linestyle="", color=palette[one], label=legend[one]) for one in others]
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
    return figure


def effect_forest(effects: pd.DataFrame, what: str = "bandwidth") -> Figure:
    """Draws each row of `effects` (see metrics.comparison.effects): a level of a setting against its base level; `what`
    names the quantity of the ratios.

    The diamond and its caps are the mean effect and its interval; the thin grey line runs from the smallest to the
    largest effect that a single pair of points showed. A long line means that the effect depends on the other settings.
    """
    marks = effects.assign(text=[_row_text(row) for _, row in effects.iterrows()], series="level")
    label = f"{what}, as a multiple of the base level (1× = no effect)"
    return ratio_rows(marks, label, {"base": "", "level": ""})


def _row_text(effect: Mapping[str, Any]) -> str:
    """Returns the change of a setting: 'stripe count  1 → 4'."""
    name, base, level = effect["setting"], effect["base"], effect["level"]
    return f"{name_text(name)}  {level_text(name, base)} → {level_text(name, level)}"


def _axis_ends(ratios: pd.DataFrame) -> tuple[float, float]:
    """Returns the ends of the axis: all ratios and 1 fit, and intervals too unless they are far wider than the
    ratios.
    """
    inner = ratios[[name for name in ("ratio", "smallest", "largest") if name in ratios]]
    least, most = min(float(inner.min().min()), 1.0), max(float(inner.max().max()), 1.0)
    low = max(min(least, float(ratios["low"].fillna(1.0).min())), least / 3)
    high = min(max(most, float(ratios["high"].fillna(1.0).max())), most * 3)
    return low / 1.08, high * 1.08


_PLOT_WIDTH = 4.6
"""Width in inches that is left for the lines beside the axis and the key."""


@styled
def interaction_lines(cells: pd.DataFrame, pair: tuple[str, str], label: str) -> Figure:
    """Draws one line per level of `pair[0]` over `pair[1]`; `cells` has the pair's columns, `value`, `low` and `high`.

    The bandwidth axis is logarithmic, so that equal factors have equal slopes.
    """
    figure = Figure(figsize=(FULL_WIDTH, 2.5), layout="constrained")
    axes = figure.subplots()
    across = sorted_levels(cells[pair[1]])
    lines = level_colours(sorted_levels(cells[pair[0]]))
    for i, (level, colour) in enumerate(lines.items()):
        chosen = cells[cells[pair[0]] == level]
        x = [across.index(v) + (i - (len(lines) - 1) / 2) * 0.04 for v in chosen[pair[1]]]
        level_line(axes, i, x, chosen, color=colour, label=describe_one(pair[0], level))
    axes.set_yscale("log")
    low, high = float(cells["value"].min()) / 1.4, float(cells["value"].max()) * 1.4
    ticks = nice_ticks(low, high)
    axes.set_ylim(low, high)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())
    name_places(axes, [level_text(pair[1], level) for level in across], _PLOT_WIDTH)
    axes.set(xlabel=name_text(pair[1]), ylabel=label)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


_BARS_PLOT_WIDTH = 5.2
"""Width in inches that is left for the bars beside the axis and the key."""
_BARS_KEY_WIDTH = 20
"""Maximum width of a line in the key, in characters."""
_LOST: dict[str, Any] = {
    "textcoords": "offset points",
    "ha": "center",
    "fontsize": 5.5,
    "zorder": 6,
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.6},
}
"""Properties of the text that says how many runs a bar lost."""


class BarColumns(NamedTuple):
    """Names of columns: the value and the ends of its interval in the points, and the measure in the runs."""

    value: str
    low: str
    high: str
    single: str


@dataclass(frozen=True)
class Bars:
    """The properties that all panels share: the settings of groups and colours, a colour for each level, and the best
    point.
    """

    runs: pd.DataFrame
    groups: str
    colours: str | None
    palette: Mapping[Any, Any]
    columns: BarColumns
    best: int | None


@styled
def grouped_bars(
    points: pd.DataFrame,
    runs: pd.DataFrame,
    factors: Sequence[str],
    columns: tuple[str, str, str, str],
    label: str,
    best: int | None,
) -> Figure:
    """Draws bars of `points` and dots of `runs`, from their `columns` (see BarColumns).

    `factors` are the settings with more than one level; `label` names the axis with its unit. A bar in grey
    was left out of the comparison; a setting that lost runs says how many. A line across a bar of bandwidth is its
    `bound`.
    """
    groups, colours, rest = factors[0], factors[1] if len(factors) > 1 else None, list(factors[2:])
    panels = [dict(zip(rest, combo, strict=True)) for combo in product(*(sorted_levels(points[n]) for n in rest))]
    figure = Figure(figsize=(FULL_WIDTH, _panel_height(len(panels))), layout="constrained")
    grid = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)
    palette = level_colours(sorted_levels(points[colours])) if colours else {None: POINT}
    bars = Bars(runs, groups, colours, palette, BarColumns(*columns), best)
    for axes, panel in zip(grid[:, 0], panels, strict=True):
        _draw_panel(axes, points[matching(points, panel)], bars)
        if panel:
            axes.set_title(describe(panel), loc="left")
        axes.set_ylabel(label)
    shown = runs.loc[runs["usable"], bars.columns.single].dropna().astype(float)
    top = reach(shown, points[bars.columns.high])
    if bars.columns.value == "value" and points["bound"].notna().any():
        top = max(top, 1.06 * float(points["bound"].max()))
    grid[-1, 0].set_ylim(0, top)
    grid[-1, 0].set_xlabel(name_text(groups))
    if colours:
        handles = [
            Patch(color=palette[level], label=wrapped_label(level_text(colours, level), _BARS_KEY_WIDTH))
            for level in palette
        ]
        figure.legend(handles=handles, title=name_text(colours), loc="outside right upper")
    return figure


def _panel_height(panels: int) -> float:
    """Returns the height of a figure in inches: two figures of one or two panels fit on a page, more panels take a page
    of their own.
    """
    return 0.6 + (2.1 if panels == 1 else min(1.75 * panels, 8.6))


def matching(points: pd.DataFrame, panel: Mapping[str, Any]) -> pd.Series[bool]:
    """Returns the points that have the levels of `panel`."""
    mask = points["label"] != ""
    for name, level in panel.items():
        mask &= points[name] == level
    return mask


def _draw_panel(axes: Axes, points: pd.DataFrame, bars: Bars) -> None:
    """Draws the bars of one panel."""
    value, low, high, single = bars.columns
    groups, runs = bars.groups, bars.runs
    levels = sorted_levels(points[groups])
    width = 0.8 / len(bars.palette)
    order = list(bars.palette)
    for index, point in points.iterrows():
        place = order.index(point[bars.colours]) if bars.colours else 0
        x = levels.index(point[groups]) + (place - (len(order) - 1) / 2) * width
        if point["lost"]:
            axes.annotate(f"{point['lost']} lost", (x, 0), (0, 10), **_LOST)
        face = LEFT_OUT if point["left_out"] else bars.palette[order[place]]
        edge, thick = (BEST, 1.8) if index == bars.best else ("white", 0.4)
        dots = runs.loc[(runs["point"] == index) & runs["usable"], single].dropna().astype(float)
        bound = point["bound"] if value == "value" else None
        look = {"color": face, "hatch": "///" if point["left_out"] else None, "edgecolor": edge, "linewidth": thick}
        value_bar(axes, x, width, (point[value], point[low], point[high]), list(dots), bound, **look)
    axes.set_xlim(-0.5, len(levels) - 0.5)
    name_places(axes, [level_text(groups, level) for level in levels], _BARS_PLOT_WIDTH)


_COLUMNS = 12
"""Maximum number of columns, over all panels of a page, whose numbers can still be read."""
_HEATMAP_PLOT_WIDTH = 5.0
"""Width in inches that is left for the cells beside the names of the rows and the scale."""
_HEATMAP_ROW_NAME = 26
"""Maximum width of a line of a row's name, in characters."""


@styled
def heatmap_figure(
    points: pd.DataFrame, pair: tuple[str, str], rest: Sequence[str], label: str, best: int | None
) -> Figure:
    """Draws the typical bandwidth of each point; rows are `pair[0]`, columns `pair[1]`, panels the levels of `rest`.

    Cells left out of the comparison are hatched, and the best one is framed. A cell without a value says n/a, and a
    cell with lost runs says how many.
    """
    panels = [dict(zip(rest, combo, strict=True)) for combo in product(*(sorted_levels(points[n]) for n in rest))]
    across = max(1, min(len(panels), _COLUMNS // len(sorted_levels(points[pair[1]]))))
    down = math.ceil(len(panels) / across)
    rows = len(sorted_levels(points[pair[0]]))
    figure = Figure(figsize=(FULL_WIDTH, down * max(1.9, 0.75 + 0.42 * rows)), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    scale = Normalize(0, float(points["value"].max()))
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_cells(axes, points[matching(points, panel)], pair, scale, best, _HEATMAP_PLOT_WIDTH / across)
        axes.set_title(describe(panel))
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    bar = matplotlib.cm.ScalarMappable(scale, "viridis_r")
    figure.colorbar(bar, ax=list(grid.flat[: len(panels)]), label=label, shrink=0.9, aspect=14)
    return figure


def _short_number(value: float) -> str:
    """Formats a whole number, or two digits if a whole number would say too little: 571, 5.7, 0.45."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _draw_cells(
    axes: Axes, points: pd.DataFrame, pair: tuple[str, str], scale: Any, best: int | None, inches: float
) -> None:
    """Draws one panel, `inches` wide: a coloured rectangle and a number per point."""
    down, across = (sorted_levels(points[name]) for name in pair)
    for index, point in points.iterrows():
        x, y = across.index(point[pair[1]]), down.index(point[pair[0]])
        known = not math.isnan(point["value"])
        share = scale(point["value"]) if known else 0.0
        colour = matplotlib.colormaps["viridis_r"](share) if known else "#f0f0f0"
        hatch = "////" if point["left_out"] and known else None
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", hatch=hatch))
        text = _short_number(point["value"]) if known else "n/a"
        text += f"\n{point['lost']} lost" if point["lost"] else ""
        axes.text(
            x,
            y,
            text,
            ha="center",
            va="center",
            fontsize=6.5 if point["lost"] else 8,
            color="black" if share < 0.4 or hatch or not known else "white",
            bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"} if hatch else None,
        )
        if index == best:
            frame = Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, fill=False, edgecolor=BEST, linewidth=2.2)
            axes.add_patch(frame)
    axes.set(xlim=(-0.5, len(across) - 0.5), ylim=(-0.5, len(down) - 0.5))
    name_places(axes, [level_text(pair[1], level) for level in across], inches)
    axes.set_yticks(range(len(down)), [wrapped_label(level_text(pair[0], level), _HEATMAP_ROW_NAME) for level in down])
    axes.set(xlabel=name_text(pair[1]), ylabel=name_text(pair[0]))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
