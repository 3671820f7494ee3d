"""Percent improvement of each variant over the baseline, by message size: bars above the line are faster."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from iolens.figures.comparison.levels import error_bar, level_colours, name_places, wrapped_label
from iolens.figures.style import FULL_WIDTH, INK, styled
from iolens.lazy import pd
from iolens.metrics.comparison.settings import size_text

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
