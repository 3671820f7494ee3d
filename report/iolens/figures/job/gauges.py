"""Gauges side by side: a number, its place on a labelled scale, and its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iolens.figures.style import ALERT, FINE, FULL_WIDTH, GRID, INK, QUIET, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEIGHT, _GAP = 1.04, 0.16


@dataclass(frozen=True)
class Gauge:
    """A gauge in words; `place` and `mark` are the positions of value and bound on a bar from 0 to 1 (None: not known).

    `good` is None if the gauge is not judged. `ends` are the words at both ends of the bar.
    """

    title: str
    value: str
    bound: str
    place: float | None
    mark: float | None
    good: bool | None
    ends: tuple[str, str] = ("", "")


@styled
def gauge_row(gauges: Sequence[Gauge], width: float = FULL_WIDTH) -> Figure:
    """Draws the gauges in columns of equal width. Length, number and a word repeat the meaning of the colour."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    figure = Figure(figsize=(width, _HEIGHT))
    each = (width - _GAP * (len(gauges) - 1)) / len(gauges)
    for number, gauge in enumerate(gauges):
        left = number * (each + _GAP)
        colour = QUIET if gauge.good is None else FINE if gauge.good else ALERT

        def put(x: float, y: float, text: str, start: float = left, **look: Any) -> None:
            figure.text((start + x) / width, y / _HEIGHT, text, **look)

        def bar(x: float, y: float, wide: float, high: float, shade: str, start: float = left) -> None:
            spot = ((start + x) / width, y / _HEIGHT)
            figure.add_artist(Rectangle(spot, wide / width, high / _HEIGHT, color=shade, linewidth=0))

        put(0, 0.92, gauge.title, color=INK, fontsize=7.5)
        put(0, 0.62, gauge.value, color=colour, fontsize=15, fontweight="bold")
        bar(0, 0.45, each, 0.07, GRID)
        if gauge.place is not None:
            bar(0, 0.45, each * min(1.0, max(0.008, gauge.place)), 0.07, colour)
            put(0, 0.29, gauge.ends[0], color=QUIET, fontsize=6.5)
            put(each, 0.29, gauge.ends[1], color=QUIET, fontsize=6.5, horizontalalignment="right")
        if gauge.mark is not None:
            bar(each * gauge.mark - 0.008, 0.40, 0.016, 0.17, INK)
        put(0, 0.10, gauge.bound, color=QUIET, fontsize=6.5)
    return figure
