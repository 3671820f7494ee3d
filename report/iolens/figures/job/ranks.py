"""A bar per rank: the bytes that it moved, the memory and processor time that it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job.activity import FEW_RANKS, UNITS, unit_of
from iolens.figures.style import FULL_WIDTH, HALF_WIDTH, INK, READ, WRITE, canvas, mark, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BARS = 400
"""Largest number of bars, for which the width of a page has enough points."""

_FEW_BARS = 32
"""Largest number of bars that are drawn with gaps."""

_WIDEST_BAR = 0.4
"""Width of a rank's bar in inches."""

MEMORY, _PROGRAM, _KERNEL = "#cc79a7", "#555555", "#aaaaaa"


@styled
def rank_bars(moved: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws stacked bars of bytes read and written, and their mean; `moved` is a result of
    metrics.job.balance.rank_bytes.
    """
    unit = unit_of(moved.sum(axis=1).max())
    return _stacked(moved[["written", "read"]] / UNITS[unit], (WRITE, READ), unit, width)


@styled
def memory_bars(usage: pd.DataFrame, width: float = HALF_WIDTH) -> Figure:
    """Draws the largest resident set of each rank and the mean; `usage` is a result of `rank_usage` in
    metrics.job.processes.
    """
    unit = unit_of(usage["max_rss"].max())
    return _stacked(usage[["max_rss"]].set_axis(["resident"], axis=1) / UNITS[unit], (MEMORY,), unit, width)


@styled
def processor_bars(usage: pd.DataFrame, width: float = HALF_WIDTH) -> Figure:
    """Draws stacked bars of processor time in the kernel and in the program, and their mean; `usage` is a result of
    metrics.job.processes.rank_usage.
    """
    parts = usage[["user_time", "system_time"]].set_axis(["program", "kernel"], axis=1)
    return _stacked(parts, (_PROGRAM, _KERNEL), "s", width)


def _stacked(parts: pd.DataFrame, colours: Sequence[str], unit: str, width: float) -> Figure:
    """Draws the columns of `parts` as stacked bars, one bar for each rank of the index, and the mean of the ranks.

    With more than _MOST_BARS ranks, several neighbouring ranks share a bar, which shows the largest of them.
    """
    left = 0.55
    room = max(0.0, width - left - 0.1 - _WIDEST_BAR * len(parts))
    figure, axes = canvas(width, 1.6, left=left, right=0.1 + room, top=0.2)
    total, each = parts.sum(axis=1), -(-len(parts) // _MOST_BARS)
    edges = np.append(parts.index[::each], parts.index[-1] + 1) - 0.5
    if each > 1:
        parts = parts.loc[total.groupby(np.arange(len(parts)) // each).idxmax()]
    below = np.zeros(len(parts))
    for name, colour in zip(parts, colours, strict=True):
        values = parts[name].to_numpy(dtype=float)
        if len(parts) <= _FEW_BARS:
            axes.bar(parts.index, values, 0.75, bottom=below, color=colour, label=str(name))
        else:
            axes.stairs(below + values, edges, baseline=below, fill=True, color=colour, label=str(name))
        below = below + values
    axes.axhline(total.mean(), color=INK, linewidth=0.8, linestyle="--", label="mean")
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, None)
    axes.set_xlabel("rank" if each == 1 else f"rank (largest of each group of {each})")
    axes.set_ylabel(unit)
    if len(total) <= FEW_RANKS:
        mark(axes.xaxis, list(parts.index))
    else:
        axes.locator_params(axis="x", integer=True)
    axes.locator_params(axis="y", nbins=4)
    axes.legend(loc="lower left" if room else "lower right", bbox_to_anchor=(0 if room else 1, 1), ncols=3)
    return figure
