"""Time lines of all ranks, with the critical path drawn in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job.activity import FEW_RANKS, MANY_RANKS
from iolens.figures.job.operations import count_label
from iolens.figures.style import FULL_WIDTH, INK, META, OTHER, READ, WRITE, canvas, mark, styled

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
