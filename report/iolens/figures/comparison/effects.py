"""The effect of each setting as a ratio with its interval, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from iolens.figures.comparison.interaction import nice_ticks
from iolens.figures.comparison.levels import POINT, error_bar, lines_of, wrapped
from iolens.figures.style import FULL_WIDTH, INK, styled
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
        axes.plot(row.ratio, y, marker="D", markersize=5, color=POINT, zorder=5)
        error_bar(axes, y, row.low, row.high, horizontal=True)
        axes.annotate(f"{row.ratio:.2f}×", (1.01, y), xycoords=("axes fraction", "data"), va="center", color=INK)
    axes.axvline(1.0, color=INK, linewidth=0.8)
    axes.set_xscale("log")
    low, high = _limits(effects)
    ticks = ratio_ticks(low, high)
    axes.set_xlim(low, high)
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(texts)), texts)
    axes.set_ylim(len(texts) - 0.5, -0.5)
    axes.set_xlabel(f"{what}, as a multiple of the base level (1× = no effect)")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
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


def ratio_ticks(low: float, high: float) -> list[float]:
    """Returns ticks of a ratio axis; finer when all effects are small."""
    if high / low < 1.6:
        return [t for t in (0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5) if low <= t <= high]
    return nice_ticks(low, high)
