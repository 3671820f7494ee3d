"""Bytes over time of several subjects, side by side on one scale of colours and one of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from iolens.figures.job.activity import FEW_RANKS, LEVELS, UNITS, activity_marks, scale, unit_of
from iolens.figures.style import FULL_WIDTH, QUIET, nothing, styled
from iolens.figures.subjects.colours import legend_label

if TYPE_CHECKING:
    from iolens.metrics.subjects.shapes import SubjectActivity

_ACROSS = 2
"""Number of maps in a row."""


@styled
def heatmaps(found: Sequence[SubjectActivity]) -> Figure:
    """Draws one map for each subject on a common time axis; the time after the end of a shorter run is grey."""
    moved = np.concatenate([one.rates[one.rates > 0] for one in found]) if found else np.array([])
    if not moved.size:
        return nothing(FULL_WIDTH, 1.0, "no bytes in any time bin")
    unit = unit_of(float(moved.max()))
    moved = moved / UNITS[unit]
    lines = -(-len(found) // _ACROSS)
    figure = Figure(figsize=(FULL_WIDTH, 0.55 + 1.35 * lines), layout="constrained")
    grid = figure.subplots(lines, _ACROSS, sharex=True, squeeze=False)
    longest = max(one.rates.shape[1] * one.width for one in found)
    for axes, one in zip(grid.flat, found, strict=False):
        image = _draw(axes, one, unit, moved)
        axes.set_xlim(0, longest)
    for axes in list(grid.flat)[len(found) :]:
        axes.set_visible(False)
    for column in range(_ACROSS):
        shown = [axes for axes in grid[:, column] if axes.get_visible()]
        if shown:
            shown[-1].set_xlabel("seconds since the start of the job")
            shown[-1].tick_params(labelbottom=True)
    bar = figure.colorbar(image, ax=list(grid.flat), fraction=0.025, pad=0.01, aspect=20 * lines)
    bar.set_label(f"{unit}/s per rank")
    ticks = activity_marks(moved)
    bar.set_ticks(ticks, labels=[f"{tick:.2g}" if tick < 10 else f"{tick:.0f}" for tick in ticks], minor=False)
    bar.ax.minorticks_off()
    bar.ax.grid(visible=False)
    return figure


def _draw(axes: Axes, one: SubjectActivity, unit: str, moved: np.ndarray) -> AxesImage:
    """Draws the map of one subject."""
    axes.set_facecolor("#f4f4f4")
    end = one.rates.shape[1] * one.width
    axes.axvspan(0, end, color="white", zorder=0, linewidth=0)
    image = axes.imshow(
        np.where(one.rates > 0, one.rates / UNITS[unit], np.nan),
        aspect="auto",
        origin="lower",
        interpolation="none",
        extent=(0, end, -0.5, one.nprocs - 0.5),
        cmap=colormaps["viridis_r"].resampled(LEVELS),
        norm=scale(moved),
        zorder=1,
    )
    axes.axvline(end, color=QUIET, linewidth=0.6)
    axes.grid(visible=False)
    axes.set_title(legend_label(one.letter, one.label), loc="left")
    axes.set_ylabel("rank")
    if one.nprocs <= FEW_RANKS:
        axes.set_yticks(range(one.nprocs))
    else:
        axes.locator_params(axis="y", integer=True, nbins=4)
    return image
