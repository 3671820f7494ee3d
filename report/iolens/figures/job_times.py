"""A job over time: operations, bytes by rank and by place in a file, first to last access, parts of the run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.style import FULL_WIDTH, HALF_WIDTH, INK, META, OTHER, READ, WRITE, canvas, mark, nothing, styled
from iolens.lazy import pd
from iolens.metrics.processor.sampled import groups
from iolens.metrics.processor.sampled.groups import (
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
    from matplotlib.colors import Normalize
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


UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

FEW_RANKS = 6
"""Largest number of ranks for which each rank has a mark on the axis."""

MANY_RANKS = 9999
"""With this number of ranks or more, the axis counts them in thousands, because the margin has no room for longer
numbers.
"""

LEVELS = 24
"""Number of colours of the map, each of which is one rectangle of the legend."""


@styled
def activity_map(
    written: np.ndarray, read: np.ndarray, bin_width: float, nprocs: int, width: float = FULL_WIDTH, row: str = "rank"
) -> Figure:
    """Draws arrays (rank groups, bins) of bytes as a map, with the bins' width in seconds, as
    metrics.times.timespans.activity returns them; `row` names the rows.
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    both = written + read
    if not both.any():
        return nothing(width, 1.0, "no bytes in any time bin")
    rows, bins = both.shape
    body = min(1.1, 0.35 + 0.1 * rows)
    height = 1.15 + body
    left, right, bottom = 0.55, 0.85, 0.42
    figure = Figure(figsize=(width, height))
    span = 1 - (left + right) / width
    axes = figure.add_axes((left / width, bottom / height, span, body / height))
    top = figure.add_axes((left / width, (bottom + body + 0.08) / height, span, 0.5 / height))
    name = unit_of(both.max())
    bytes_each = UNITS[name]
    moved = both[both > 0] / bytes_each
    image = axes.imshow(
        np.where(both > 0, both / bytes_each, np.nan),
        aspect="auto",
        origin="lower",
        interpolation="none",
        extent=(0, bins * bin_width, -0.5, nprocs - 0.5),
        cmap=colormaps["viridis_r"].resampled(LEVELS),
        norm=scale(moved),
    )
    axes.grid(visible=False)
    axes.set_xlabel("seconds since the start of the job")
    axes.set_ylabel(row)
    if nprocs <= FEW_RANKS:
        mark(axes.yaxis, range(nprocs))
    else:
        axes.locator_params(axis="y", integer=True, nbins=5)
    if nprocs > MANY_RANKS:
        axes.yaxis.set_major_formatter(lambda value, _: count_label(value))
    speed = unit_of(both.sum(axis=0).max() / bin_width)
    speed_bytes = UNITS[speed]
    edges = np.arange(bins + 1) * bin_width
    for values, colour, line, label in ((written, WRITE, "-", "write"), (read, READ, (0, (4, 2)), "read")):
        rates = values.sum(axis=0) / speed_bytes / bin_width  # A dashed line does not hide the line below it.
        top.stairs(rates, edges, color=colour, linewidth=1.0, linestyle=line, label=label)
    top.set_xlim(0, bins * bin_width)
    top.set_ylim(0, None)
    top.tick_params(labelbottom=False)
    top.locator_params(axis="y", nbins=3)
    top.set_ylabel(f"{speed}/s")
    top.legend(loc="upper left", bbox_to_anchor=(1.0, 1.15))
    bar = figure.add_axes((1 - (right - 0.1) / width, bottom / height, 0.1 / width, body / height))
    legend = figure.colorbar(image, cax=bar)
    legend.set_label("in a bin", color=INK)
    ticks = activity_marks(moved)
    legend.set_ticks(ticks, labels=[amount(tick * bytes_each) for tick in ticks], minor=False)
    bar.yaxis.set_minor_locator(NullLocator())
    bar.grid(visible=False)
    return figure


def unit_of(value: float) -> str:
    """Returns the largest unit in which the value is at least one."""
    return next((name for name in reversed(UNITS) if value >= UNITS[name]), "B")


def amount(value: float) -> str:
    """Returns bytes in the unit that suits them, with three digits."""
    unit = unit_of(value)
    scaled = value / UNITS[unit]
    return f"{scaled:.3g} {unit}" if scaled < 100 else f"{scaled:.0f} {unit}"


def _spans_decade(values: np.ndarray) -> bool:
    """Returns whether the values span more than a factor of ten, so that their scale is logarithmic; else it begins at
    zero.
    """
    return bool(values.max() > 10 * values.min())


def scale(values: np.ndarray) -> Normalize:
    """Returns the scale of colours."""
    from matplotlib.colors import LogNorm, Normalize

    low, high = float(values.min()), float(values.max())
    return LogNorm(vmin=low, vmax=high) if _spans_decade(values) else Normalize(vmin=0, vmax=high)


def activity_marks(values: np.ndarray) -> list[float]:
    """Returns the values at both ends and in the middle of the scale."""
    low, high = float(values.min()), float(values.max())
    return [low, (low * high) ** 0.5, high] if _spans_decade(values) else [0.0, high / 2, high]


@styled
def place_map(
    written: np.ndarray, read: np.ndarray, end: int, begin: float, seconds: float, width: float = FULL_WIDTH
) -> Figure:
    """Draws arrays (offsets, time) of bool, as metrics.times.traces.transfer_places returns them. Where bytes were both
    read and written, the map shows reading.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    figure, axes = canvas(width, 2.1, left=0.55, right=0.85)
    unit = unit_of(end)
    shown = []
    for cells, colour, label in ((written, WRITE, "write"), (read, READ, "read")):
        if not cells.any():
            continue
        axes.imshow(
            np.where(cells, 1.0, np.nan),
            aspect="auto",
            origin="lower",
            interpolation="none",
            extent=(begin, seconds, 0, end / UNITS[unit]),
            cmap=ListedColormap([colour]),
        )
        shown.append(Patch(color=colour, label=label))
    axes.set_xlim(begin, seconds)
    axes.set_ylim(0, end / UNITS[unit])
    axes.grid(visible=False)
    axes.set_xlabel("seconds since the start of the job")
    axes.set_ylabel(f"offset in the file, {unit}")
    axes.legend(handles=shown, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return figure


_MOST_ROWS = 250
"""Largest number of lines; more ranks are drawn in groups, from their first access to their last one."""

_SHORTEST = 100
"""A file's span is drawn with at least the run time divided by this number, because the axis would hide a shorter
one.
"""

_COLOURS = {"read": READ, "write": WRITE}


@styled
def rank_spans_figure(
    spans: pd.DataFrame, kind: str, nprocs: int, run_time: float, width: float = HALF_WIDTH
) -> Figure:
    """Draws the spans of one `kind` from metrics.times.timespans.rank_spans; `run_time` is in seconds."""
    part = spans[spans["kind"] == kind]
    if part.empty:
        return nothing(width, 1.2, f"no rank {'read from' if kind == 'read' else 'wrote to'} a file of its own")
    each = -(-nprocs // _MOST_ROWS)
    if each > 1:
        part = part.groupby(part["rank"] // each, as_index=False).agg(
            rank=("rank", "min"), start=("start", "min"), end=("end", "max")
        )
    height = min(2.3, 0.85 + 0.09 * nprocs)
    figure, axes = canvas(width, height, left=0.5, top=0.08)
    thick = max(0.8, min(5.0, 72 * (height - 0.5) / min(nprocs, _MOST_ROWS) * 0.7))
    axes.hlines(part["rank"], part["start"], part["end"], color=_COLOURS[kind], linewidth=thick)
    axes.plot(part["start"], part["rank"], "|", color=_COLOURS[kind], markersize=max(1.0, min(5.0, thick)))
    margin = max(0.7, 0.04 * nprocs)
    axes.set_ylim(-margin, nprocs - 1 + margin)
    axes.set_xlim(0, max(run_time, float(part["end"].max())))
    if nprocs <= FEW_RANKS:
        mark(axes.yaxis, range(nprocs))
    axes.set_ylabel("rank" if each == 1 else f"rank (in groups of {each})")
    axes.set_xlabel("seconds since the start of the job")
    if nprocs > MANY_RANKS:
        axes.yaxis.set_major_formatter(lambda value, _: count_label(value))
    return figure


@styled
def shared_spans_figure(spans: pd.DataFrame, run_time: float, width: float = FULL_WIDTH) -> Figure:
    """Draws two bars per file from metrics.times.timespans.shared_spans, reads above writes."""
    from matplotlib.patches import Patch

    if spans.empty:
        return nothing(width, 0.8, "no file was shared by all ranks")
    files = list(dict.fromkeys(spans["path"]))
    names = [_shortened(PurePosixPath(path).name or path) for path in files]
    left = 0.2 + 0.066 * max(len(name) for name in names)
    figure, axes = canvas(width, 0.75 + 0.2 * len(files), left=left, top=0.25)
    for kind, shift in (("read", -0.18), ("write", 0.18)):
        part = spans[spans["kind"] == kind]
        places = [files.index(path) + shift for path in part["path"]]
        shortest = run_time / _SHORTEST
        lengths = [max(shortest, end - start) for start, end in zip(part["start"], part["end"], strict=True)]
        axes.barh(places, lengths, 0.34, left=part["start"], color=_COLOURS[kind])
    mark(axes.yaxis, range(len(files)), names)
    axes.set_ylim(len(files) - 0.5, -0.5)
    axes.set_xlim(0, max(run_time, float(spans["end"].max())))
    axes.set_xlabel("seconds since the start of the job")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    axes.tick_params(axis="y", length=0)
    handles = [Patch(color=colour, label=kind) for kind, colour in _COLOURS.items()]
    axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, columnspacing=1.0)
    return figure


def _shortened(name: str, most: int = 34) -> str:
    """Returns a file name; a long name loses its middle."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-most // 2 :]}"


_TIME_SHARES_COLOURS = {
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
    groups.OTHER: "#28527a",
    groups.ANY_MPI: "#0072b2",
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
    return _TIME_SHARES_COLOURS[part]


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
    for name, colour in _TIME_SHARES_COLOURS.items():
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
