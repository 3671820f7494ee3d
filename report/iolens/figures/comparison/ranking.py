"""All points from best to worst with their intervals: the points that may be as good as the best, and the others."""

from __future__ import annotations

from matplotlib.figure import Figure

from iolens.figures.comparison.levels import BEST, LEFT_OUT, POINT, error_bar, level_lines, reach, wrapped_label
from iolens.figures.style import FULL_WIDTH, styled
from iolens.lazy import pd

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
