"""What the comparison's figures share: colours of ordered levels and error bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib

from iolens.figures.style import INK, WRITE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BEST = WRITE
POINT, LEFT_OUT = "#31688e", "#b8b8b8"


def level_colours(levels: Sequence[Any]) -> dict[Any, Any]:
    """Ordered colours, dark to light, that stay apart in grey and for the colour-blind."""
    scale = matplotlib.colormaps["viridis"]
    steps = max(1, len(levels) - 1)
    return {level: scale(0.15 + 0.65 * i / steps) for i, level in enumerate(levels)}


def reach(singles: pd.Series[float], highs: pd.Series[float]) -> float:
    """Where an axis ends: all runs fit, and intervals too unless they are far wider than the runs."""
    top = float(singles.max())
    return 1.06 * min(max(top, float(highs.max())), 1.5 * top) if highs.notna().any() else 1.06 * top


def error_bar(axes: Axes, x: float, low: float, high: float, horizontal: bool = False) -> None:
    """A thin interval with caps; nothing when there is no interval."""
    if math.isnan(low) or math.isnan(high):
        return
    middle, half = (low + high) / 2, (high - low) / 2
    at = (middle, x) if horizontal else (x, middle)
    xerr, yerr = (half, None) if horizontal else (None, half)
    axes.errorbar(*at, xerr=xerr, yerr=yerr, fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.5, zorder=4)
