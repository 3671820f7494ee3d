"""Efficiency over the number of workers, with the line of perfect use."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from iolens.figures.comparison.levels import level_colours, level_line
from iolens.figures.style import FULL_WIDTH, INK, QUIET, styled
from iolens.lazy import pd


@styled
def efficiency_lines(found: pd.DataFrame) -> Figure:
    """Draws the efficiencies of metrics.comparison.scaling.scaling, one line for each `rest`."""
    figure = Figure(figsize=(FULL_WIDTH, 2.5), layout="constrained")
    axes = figure.subplots()
    groups = list(dict.fromkeys(found["rest"]))
    for place, (rest, colour) in enumerate(level_colours(groups).items()):
        rows = found[found["rest"] == rest]
        shift = 1 + 0.012 * (place - (len(groups) - 1) / 2)
        percent = 100 * rows[["efficiency", "low", "high"]].set_axis(["value", "low", "high"], axis=1)
        level_line(axes, place, list(shift * rows["workers"]), percent, color=colour, label=rest or "all")
    workers = sorted(set(found["workers"]))
    axes.axhline(100, color=INK, linewidth=1.4)
    axes.annotate(
        "ideal: every worker fully used",
        (0.99, 100),
        (0, 3),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        color=QUIET,
    )
    axes.set_xscale("log", base=2)
    axes.set_xticks(workers, [str(each) for each in workers])
    axes.xaxis.set_minor_locator(NullLocator())
    top = max(110.0, 1.1 * 100 * float(found["efficiency"].max()))
    axes.set_ylim(0, top)
    axes.set(xlabel="processes or nodes", ylabel="efficiency, %")
    if len(groups) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
