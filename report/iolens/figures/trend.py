"""Month by month: hours in I/O and hours that could be saved, and the bytes moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job.activity import UNITS, unit_of
from iolens.figures.style import FULL_WIDTH, INK, META, READ, WRITE, canvas, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_NAMES = 12
"""Maximum number of months that have a name on the axis."""


@styled
def trend(months: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws one row per month of `months`: month, io_hours, saved_hours (process hours), bytes_read, bytes_written."""
    figure, axes = canvas(width, 2.6, left=0.7, right=0.1, bottom=1.45)
    lower = figure.add_axes((0.7 / width, 0.3 / 2.6, 1 - 0.8 / width, 0.95 / 2.6))
    place = np.arange(len(months))
    axes.bar(place, months["io_hours"], color=META, label="in I/O")
    axes.plot(place, months["saved_hours"], color=INK, marker="o", markersize=3, linewidth=0.8, label="could be saved")
    axes.set_ylabel("process hours")
    axes.legend(loc="upper left", ncols=2)
    unit = unit_of(float((months["bytes_read"] + months["bytes_written"]).max()))
    moved = [months[name].to_numpy(dtype=float) / UNITS[unit] for name in ("bytes_written", "bytes_read")]
    lower.bar(place, moved[0], color=WRITE, label="written")
    lower.bar(place, moved[1], bottom=moved[0], color=READ, label="read")
    lower.set_ylabel(unit)
    lower.legend(loc="upper left", ncols=2)
    each = -(-len(months) // _MOST_NAMES)
    for some in (axes, lower):
        some.set_xticks(place[::each])
        some.set_xlim(-0.6, len(months) - 0.4)
        some.set_ylim(0, 1.3 * max(some.dataLim.y1, 1e-9))
        some.locator_params(axis="y", nbins=4)
    axes.tick_params(labelbottom=False)
    lower.set_xticklabels([f"{month:%Y-%m}" for month in months["month"][::each]])
    return figure
