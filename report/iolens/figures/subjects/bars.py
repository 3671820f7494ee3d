"""One number of every subject as a bar with its interval, its single measurements and the bound of the storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill

from matplotlib.figure import Figure

from iolens.figures.comparison.levels import reach, value_bar
from iolens.figures.style import FULL_WIDTH, styled
from iolens.figures.subjects.colours import colours, legend_label

_LONGEST_LINE = 26
"""Characters for which the axis is high enough."""

_WIDTH = 3.4
"""Height in inches of the bars of one number; the names stand beside them."""


@styled
def value_bars(
    values: Mapping[str, tuple[float, float, float]],
    singles: Mapping[str, Sequence[float]],
    bounds: Mapping[str, float],
    labels: Mapping[str, str],
    axis: str,
) -> Figure:
    """Draws, by the subjects' letters, the typical value with both ends of its interval, the single measurements, and
    the bound if there is one.
    """
    import pandas as pd

    figure = Figure(figsize=(FULL_WIDTH, 1.9), layout="constrained")
    axes = figure.subplots()
    palette = colours(list(labels))
    for x, letter in enumerate(labels):
        dots = singles[letter] if len(singles[letter]) > 1 else ()
        look = {"color": palette[letter], "label": legend_label(letter, labels[letter])}
        value_bar(axes, x, 0.66, values[letter], dots, bounds.get(letter), **look)
    flat = pd.Series([one for each in singles.values() for one in each], dtype=float)
    highs = pd.Series([high for _, _, high in values.values()], dtype=float)
    axes.set_ylim(0, max([reach(flat, highs), *(1.06 * each for each in bounds.values())]))
    axes.set_xlim(-0.6, max(len(labels), 4) - 0.4)
    axes.set_xticks(range(len(labels)), list(labels))
    axes.set_ylabel(fill(axis, _LONGEST_LINE))
    figure.legend(loc="outside right upper")
    return figure
