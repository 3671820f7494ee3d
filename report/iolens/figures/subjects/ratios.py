"""The ratios of each subject's numbers to those of the first subject, with intervals, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from iolens.figures.comparison.effects import ratio_ticks
from iolens.figures.comparison.levels import error_bar
from iolens.figures.style import FULL_WIDTH, INK, styled
from iolens.figures.subjects.colours import colours, named
from iolens.missing import is_nan

if TYPE_CHECKING:
    import pandas as pd


@styled
def ratio_rows(rows: pd.DataFrame, letters: Sequence[str], labels: Mapping[str, str]) -> Figure:
    """Draws a mark for each subject except the first; `rows` are those of metrics.aligned.aligned with their names in
    `text`.
    """
    first, *others = letters
    figure = Figure(figsize=(FULL_WIDTH, 0.75 + (0.14 + 0.13 * len(others)) * len(rows)), layout="constrained")
    axes = figure.subplots()
    palette = colours(letters)
    step = 0.7 / len(others)
    ends = [1.0]
    for y, row in enumerate(rows.to_dict("records")):
        for place, letter in enumerate(others):
            ratio, low, high = (row[f"{name} {letter}"] for name in ("ratio", "ratio_low", "ratio_high"))
            if is_nan(ratio):
                continue
            at = y + (place - (len(others) - 1) / 2) * step
            axes.plot(ratio, at, marker="D", markersize=4.5, color=palette[letter], zorder=5)
            error_bar(axes, at, low, high, horizontal=True)
            axes.annotate(f"{ratio:.2f}×", (1.01, at), xycoords=("axes fraction", "data"), va="center", color=INK)
            ends += [ratio, *(end for end in (max(low, ratio / 4), min(high, ratio * 4)) if not is_nan(end))]
    axes.axvline(1.0, color=INK, linewidth=0.8)
    axes.set_xscale("log")
    low, high = min(ends) / 1.12, max(ends) * 1.12
    ticks = ratio_ticks(low, high)
    axes.set_xlim(low, high)
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(rows)), list(rows["text"]))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(f"as a multiple of {first}'s (1× = the same)")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    if len(others) > 1:
        handles = [
            Line2D([], [], marker="D", linestyle="", color=palette[each], label=named(each, labels[each]))
            for each in others
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
    return figure
