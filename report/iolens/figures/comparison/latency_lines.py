"""Latency over message size, with a line per variant and a panel per operation. Operations without sizes stand side by
side in one panel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from iolens.figures.comparison.latency_improvement import KEY_WIDTH, PLOT_WIDTH, size_label
from iolens.figures.comparison.levels import MARKERS, error_bar, level_colours, name_places, wrapped_label
from iolens.figures.style import FULL_WIDTH, styled
from iolens.lazy import pd

_MICRO = 1e6


@styled
def latency_lines(cells: pd.DataFrame, marks: Mapping[str, float]) -> Figure:
    """Draws one line per variant; `cells` is the table of a `LatencyComparison`. Operations without a message (a
    barrier) are left out. Both axes are logarithmic; the band is the interval. `marks` has one size to mark per
    variant, such as its eager limit.
    """
    sized = cells[cells["bytes"] > 0]
    operations = list(dict.fromkeys(sized["operation"]))
    palette = level_colours(list(dict.fromkeys(cells["variant"])))
    across = 1 if len(operations) == 1 else 2
    down = math.ceil(len(operations) / across)
    figure = Figure(figsize=(FULL_WIDTH, 0.4 + min(8.4, 1.75 * down)), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    for axes, operation in zip(grid.flat, operations, strict=False):
        for variant, colour in palette.items():
            line = sized[(sized["operation"] == operation) & (sized["variant"] == variant)].sort_values("bytes")
            known = line.dropna(subset=["low", "high"])
            axes.plot(line["bytes"], line["seconds"] * _MICRO, color=colour, linewidth=1.1, label=variant)
            low, high = known["low"].astype(float) * _MICRO, known["high"].astype(float) * _MICRO
            if variant in marks:
                axes.axvline(marks[variant], color=colour, linewidth=0.8, linestyle=":")
            axes.fill_between(known["bytes"], low, high, color=colour, alpha=0.2, linewidth=0)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_locator(LogLocator(base=2, numticks=8))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_label(int(value)) if value >= 1 else ""))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.tick_params(axis="x", labelsize=6)
        axes.set_title(operation, loc="left")
    for axes in grid.flat[len(operations) :]:
        axes.remove()
    figure.supylabel("latency, µs", fontsize=7.5)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=min(4, len(labels)))
    return figure


@styled
def operation_latencies(cells: pd.DataFrame) -> Figure:
    """Draws operations without sizes: a dot with its interval per operation and variant, on a logarithmic axis."""
    operations = list(dict.fromkeys(cells["operation"]))
    palette = level_colours(list(dict.fromkeys(cells["variant"])))
    figure = Figure(figsize=(FULL_WIDTH, 2.6), layout="constrained")
    axes = figure.subplots()
    for i, (variant, colour) in enumerate(palette.items()):
        shift = (i - (len(palette) - 1) / 2) * 0.5 / len(palette)
        chosen = cells[cells["variant"] == variant]
        places = [operations.index(operation) + shift for operation in chosen["operation"]]
        for x, low, high in zip(places, chosen["low"].astype(float), chosen["high"].astype(float), strict=True):
            error_bar(axes, x, low * _MICRO, high * _MICRO)
        label = wrapped_label(variant, KEY_WIDTH)
        axes.plot(places, chosen["seconds"] * _MICRO, MARKERS[i % len(MARKERS)], color=colour, label=label, zorder=5)
    axes.set_yscale("log")
    axes.set_xlim(-0.5, len(operations) - 0.5)
    name_places(axes, operations, PLOT_WIDTH)
    axes.set_ylabel("latency, µs")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    return figure
