"""A map of the places in a file where bytes moved, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job.activity import UNITS, unit_of
from iolens.figures.style import FULL_WIDTH, READ, WRITE, canvas, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
