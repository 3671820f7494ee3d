"""Draws an axis with one tick that moves from place to place.

matplotlib makes five artists for each place, which takes longer than all else in a figure of bars.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import NullLocator

if TYPE_CHECKING:
    from matplotlib.transforms import Bbox

_NEAR = 1e-10
"""Largest share of an axis by which a tick may lie outside it because of rounding."""


def with_one_tick(figure: Any) -> None:
    """Lets the figure's axes be drawn so, wherever matplotlib itself has made no further tick."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if _is_plain(axis):
                axis.draw = Plain(axis)


def _is_plain(axis: Any) -> bool:
    """Returns whether one tick stands for all: they are alike, on one side of the axes, and not of two kinds."""
    if not axis.get_visible() or not isinstance(axis.get_minor_locator(), NullLocator) or len(axis.majorTicks) != 1:
        return False
    tick = axis.majorTicks[0]
    return not (tick.label2.get_visible() or tick.tick2line.get_visible())


class Plain:
    """Draws an axis in place of its own `draw`."""

    def __init__(self, axis: Any) -> None:
        self.axis, self.usual = axis, axis.draw

    def __call__(self, renderer: Any) -> None:
        """Draws its ticks and its label."""
        places = self.axis.get_majorticklocs()
        names = self.axis.major.formatter.format_ticks(places)
        if self.axis.major.formatter.get_offset():
            self.usual(renderer)
            return
        tick = self.axis.majorTicks[0]
        boxes = []
        for place, name in zip(places, names, strict=True):
            if self.is_inside(place):
                tick.update_position(place)
                tick.label1.set_text(name)
                tick.draw(renderer)
                if self.axis.get_label_text():
                    boxes.append(tick.label1.get_window_extent(renderer))
        if self.axis.get_label_text():
            self.put_label(tick, boxes)
            self.axis.label.draw(renderer)

    def is_inside(self, place: float) -> bool:
        """Returns whether a place lies on the axis."""
        *ends, here = self.axis.get_transform().transform([*self.axis.get_view_interval(), place])
        low, high = sorted(ends)
        return bool(low - _NEAR * (high - low) <= here <= high + _NEAR * (high - low))

    def put_label(self, tick: Any, boxes: Sequence[Bbox]) -> None:
        """Moves the axis' label away from the ticks, and from their names in `boxes`, as matplotlib does."""
        x, y = self.axis.label.get_position()
        edge, dots = self.axis.axes.bbox, self.axis.axes.get_figure().dpi / 72
        out = tick.get_tick_padding() * dots if boxes and tick.tick1line.get_visible() else 0.0
        names = boxes if tick.label1.get_visible() else ()
        if self.axis.get_label_position() == "bottom":
            y = min([edge.y0 - out, *(box.y0 for box in names)]) - self.axis.labelpad * dots
        else:
            x = min([edge.x0 - out, *(box.x0 for box in names)]) - self.axis.labelpad * dots
        self.axis.label.set_position((x, y))
