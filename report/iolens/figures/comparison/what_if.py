"""Predicted I/O times at settings without a run, beside the measured time."""

from __future__ import annotations

from matplotlib.figure import Figure

from iolens.figures.comparison.levels import POINT, level_lines, wrapped_label
from iolens.figures.style import FULL_WIDTH, INK, styled
from iolens.lazy import pd

_MOST = 24
"""Maximum number of bars that a reader can distinguish."""
_ROW_NAME = 60
"""Maximum width of a line of a bar's name, in characters."""
_LINE, _GAP, _AXIS = 0.125, 0.07, 0.55
"""Sizes in inches: a line of a name, the space between bars, the axis below them."""


@styled
def what_if_strip(points: pd.DataFrame, measured: float, error: float) -> Figure:
    """Draws a hatched bar for each row of `points` (settings, io: seconds), or only for the fastest ones if there are
    many. A whisker shows the relative `error`, and a line the `measured` seconds.
    """
    shown = points if len(points) <= _MOST else points.iloc[[0, *points.iloc[1:].nsmallest(_MOST - 1, "io").index]]
    names = [wrapped_label(str(name), _ROW_NAME) for name in shown["settings"]]
    height = _GAP + _LINE * max(map(level_lines, names), default=1)
    figure = Figure(figsize=(FULL_WIDTH, _AXIS + height * len(shown)), layout="constrained")
    axes = figure.subplots()
    places = range(len(shown))
    seconds = shown["io"].to_numpy()
    whisker = {"ecolor": INK, "elinewidth": 0.8, "capsize": 2}
    axes.barh(
        places, seconds, 0.7, color="white", edgecolor=POINT, hatch="////", xerr=seconds * error, error_kw=whisker
    )
    axes.axvline(measured, color=INK, linewidth=1)
    axes.set_yticks(places, names)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(0, 1.05 * max(measured, float((seconds * (1 + error)).max())))
    axes.set_xlabel("I/O time, s: predicted (bars), measured in the recorded run (line)")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    return figure
