"""POSIX accesses by the order of their offsets: all, sequential, consecutive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.figures.operations import short
from iolens.figures.sizes import rounded
from iolens.figures.style import HALF_WIDTH, READ, WRITE, canvas, nothing, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

KINDS = ("total", "sequential", "consecutive")


@styled
def pattern_bars(pattern: pd.DataFrame, width: float = HALF_WIDTH) -> Figure:
    """`pattern` as metrics.operations.access_pattern gives it."""
    if not pattern["total"].any():
        return nothing(width, 1.4, "no POSIX access")
    figure, axes = canvas(width, 1.9, left=0.42, bottom=0.3, top=0.24)
    for shift, kind, colour in ((-0.2, "read", READ), (0.2, "write", WRITE)):
        values = [float(pattern.loc[pattern["kind"] == kind, name].iloc[0]) for name in KINDS]
        places = [place + shift for place in range(len(KINDS))]
        axes.bar(places, values, 0.38, color=colour, label=f"{kind}s")
        for place, value in zip(places, values, strict=True):
            axes.annotate(rounded(value), (place, value), (0, 1.5), textcoords="offset points", ha="center", fontsize=6)
    axes.set_xticks(range(len(KINDS)), KINDS)
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(lambda value, _: short(value))
    axes.locator_params(axis="y", nbins=5, integer=True)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, columnspacing=1.0)
    return figure
