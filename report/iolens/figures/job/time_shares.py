"""The parts of the time: one bar for the average rank, and a bar a rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job.activity import FEW_RANKS
from iolens.figures.style import FULL_WIDTH, canvas, styled
from iolens.metrics.processor.sampled.parts import (
    ASLEEP,
    COLLECTIVE,
    COMPUTE,
    IO,
    OFF_CORE,
    OPENMP,
    OTHER,
    POINT,
    PROFILER,
    RUNNABLE,
    START,
    SYNC,
    UNKNOWN,
    UNTRACED,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_COLOURS = {
    COMPUTE: "#009e73",
    UNTRACED: "#4a8f8f",
    OPENMP: "#8fcfb8",
    RUNNABLE: "#cc79a7",
    ASLEEP: "#f0b400",
    OFF_CORE: "#f5d98a",
    UNKNOWN: "#bdbdbd",
    POINT: "#0072b2",
    COLLECTIVE: "#3f92c7",
    SYNC: "#7fb6da",
    OTHER: "#28527a",
    IO["POSIX"]: "#d55e00",
    IO["STDIO"]: "#e8915a",
    IO["MPI-IO"]: "#a34700",
    IO["DFS"]: "#f0b590",
    IO["DAOS"]: "#7a3500",
    START: "#d5d9e0",
    PROFILER: "#777777",
}
_DARK = frozenset((COMPUTE, UNTRACED, POINT, OTHER, IO["POSIX"], IO["MPI-IO"], IO["DAOS"], PROFILER))
"""Parts whose numbers are written in white."""

_IN_A_ROW = 5
"""Entries of the legend in one row."""

_NARROWEST = 7.0
"""Per cent that a part needs for its number to be written into it."""


@styled
def total_time_bar(each: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws the shares of the average rank; `each` as metrics.processor.time.rank_time gives it."""
    shares = 100 * each.mean() / (each.mean().sum() or 1.0)
    shares = shares[shares > 0]
    rows = max(1, -(-len(shares) // _IN_A_ROW))
    figure, axes = canvas(width, 0.75 + 0.2 * rows, left=0.1, right=0.1, bottom=0.38, top=0.02 + 0.2 * rows)
    left = 0.0
    for name, share in shares.items():
        axes.barh(0, share, 0.8, left=left, color=_COLOURS[str(name)], label=str(name))
        if share >= _NARROWEST:
            colour = "white" if name in _DARK else "black"
            axes.text(left + share / 2, 0, f"{share:.0f} %", ha="center", va="center", color=colour)
        left += share
    axes.set_xlim(0, 100)
    axes.set_yticks([])
    axes.set_xlabel("% of the run time")
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=_IN_A_ROW, columnspacing=1.2)
    return figure


@styled
def rank_time_bars(each: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws the seconds of each rank, in the same colours."""
    figure, axes = canvas(width, 1.7, left=0.5, top=0.08)
    edges = np.append(each.index, each.index[-1] + 1) - 0.5
    below = np.zeros(len(each))
    for name, colour in _COLOURS.items():
        upper = below + each[name].to_numpy(dtype=float)
        axes.stairs(upper, edges, baseline=below, fill=True, color=colour)
        below = upper
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, None)
    axes.set_xlabel("rank")
    axes.set_ylabel("s")
    if len(each) <= FEW_RANKS:
        axes.set_xticks(list(each.index))
    else:
        axes.locator_params(axis="x", integer=True)
    axes.locator_params(axis="y", nbins=4)
    return figure
