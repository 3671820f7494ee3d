"""The path of a search: the result of each run, the expected result, and the best so far."""

from __future__ import annotations

from matplotlib.figure import Figure

from iolens.figures.comparison.levels import BEST, POINT, reach, wrapped_label
from iolens.figures.style import FULL_WIDTH, INK, styled
from iolens.lazy import pd

_HEIGHT = 2.4
"""Size of the figure in inches."""

_BEGIN = ("default", "rule of thumb", "rule of thumb, other stripe size")
"""Reasons for the first runs of a search, which no model chose."""


@styled
def search_path(steps: pd.DataFrame, label: str = "bandwidth, MiB/s") -> Figure:
    """Draws one step per row of `steps`: `number`, `bandwidth`, `expected`, `low`, `high` and `best`, in the unit of
    the `label`, and `why`.
    """
    figure = Figure(figsize=(FULL_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.subplots()
    axes.step(steps["number"], steps["best"], where="post", color=BEST, linewidth=1.2, zorder=2)
    for _, one in steps.dropna(subset=["expected"]).iterrows():
        axes.plot([one["number"]] * 2, [one["low"], one["high"]], color=INK, linewidth=4, alpha=0.2, zorder=1)
        axes.plot(one["number"], one["expected"], "_", color=INK, markersize=9, zorder=3)
    for _, one in steps.dropna(subset=["bandwidth"]).iterrows():
        hollow = "white" if one["why"] in _BEGIN else POINT
        axes.plot(one["number"], one["bandwidth"], "o", color=POINT, markerfacecolor=hollow, markersize=5, zorder=4)
    axes.set_xticks(list(steps["number"]))
    axes.set_xlim(0.5, len(steps) + 0.5)
    if steps["bandwidth"].notna().any():
        axes.set_ylim(0, reach(steps["bandwidth"], steps["high"]))
    axes.set_xlabel("run of the search")
    axes.set_ylabel(wrapped_label(label, 20))
    return figure
