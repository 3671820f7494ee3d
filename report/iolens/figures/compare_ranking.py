"""All points from best to worst with their intervals: what can and what cannot be told from the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from iolens.figures.compare_style import BEST, LEFT_OUT, POINT, error_bar, reach
from iolens.figures.style import FULL_WIDTH, styled

if TYPE_CHECKING:
    import pandas as pd

MOST = 36
"""Rows that stay readable on a page."""


@styled
def ranking(points: pd.DataFrame, label: str) -> Figure:
    """The points with a value, best first (the `MOST` best); orange: cannot be told from the best."""
    ranked = points.dropna(subset=["value"]).sort_values("value", ascending=False).head(MOST)
    figure = Figure(figsize=(FULL_WIDTH, 0.5 + 0.17 * len(ranked)), layout="constrained")
    axes = figure.subplots()
    for y, (_, point) in enumerate(ranked.iterrows()):
        colour = LEFT_OUT if point["left_out"] else BEST if point["tied"] else POINT
        error_bar(axes, y, point["low"], point["high"], horizontal=True)
        axes.plot(point["value"], y, "o", markersize=4, color=colour, zorder=5)
    axes.set_yticks(range(len(ranked)), list(ranked["name"]))
    axes.set_ylim(len(ranked) - 0.4, -0.6)
    axes.set_xlim(0, reach(ranked["value"], ranked["high"]))
    axes.set_xlabel(label)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    return figure
