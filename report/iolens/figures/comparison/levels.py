"""Colours of ordered levels, bars, intervals and axes of ratios, which all comparisons of points and of logs share."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from iolens.figures.style import INK, WRITE
from iolens.lazy import pd
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
