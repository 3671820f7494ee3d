"""Named ticks of an axis look as matplotlib itself draws them."""

from collections.abc import Callable

from iolens.figures.style import canvas, mark, styled
from iolens.pages.html.svg import svg
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


def test_named_ticks_look_as_those_of_matplotlib() -> None:
    assert svg(bars(mark), "key", "title") == svg(bars(Axis.set_ticks), "key", "title")
