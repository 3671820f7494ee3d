"""The files on each object storage target and the bytes that it moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.figures.job.activity import UNITS, unit_of
from iolens.figures.style import FULL_WIDTH, READ, WRITE, canvas, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOUR = "#56b4e9"


@styled
def target_bars(targets: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws the table of metrics.files.stripes.striping.targets; a target without a file leaves a gap."""
    figure, axes = canvas(width, 1.5, left=0.5, top=0.08)
    axes.bar([int(ost) for ost in targets["ost"]], targets["files"], 0.8, color=_COLOUR)
    axes.set_xlabel("object storage target (index)")
    axes.set_ylabel("files")
    axes.locator_params(axis="y", nbins=4, integer=True)
    axes.locator_params(axis="x", integer=True)
    return figure


@styled
def byte_bars(targets: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws the bytes read on top of the bytes written; `targets` is the table of
    metrics.files.stripes.ost.target_bytes.
    """
    figure, axes = canvas(width, 1.6, left=0.5, top=0.2)
    places = [int(ost) for ost in targets["ost"]]
    unit = unit_of(targets["bytes"].max())
    written, read = (targets[name] / UNITS[unit] for name in ("bytes_written", "bytes_read"))
    axes.bar(places, written, 0.8, color=WRITE, label="written")
    axes.bar(places, read, 0.8, bottom=written, color=READ, label="read")
    axes.set_xlabel("object storage target (index)")
    axes.set_ylabel(unit)
    axes.locator_params(axis="y", nbins=4)
    axes.locator_params(axis="x", integer=True)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    return figure


@styled
def speed_bars(targets: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws the bytes per second of a process on each target; `targets` is the table of
    metrics.files.stripes.ost.target_bytes.
    """
    figure, axes = canvas(width, 1.5, left=0.5, top=0.08)
    unit = unit_of(targets["bytes_per_second"].max())
    axes.bar([int(ost) for ost in targets["ost"]], targets["bytes_per_second"] / UNITS[unit], 0.8, color=_COLOUR)
    axes.set_xlabel("object storage target (index)")
    axes.set_ylabel(f"{unit}/s")
    axes.locator_params(axis="y", nbins=4)
    axes.locator_params(axis="x", integer=True)
    return figure
