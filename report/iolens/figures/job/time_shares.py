"""The parts of the time: one bar for an average rank, and a bar for each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job.activity import FEW_RANKS
from iolens.figures.style import FULL_WIDTH, META, OTHER, READ, WRITE, canvas, styled
from iolens.lazy import pd
from iolens.metrics.processor.sampled import parts
from iolens.metrics.processor.sampled.parts import (
    ASLEEP,
    COLLECTIVE,
    COMPUTE,
    IO,
    OFF_CORE,
    OPENMP,
    POINT,
    PROFILER,
    RUNNABLE,
    START,
    SYNC,
    UNKNOWN,
    UNTRACED,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {
    COMPUTE: "#009e73",
    UNTRACED: "#4a8f8f",
    OPENMP: "#8fcfb8",
    RUNNABLE: "#cc79a7",
    ASLEEP: "#f0b400",
    OFF_CORE: "#f5d98a",
    UNKNOWN: "#bdbdbd",
    POINT: "#0072b2",
    COLLECTIVE: "#3f92c7",
    SYNC: "#7fb6da",
    parts.OTHER: "#28527a",
    parts.ANY_MPI: "#0072b2",
    IO["POSIX"]: "#d55e00",
    IO["STDIO"]: "#e8915a",
    IO["MPI-IO"]: "#a34700",
    IO["DFS"]: "#f0b590",
    IO["DAOS"]: "#7a3500",
    START: "#d5d9e0",
    PROFILER: "#777777",
}
_OPERATIONS = {"read": READ, "write": WRITE, "metadata": META, "other calls": "#8a6d3b", "all": WRITE}
_PALER = (1.0, 0.62, 0.38, 0.22)
"""Strength of the colour of an operation in the first layer of I/O, in the second, and so on."""

_DARK = 0.55
"""Luminance (0 to 1) below which the number in a segment is white."""

_IN_A_ROW = 2
"""Number of entries of the legend in one row."""

_BLACK = "#111111"
"""The colour of numbers in light segments, which stays dark on a dark page."""

_NARROWEST = 7.0
"""Smallest segment, in per cent, into which its number can be written."""

_PHONE = 4.9
"""Width in inches that a phone shows without scrolling."""

_BAR, _ROW = 0.34, 0.19
"""Height of the bar, and of a row of the legend, in inches."""


@dataclass(frozen=True)
class Segment:
    """A part of the run time: its name, its seconds, and its entry in the legend (name, seconds and share)."""

    name: str
    seconds: float
    words: str
    colour: str


def part_colour(part: str) -> str:
    """Returns the colour of one of the PARTS of a rank's time."""
    return _COLOURS[part]


def operation_colour(operation: str, layer: int) -> str:
    """Returns the colour of an operation in the layer of I/O with this position; grey for what was not recorded."""
    from matplotlib.colors import to_hex, to_rgb

    if not operation:
        return OTHER
    strength = _PALER[min(layer, len(_PALER) - 1)]
    return str(to_hex([1 - strength * (1 - part) for part in to_rgb(_OPERATIONS[operation])]))


@styled
def time_bar_figure(segments: Sequence[Segment], width: float = _PHONE) -> Figure:
    """Draws the parts of the run time as one bar, above a legend in the order of the bar."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    whole = sum(one.seconds for one in segments) or 1.0
    below = 0.1 + _ROW * -(-len(segments) // _IN_A_ROW)
    figure, axes = canvas(width, _BAR + below + 0.04, left=0.02, right=0.02, bottom=below, top=0.04)
    left = 0.0
    for one in segments:
        share = 100 * one.seconds / whole
        axes.barh(0, share, 1.0, left=left, color=one.colour, label=one.name, edgecolor="white", linewidth=0.8)
        if share >= _NARROWEST:
            red, green, blue = to_rgb(one.colour)
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < _DARK
            colour = "white" if dark else _BLACK
            axes.text(left + share / 2, 0, f"{share:.0f} %", ha="center", va="center", color=colour)
        left += share
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.5, 0.5)
    axes.set_axis_off()
    height = _BAR + below + 0.04
    for number, one in enumerate(segments):
        x = 0.02 + (number % _IN_A_ROW) * (width - 0.04) / _IN_A_ROW
        y = below - 0.2 - _ROW * (number // _IN_A_ROW)
        box = Rectangle((x / width, y / height), 0.12 / width, 0.09 / height, color=one.colour, linewidth=0)
        figure.add_artist(box)
        figure.text((x + 0.18) / width, y / height, one.words, fontsize=7)
    return figure


@styled
def rank_time_bars(each: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws the seconds of each rank, in the same colours."""
    figure, axes = canvas(width, 1.7, left=0.5, top=0.08)
    edges = np.append(each.index, each.index[-1] + 1) - 0.5
    below = np.zeros(len(each))
    for name, colour in _COLOURS.items():
        upper = below + each[name].to_numpy(dtype=float)
        axes.stairs(upper, edges, baseline=below, fill=True, color=colour)
        below = upper
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, None)
    axes.set_xlabel("rank")
    axes.set_ylabel("s")
    if len(each) <= FEW_RANKS:
        axes.set_xticks(list(each.index))
    else:
        axes.locator_params(axis="x", integer=True)
    axes.locator_params(axis="y", nbins=4)
    return figure
