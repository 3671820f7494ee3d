"""One job in a strip: where the time went, how often each operation was called, in which sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from iolens.figures.style import FULL_WIDTH, META, OTHER, READ, WRITE, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_HEIGHT = 1.55
_KINDS = {"read": READ, "write": WRITE, "meta": META, "other": OTHER}


@styled
def job_strip(cost: pd.DataFrame, operations: pd.DataFrame, sizes: pd.DataFrame) -> Figure:
    """Draws three panels: `cost` has `module` and seconds per process by kind; `operations` has `call` and `count`;
    `sizes` has `bucket` and one column of counts per layer.
    """
    figure = Figure(figsize=(FULL_WIDTH, _HEIGHT))
    left, width, bottom, height = (0.065, 0.43, 0.725), (0.205, 0.175, 0.265), 0.27, 0.58
    axes = [figure.add_axes((x, bottom, wide, height)) for x, wide in zip(left, width, strict=True)]
    _draw_cost(axes[0], cost)
    _draw_operations(axes[1], operations)
    _draw_sizes(axes[2], sizes)
    return figure


def _draw_cost(axes: Axes, cost: pd.DataFrame) -> None:
    """Draws stacked bars of seconds, one bar per layer."""
    begin = np.zeros(len(cost))
    for kind, colour in _KINDS.items():
        axes.barh(range(len(cost)), cost[kind], left=begin, height=0.62, color=colour, label=kind)
        begin += cost[kind].to_numpy(dtype=float)
    axes.set_yticks(range(len(cost)), list(cost["module"]))
    axes.invert_yaxis()
    axes.set_xlabel("seconds per process")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    axes.legend(ncols=4, loc="lower left", bbox_to_anchor=(0, 1.0), columnspacing=0.9, handlelength=0.8)


def _draw_operations(axes: Axes, operations: pd.DataFrame) -> None:
    """Draws horizontal bars with the number of calls beside them."""
    counts = operations["count"].to_numpy(dtype=float)
    axes.barh(range(len(counts)), counts, height=0.62, color="#31688e")
    for y, count in enumerate(counts):
        axes.annotate(f"{count:.0f}", (count, y), (2, 0), textcoords="offset points", va="center", fontsize=6.5)
    axes.set_yticks(range(len(counts)), list(operations["call"]))
    axes.invert_yaxis()
    axes.set_xlim(0, max(1.0, float(counts.max(initial=0))) * 1.25)
    axes.set_xticks([])
    axes.set_xlabel("calls, all ranks")
    axes.grid(visible=False)


def _draw_sizes(axes: Axes, sizes: pd.DataFrame) -> None:
    """Draws grouped bars over the ranges of access sizes, one colour per layer."""
    layers = [column for column in sizes.columns if column != "bucket"]
    wide = 0.8 / max(1, len(layers))
    for i, (layer, colour) in enumerate(zip(layers, ("#31688e", "#8fb8c9"), strict=False)):
        places = np.arange(len(sizes)) + (i - (len(layers) - 1) / 2) * wide
        axes.bar(places, sizes[layer], wide, color=colour, label=layer)
    axes.set_xticks(range(len(sizes)), list(sizes["bucket"]), rotation=38, ha="right", rotation_mode="anchor")
    axes.tick_params(axis="x", labelsize=6)
    axes.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1.0), handlelength=0.8, title_fontsize=7)
