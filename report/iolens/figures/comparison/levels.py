"""Colours of ordered levels and error bars, which all figures of the comparison share."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib

from iolens.figures.style import INK, WRITE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BEST = WRITE
_CHARACTER = 0.06
"""Inches that a character of a tick's label takes on average."""
_ANGLED = 28
"""Characters in a line of a label that stands at an angle."""
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


def wrapped(text: str, width: int) -> str:
    """Returns the text in lines of at most `width` characters, but for words that are longer."""
    return textwrap.fill(text, width, break_long_words=False)


def lines_of(text: str) -> int:
    """Returns number of lines of a label."""
    return text.count("\n") + 1


def name_places(axes: Axes, names: Sequence[str], inches: float) -> None:
    """Returns names the places 0, 1, … of the x axis, in lines that fit side by side into `inches`.

    Where a single word is wider than its place, the names stand at an angle.
    """
    width = max(4, int(inches / max(1, len(names)) / _CHARACTER) - 1)
    labels = [wrapped(name, width) for name in names]
    if max((len(line) for label in labels for line in label.split("\n")), default=0) <= width:
        axes.set_xticks(range(len(names)), labels)
    else:
        upright = [wrapped(name, _ANGLED) for name in names]
        axes.set_xticks(range(len(names)), upright, rotation=35, ha="right", rotation_mode="anchor")


def error_bar(axes: Axes, x: float, low: float, high: float, horizontal: bool = False) -> None:
    """Draws a thin interval with caps; nothing if there is no interval."""
    if math.isnan(low) or math.isnan(high):
        return
    middle, half = (low + high) / 2, (high - low) / 2
    at = (middle, x) if horizontal else (x, middle)
    xerr, yerr = (half, None) if horizontal else (None, half)
    axes.errorbar(*at, xerr=xerr, yerr=yerr, fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.5, zorder=4)
