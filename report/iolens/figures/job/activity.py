"""Bytes over time and ranks: a map, and the sum over ranks above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job.operations import count_label
from iolens.figures.style import FULL_WIDTH, INK, READ, WRITE, mark, nothing, styled

if TYPE_CHECKING:
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

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
