"""The ratios of each subject's numbers to those of the first subject, with intervals, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from iolens.figures.comparison.levels import ratio_axes, ratio_mark
from iolens.figures.style import FULL_WIDTH, styled
from iolens.figures.subjects.colours import colours, legend_label
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
            ratio_mark(axes, at, ratio, low, high, markersize=4.5, color=palette[letter])
            ends += [ratio, *(end for end in (max(low, ratio / 4), min(high, ratio * 4)) if not is_nan(end))]
    label = f"as a multiple of {first}'s (1× = the same)"
    ratio_axes(axes, min(ends) / 1.12, max(ends) * 1.12, list(rows["text"]), label)
    if len(others) > 1:
        handles = [
            Line2D([], [], marker="D", linestyle="", color=palette[each], label=legend_label(each, labels[each]))
            for each in others
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
    return figure
