"""Functions by their share of the samples, coloured by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.figures.style import FULL_WIDTH, canvas, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {"USER": "#009e73", "MPI": "#0072b2", "MPI-IO": "#cc79a7", "POSIX": "#d55e00", "STDIO": "#e69f00"}
_REST = "#999999"
_MOST = 12
"""Largest number of functions in the figure."""
_LONGEST = 36
"""Maximum width of a name, in characters."""


@styled
def profile_bars(functions: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws functions by their shares; `functions` has name, group and share (per cent)."""
    shown = functions.nlargest(_MOST, "share")
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
