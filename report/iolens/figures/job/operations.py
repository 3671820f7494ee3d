"""The number of calls of each operation, one group of bars per layer."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from iolens.figures.style import HALF_WIDTH, META, READ, WRITE, canvas, mark, nothing, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 0.135
"""Height of a bar in inches."""


@styled
def operation_bars(counts: pd.DataFrame, width: float = HALF_WIDTH) -> Figure:
    """Draws the counts of `operation_counts` in metrics.job.interfaces.operations; operations that were never called
    are left out.
    """
    shown = counts[counts["count"] > 0]
    if shown.empty:
        return nothing(width, 1.2, "no operation was recorded")
    names = [f"{row.module} {row.operation}" for row in shown.itertuples()]
    height = 0.5 + STEP * len(shown) + 0.09 * (shown["module"].nunique() - 1)
    left = 0.12 + 0.061 * max(len(name) for name in names)
    figure, axes = canvas(width, height, left=left, right=0.42, top=0.06)
    places = _positions(list(shown["module"]))
    axes.barh(places, shown["count"], 0.8, color=[_colour_of(name) for name in shown["operation"]])
    for place, value in zip(places, shown["count"], strict=True):
        axes.annotate(f"{int(value):,}", (value, place), (2, 0), textcoords="offset points", va="center", fontsize=6.5)
    mark(axes.yaxis, places, names, fontsize=6.5)
    axes.set_ylim(places[-1] + 0.7, -0.7)
    axes.locator_params(axis="x", nbins=4, integer=True)
    axes.ticklabel_format(axis="x", style="plain")
    axes.xaxis.set_major_formatter(lambda value, _: count_label(value))
    axes.set_xlabel("calls")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    axes.tick_params(axis="y", length=0)
    return figure


def _positions(modules: list[str]) -> list[float]:
    """Returns the positions of the bars, with a gap between layers."""
    places = [0.0]
    for before, now in pairwise(modules):
        places.append(places[-1] + (1.0 if before == now else 1.7))
    return places


def _colour_of(operation: str) -> str:
    """Returns the colour of an operation: reads and writes have their own, all others that of metadata."""
    return READ if "read" in operation else WRITE if "write" in operation else META


def short_count(value: float) -> str:
    """Returns a count of at most three digits and a letter: 986, 12.3k, 3.4M."""
    return count_label(float(f"{value:.3g}"))


def count_label(value: float) -> str:
    """Returns a count on an axis: 20k, 3M."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:g}{letter}"
    return f"{value:g}"
