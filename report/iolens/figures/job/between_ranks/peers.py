"""Bytes by sender and receiver, as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job.activity import FEW_RANKS, LEVELS, UNITS, activity_marks, scale, unit_of
from iolens.figures.style import HALF_WIDTH, nothing, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
