"""I/O time of each subject stacked by operation, a panel per layer."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iolens.figures.style import FULL_WIDTH, INK, META, READ, WRITE, nothing, styled
from iolens.lazy import pd

_PARTS = (("read", READ), ("write", WRITE), ("meta", META))
_BAR = 0.2
"""Height of a bar with its gap, in inches."""


@styled
def time_bars(times: pd.DataFrame) -> Figure:
    """Draws the table of metrics.subjects.shapes.operation_seconds; all panels share one axis of seconds."""
    if times.empty:
        return nothing(FULL_WIDTH, 1.0, "no layer recorded any I/O time")
    layers = list(dict.fromkeys(times["module"]))
    parts = [times[times["module"] == layer] for layer in layers]
    heights = [_BAR * len(part) for part in parts]
    figure = Figure(figsize=(FULL_WIDTH, 0.75 + sum(heights) + 0.16 * len(parts)), layout="constrained")
    grid = figure.subplots(len(parts), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, layer, part in zip(grid, layers, parts, strict=True):
        _draw(axes, part)
        axes.set_ylabel(layer, rotation=0, ha="right", va="center", labelpad=14)
    grid[-1].set_xlabel("seconds of an average process")
    grid[-1].set_xlim(0, 1.22 * float(times["largest"].max()))
    grid[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3)
    return figure


def _axis_seconds(value: float) -> str:
    """Formats a time in seconds, the unit of the axis: whole from 100 s on, else with three digits, or three decimals
    below 0.1 s.
    """
    return f"{value:.0f} s" if value >= 100 else f"{value:.3g} s" if value >= 0.1 else f"{value:.3f} s"


def _draw(axes: Axes, rows: pd.DataFrame) -> None:
    """Draws the bars of one layer. If a subject has several logs, a line runs from the smallest to the largest of their
    times.
    """
    left = np.zeros(len(rows))
    places = range(len(rows))
    for kind, colour in _PARTS:
        axes.barh(places, rows[kind], 0.7, left=left, color=colour, label=kind)
        left += rows[kind].to_numpy(dtype=float)
    for y, row, total in zip(places, rows.to_dict("records"), left, strict=True):
        if row["logs"] > 1:
            axes.plot([row["smallest"], row["largest"]], [y, y], color=INK, linewidth=1.0, marker="|", markersize=4)
        share = f", {100 * total / row['run_time']:.1f} % of the run" if row["run_time"] > 0 else ""
        place = max(total, row["largest"] if row["logs"] > 1 else 0.0)
        axes.annotate(
            f"{_axis_seconds(total)}{share}", (place, y), (4, 0), textcoords="offset points", va="center", fontsize=6.5
        )
    axes.set_yticks(places, list(rows["letter"]))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
