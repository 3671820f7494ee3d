"""Messages by size, and by the distance between sender and receiver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from iolens.figures.job.activity import UNITS, unit_of
from iolens.figures.style import HALF_WIDTH, READ, canvas, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    """Draws the distances with the most bytes; `found` is a result of metrics.processor.mpi.peers.mpi_distance."""
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
