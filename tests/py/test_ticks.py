"""An axis that is drawn with a single tick object looks as if matplotlib had drawn it."""

from collections.abc import Callable

import pytest
from iolens.figures.style import canvas, mark, styled
from iolens.pages.html.svg import svg
from iolens.pages.pdf import points
from matplotlib.axis import Axis
from matplotlib.figure import Figure


@styled
def bars(put: Callable[..., object]) -> Figure:
    """Makes an axis with long names and one with turned names, both with a label that moves aside for them."""
    figure, axes = canvas(3, 2)
    axes.barh(range(4), [1, 2, 3, 4e5])
    put(axes.yaxis, range(-1, 5), ["out", "a", "a long name", "b", "c", "out"], fontsize=6)
    axes.set_ylim(-0.5, 3.5)
    put(axes.xaxis, [0, 1e5, 4e5], ["0", "10⁵", "4 × 10⁵"], rotation=40, ha="right", rotation_mode="anchor")
    axes.set(xlabel="calls", ylabel="function")
    return figure


@styled
def nameless() -> Figure:
    """Makes ticks without names and names without ticks."""
    figure, axes = canvas(3, 2)
    axes.plot([0.001, 5])
    axes.tick_params(labelbottom=False)
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="step", ylabel="seconds")
    return figure


@styled
def others() -> Figure:
    """matplotlib itself must draw names on the right, an offset, and ticks of two kinds."""
    figure, axes = canvas(3, 2)
    axes.plot([1e9 + 1, 1e9 + 2])
    axes.yaxis.tick_right()
    axes.xaxis.minorticks_on()
    axes.set(xlabel="step", ylabel="bytes")
    return figure


def test_named_ticks_look_as_those_of_matplotlib() -> None:
    assert svg(bars(mark), "key", "title") == svg(bars(Axis.set_ticks), "key", "title")


@pytest.mark.parametrize("draw", [nameless, others])
def test_one_tick_draws_the_same(draw: Callable[[], Figure], monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = svg(draw(), "key", "title")
    monkeypatch.setattr(points, "with_one_tick", lambda figure: None)
    assert drawn == svg(draw(), "key", "title")


def test_a_figure_of_bars_makes_no_tick_for_each_of_them() -> None:
    figure = bars(mark)
    svg(figure, "key", "title")
    assert [len(axis.majorTicks) for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis)] == [1, 1]
