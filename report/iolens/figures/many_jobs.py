"""Many processes and jobs: how many ran at each moment, and the months of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.job_times import UNITS, unit_of
from iolens.figures.style import FULL_WIDTH, INK, META, READ, WRITE, canvas, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#f0b400", "#56b4e9")
"""Colours of the first programs, by Okabe and Ito (2008); further programs are grey."""
_OTHERS = "#bbbbbb"
"""Colour of programs without a colour of their own."""
_LONGEST = 26
"""Maximum number of letters of a name in the legend."""


@styled
def running_processes(counts: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws how many processes of each program ran over time, as stacked areas. `counts`, of forest.activity.running,
    has a column per program and a row per bin of time.
    """
    figure, axes = canvas(width, 1.9, right=1.75, top=0.1)
    starts = counts.index.to_numpy(dtype=float)
    each = starts[1] - starts[0]
    edges = np.append(starts, starts[-1] + each)
    below = np.zeros(len(counts))
    for place, name in enumerate(counts):
        upper = below + counts[name].to_numpy(dtype=float)
        colour = _OTHERS if name == "others" else _COLOURS[place % len(_COLOURS)]
        axes.stairs(upper, edges, baseline=below, fill=True, color=colour, label=_legend_name(str(name)))
        below = upper
    axes.set_xlim(0, edges[-1])
    axes.set_ylim(0, None)
    axes.set_xlabel("seconds since the first process began")
    axes.set_ylabel("processes")
    axes.locator_params(axis="y", nbins=4)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02))
    return figure


def _legend_name(name: str) -> str:
    """Returns a name that the legend has room for."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


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
