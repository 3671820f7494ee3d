"""Bandwidth over two settings as a table of colours with numbers; one panel per level of the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from iolens.figures.comparison.bars import matching
from iolens.figures.comparison.levels import BEST, name_places, wrapped_label
from iolens.figures.style import FULL_WIDTH, styled
from iolens.lazy import pd
from iolens.metrics.comparison.settings import describe, level_text, name_text, sorted_levels

_COLUMNS = 12
"""Maximum number of columns, over all panels of a page, whose numbers can still be read."""
_PLOT_WIDTH = 5.0
"""Width in inches that is left for the cells beside the names of the rows and the scale."""
_ROW_NAME = 26
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
        _draw_cells(axes, points[matching(points, panel)], pair, scale, best, _PLOT_WIDTH / across)
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
    axes.set_yticks(range(len(down)), [wrapped_label(level_text(pair[0], level), _ROW_NAME) for level in down])
    axes.set(xlabel=name_text(pair[1]), ylabel=name_text(pair[0]))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
