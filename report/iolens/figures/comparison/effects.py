"""The effect of each setting as a ratio with its interval, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from iolens.figures.comparison.levels import POINT, lines_of, ratio_axes, ratio_mark, wrapped
from iolens.figures.style import FULL_WIDTH, styled
from iolens.metrics.comparison.settings import level_text, name_text

if TYPE_CHECKING:
    import pandas as pd


_ROW_NAME = 48
"""Characters in a line of a row's name."""


@styled
def effect_forest(effects: pd.DataFrame, what: str = "bandwidth") -> Figure:
    """Returns one row per level against its base level (frame of `comparison_effects.effects`); `what` the ratios are
    of.

    The diamond and its caps are the mean effect and its interval; the thin grey line runs from the smallest to the
    largest effect that a single pair of points showed: a long one means that it depends on the other settings.
    """
    texts = [wrapped(_row_text(row), _ROW_NAME) for _, row in effects.iterrows()]
    height = max(0.26, 0.05 + 0.13 * max(map(lines_of, texts)))
    figure = Figure(figsize=(FULL_WIDTH, 0.6 + height * len(effects)), layout="constrained")
    axes = figure.subplots()
    for y, row in enumerate(effects.itertuples()):
        axes.plot([row.smallest, row.largest], [y, y], color="#bbbbbb", linewidth=3.5, solid_capstyle="round")
        ratio_mark(axes, y, row.ratio, row.low, row.high, markersize=5, color=POINT)
    ratio_axes(axes, *_limits(effects), texts, f"{what}, as a multiple of the base level (1× = no effect)")
    return figure


def _row_text(effect: Mapping[str, Any]) -> str:
    """Returns the change of a setting: 'stripe count  1 → 4'."""
    name, base, level = effect["setting"], effect["base"], effect["level"]
    return f"{name_text(name)}  {level_text(name, base)} → {level_text(name, level)}"


def _limits(effects: pd.DataFrame) -> tuple[float, float]:
    """Returns ends of the axis: all effects and 1 fit, and intervals too unless they are far wider than the effects."""
    least, most = min(float(effects["smallest"].min()), 1.0), max(float(effects["largest"].max()), 1.0)
    low = max(min(float(effects[["smallest", "low"]].min().min()), 1.0), least / 3)
    high = min(max(float(effects[["largest", "high"]].max().max()), 1.0), most * 3)
    return low / 1.08, high * 1.08
