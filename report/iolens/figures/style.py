"""Sizes, fonts and one colour for each kind of I/O, which all figures share.

The colours are Okabe and Ito's (2008), which colour-blind readers can distinguish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

READ, WRITE, META, OTHER = "#0072b2", "#d55e00", "#f0b400", "#d9d9d9"
INK, QUIET, GRID = "#333333", "#777777", "#e4e4e4"
FINE, ALERT = "#00785a", "#b03a00"
"""Colours of a number within its bound and of one outside it; both are dark enough for text on white."""
FULL_WIDTH, HALF_WIDTH = 6.9, 3.36
"""Width in inches: of the text of a page, and of one of two figures side by side."""

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "axes.edgecolor": QUIET,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.2,
    "legend.borderaxespad": 0.2,
}

P = ParamSpec("P")


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Makes a figure function draw in the house style, leaving matplotlib's own settings alone."""

    @wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        import matplotlib

        with matplotlib.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return wrapper


def canvas(
    width: float,
    height: float,
    left: float = 0.55,
    right: float = 0.1,
    bottom: float = 0.42,
    top: float = 0.12,
) -> tuple[Figure, Axes]:
    """Returns a figure with one pair of axes; margins are fixed, so that neighbouring figures line up. All lengths are
    inches.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    box = (left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height)
    return figure, figure.add_axes(box)


def nothing(width: float, height: float, reason: str) -> Figure:
    """Returns a figure that says why it is empty."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.text(0.5, 0.5, reason, ha="center", va="center", color=QUIET, wrap=True, fontsize=8)
    return figure


def mark(axis: Axis, places: Sequence[float], names: Sequence[str] | None = None, **look: Any) -> None:
    """Puts ticks at these places of an axis and, unlike matplotlib's `set_ticks`, keeps its limits; `look` has
    properties of the ticks' names.
    """
    from matplotlib.ticker import FixedFormatter, FixedLocator

    axis.set_major_locator(FixedLocator(places))
    if names is not None:
        axis.set_major_formatter(FixedFormatter(names))
    for tick in axis.get_major_ticks(len(places)) if look else ():
        tick.label1.set(**look)
