"""Bandwidth over one setting, a line per level of another: parallel lines mean independent gains."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from iolens.figures.comparison.levels import level_colours, level_line, name_places, nice_ticks
from iolens.figures.style import FULL_WIDTH, styled
from iolens.lazy import pd
from iolens.metrics.comparison.settings import describe_one, level_text, name_text, sorted_levels

_PLOT_WIDTH = 4.6
"""Width in inches that is left for the lines beside the axis and the key."""


@styled
def interaction_lines(cells: pd.DataFrame, pair: tuple[str, str], label: str) -> Figure:
    """Draws one line per level of `pair[0]` over `pair[1]`; `cells` has the pair's columns, `value`, `low` and `high`.

    The bandwidth axis is logarithmic, so that equal factors have equal slopes.
    """
    figure = Figure(figsize=(FULL_WIDTH, 2.5), layout="constrained")
    axes = figure.subplots()
    across = sorted_levels(cells[pair[1]])
    lines = level_colours(sorted_levels(cells[pair[0]]))
    for i, (level, colour) in enumerate(lines.items()):
        chosen = cells[cells[pair[0]] == level]
        x = [across.index(v) + (i - (len(lines) - 1) / 2) * 0.04 for v in chosen[pair[1]]]
        level_line(axes, i, x, chosen, color=colour, label=describe_one(pair[0], level))
    axes.set_yscale("log")
    low, high = float(cells["value"].min()) / 1.4, float(cells["value"].max()) * 1.4
    ticks = nice_ticks(low, high)
    axes.set_ylim(low, high)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())
    name_places(axes, [level_text(pair[1], level) for level in across], _PLOT_WIDTH)
    axes.set(xlabel=name_text(pair[1]), ylabel=label)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
