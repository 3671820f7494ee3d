"""Work and messages of the ranks: the critical path, messages by size, distance and pair, and functions by samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job_times import FEW_RANKS, LEVELS, MANY_RANKS, UNITS, activity_marks, count_label, scale, unit_of
from iolens.figures.style import FULL_WIDTH, HALF_WIDTH, INK, META, OTHER, READ, WRITE, canvas, mark, nothing, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from iolens.metrics.why.time_lines import TimeLines


COLOURS = {
    "computing": OTHER,
    "I/O": WRITE,
    "lock": META,
    "core": "#cc79a7",
    "fault": "#a65628",
    "sleep": "#d9d9d9",
    "MPI": READ,
    "waiting": "#ffffff",
}
"""Colours by kind of work; a bin with several kinds gets their mixture."""

_STRIP = 0.09
"""Height of the strip, as a part of the height of all ranks."""
_NAMES = {
    "lock": "lock of a file",
    "core": "without a core",
    "fault": "page faults",
    "sleep": "asleep",
    "waiting": "waiting for another rank",
}


@styled
def path_over_time(lines: TimeLines, nprocs: int, width: float = FULL_WIDTH) -> Figure:
    """Draws time lines with the critical path, and above them a strip of the kinds of work on the path."""
    from matplotlib.colors import to_rgb
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure, axes = canvas(width, min(4.2, 0.95 + 0.16 * nprocs), left=0.62, top=0.3)
    colours = np.array([to_rgb(colour) for colour in COLOURS.values()])
    top, each = lines.each * len(lines.shares) - 0.5, lines.each
    strip = (nprocs - 0.5 + 0.04 * nprocs, nprocs - 0.5 + (0.04 + _STRIP) * nprocs)
    for shares, low, high in ((lines.shares, -0.5, top), (lines.on_path[None], *strip)):
        rest = np.clip(1.0 - shares.sum(axis=2, keepdims=True), 0.0, 1.0)
        image = np.clip(shares @ colours + rest, 0.0, 1.0)
        extent = (0.0, lines.seconds, low, high)
        axes.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="nearest")
    axes.text(0.0, strip[1], "on the path", va="bottom", ha="left", fontsize=7)
    times, ranks = lines.path[:, 1:].reshape(-1), np.repeat(lines.path[:, 0], 2)
    axes.plot(times, ranks, color="#ffffff", linewidth=2.6, solid_capstyle="butt")
    axes.plot(times, ranks, color=INK, linewidth=1.3, solid_capstyle="butt")
    axes.set_xlim(0.0, lines.seconds)
    axes.set_ylim(-0.5, strip[1])
    axes.grid(visible=False)
    if nprocs <= FEW_RANKS:
        mark(axes.yaxis, range(nprocs))
    if nprocs > MANY_RANKS:
        axes.yaxis.set_major_formatter(lambda value, _: count_label(value))
    # The strip of the path lies above the last rank, and has no rank's number.
    axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick < nprocs])
    axes.set_ylabel("rank" if each == 1 else f"rank (in rows of {each})")
    axes.set_xlabel("seconds since the start of the job")
    there = [name for place, name in enumerate(COLOURS) if lines.shares[:, :, place].any()]
    patches = [
        Patch(facecolor=COLOURS[name], edgecolor=INK, linewidth=0.4, label=_NAMES.get(name, name)) for name in there
    ]
    handles = [*patches, Line2D([], [], color=INK, linewidth=1.3, label="critical path")]
    axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(handles), columnspacing=1.0)
    return figure


_MOST = 24
"""Number of distances with a bar of their own."""


@styled
def message_bars(counts: Mapping[str, float], width: float = HALF_WIDTH) -> Figure:
    """Draws the number of messages in each range of sizes."""
    figure, axes = canvas(width, 1.6, left=0.55, bottom=0.62)
    axes.bar(range(len(counts)), list(counts.values()), 0.72, color=READ)
    axes.set_xticks(range(len(counts)), list(counts), rotation=35, ha="right", rotation_mode="anchor")
    axes.set_ylabel("messages")
    axes.locator_params(axis="y", nbins=4)
    return figure


@styled
def distance_bars(found: pd.DataFrame, width: float = HALF_WIDTH) -> Figure:
    """Draws the distances with the most bytes; `found` is a result of metrics.processor.mpi.calls.mpi_distance."""
    shown = found.nlargest(_MOST, "bytes").sort_values("distance")
    unit = unit_of(shown["bytes"].max())
    figure, axes = canvas(width, 1.6, left=0.55)
    axes.bar(range(len(shown)), shown["bytes"] / UNITS[unit], 0.72, color=READ)
    step = -(-len(shown) // 8)
    axes.set_xticks(range(0, len(shown), step), [str(one) for one in shown["distance"]][::step])
    axes.set_xlabel("distance of the ranks")
    axes.set_ylabel(unit)
    axes.locator_params(axis="y", nbins=4)
    return figure


@styled
def peer_map(matrix: np.ndarray, group: int, width: float = HALF_WIDTH) -> Figure:
    """Draws `matrix` (senders, receivers) in bytes; each row and column stands for `group` ranks."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    if not matrix.any():
        return nothing(width, 1.0, "no bytes between single ranks")
    unit = unit_of(matrix.max())
    values = matrix / UNITS[unit]
    side, left, bottom = width - 1.45, 0.5, 0.42
    height = side + bottom + 0.1
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((left / width, bottom / height, side / width, side / height))
    edge = len(matrix) * group - 0.5
    image = axes.imshow(
        np.where(values > 0, values, np.nan),
        origin="lower",
        interpolation="none",
        extent=(-0.5, edge, -0.5, edge),
        cmap=colormaps["viridis_r"].resampled(LEVELS),
        norm=scale(values[values > 0]),
    )
    axes.grid(visible=False)
    axes.set_xlabel("receiver")
    axes.set_ylabel("sender")
    if len(matrix) * group <= FEW_RANKS:
        axes.set_xticks(range(len(matrix)))
        axes.set_yticks(range(len(matrix)))
    else:
        axes.locator_params(integer=True, nbins=6)
    bar = figure.add_axes(((left + side + 0.1) / width, bottom / height, 0.12 / width, side / height))
    legend = figure.colorbar(image, cax=bar)
    ticks = activity_marks(values[values > 0])
    legend.set_ticks(ticks, labels=[f"{tick:.2g}" if tick < 10 else f"{tick:.0f}" for tick in ticks], minor=False)
    bar.yaxis.set_minor_locator(NullLocator())
    bar.grid(visible=False)
    legend.set_label(unit)
    return figure


_COLOURS = {"USER": "#009e73", "MPI": "#0072b2", "MPI-IO": "#cc79a7", "POSIX": "#d55e00", "STDIO": "#e69f00"}
_REST = "#999999"
_PROFILE_MOST = 12
"""Largest number of functions in the figure."""
_LONGEST = 36
"""Maximum width of a name, in characters."""


@styled
def profile_bars(functions: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws functions by their shares; `functions` has name, group and share (per cent)."""
    shown = functions.nlargest(_PROFILE_MOST, "share")
    names = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in shown["name"]]
    longest = max(len(name) for name in names)
    figure, axes = canvas(width, 0.68 + 0.18 * len(shown), left=0.2 + 0.068 * longest, right=0.45, top=0.22)
    colours = [_COLOURS.get(group, _REST) for group in shown["group"]]
    axes.barh(range(len(shown)), shown["share"], 0.72, color=colours)
    for row, share in enumerate(shown["share"]):
        axes.text(share, row, f" {share:.1f} %", va="center", fontsize=6.5)
    axes.set_yticks(range(len(shown)), names)
    axes.invert_yaxis()
    axes.set_xlabel("% of samples")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    for group in dict.fromkeys(shown["group"]):
        axes.barh(0, 0, color=_COLOURS.get(group, _REST), label=group)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=8, columnspacing=1.2)
    return figure
