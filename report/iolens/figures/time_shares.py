"""Computing, waiting, moving messages and I/O: one bar for the average rank, and a bar a rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.activity import FEW_RANKS
from iolens.figures.style import FULL_WIDTH, canvas, styled
from iolens.metrics.processor.time import COMPUTE, IO, START, TRANSFER, WAITING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLOURS = {COMPUTE: "#009e73", WAITING: "#f0b400", TRANSFER: "#0072b2", START: "#9bc3dd", IO: "#d55e00"}
NARROWEST = 7.0
"""Per cent that a part needs for its number to be written into it."""


@styled
def total_time_bar(each: pd.DataFrame, of_processors: bool = False, width: float = FULL_WIDTH) -> Figure:
    """Returns shares of the average rank; `each` as metrics.processor.time.rank_time gives it, of the run time or of
    what the processors worked.
    """
    figure, axes = canvas(width, 0.95, left=0.1, right=0.1, bottom=0.38, top=0.22)
    shares = 100 * each.mean() / (each.mean().sum() or 1.0)
    left = 0.0
    for name, share in shares[shares > 0].items():
        axes.barh(0, share, 0.8, left=left, color=COLOURS[str(name)], label=str(name))
        if share >= NARROWEST:
            dark = name in (COMPUTE, TRANSFER, IO)
            axes.text(
                left + share / 2, 0, f"{share:.0f} %", ha="center", va="center", color="white" if dark else "black"
            )
        left += share
    axes.set_xlim(0, 100)
    axes.set_yticks([])
    axes.set_xlabel("% of the processor's time" if of_processors else "% of the run time")
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(COLOURS), columnspacing=1.2)
    return figure


@styled
def rank_time_bars(each: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws seconds of each rank, in the same colours."""
    figure, axes = canvas(width, 1.7, left=0.5, top=0.08)
    edges = np.append(each.index, each.index[-1] + 1) - 0.5
    below = np.zeros(len(each))
    for name, colour in COLOURS.items():
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
