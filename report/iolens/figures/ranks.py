"""How many bytes each rank moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.activity import FEW_RANKS, UNITS, unit_of
from iolens.figures.style import FULL_WIDTH, INK, READ, WRITE, canvas, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@styled
def rank_bars(moved: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Bytes read on top of bytes written and their mean; `moved` as metrics.balance.rank_bytes gives it."""
    figure, axes = canvas(width, 1.6, left=0.55, top=0.2)
    total = moved["written"] + moved["read"]
    unit = unit_of(total.max())
    written, both = moved["written"] / UNITS[unit], total / UNITS[unit]
    edges = np.arange(len(moved) + 1) - 0.5
    axes.stairs(written, edges, fill=True, color=WRITE, label="written")
    axes.stairs(both, edges, baseline=written, fill=True, color=READ, label="read")
    axes.axhline(both.mean(), color=INK, linewidth=0.8, linestyle="--", label="mean")
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xlabel("rank")
    axes.set_ylabel(unit)
    if len(moved) <= FEW_RANKS:
        axes.set_xticks(range(len(moved)))
    else:
        axes.locator_params(axis="x", integer=True)
    axes.locator_params(axis="y", nbins=4)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3)
    return figure
