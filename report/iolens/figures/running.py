"""The number of running processes over time, stacked by program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.figures.style import FULL_WIDTH, canvas, styled
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
