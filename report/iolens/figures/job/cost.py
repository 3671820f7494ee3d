"""Average I/O cost per process: one bar per layer, in per cent of the run time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.figures.style import HALF_WIDTH, META, OTHER, READ, WRITE, canvas, mark, nothing, styled
from iolens.lazy import pd
from iolens.metrics.comparison.settings import percent_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MORE = 1.01
"""If a bar exceeds the run time by this factor at most, the excess may come from clocks that were read separately, and
the share counts as 100 %.
"""

_PARTS = (("read", READ), ("write", WRITE), ("meta", META), ("other", OTHER))


@styled
def cost_bars(cost: pd.DataFrame, run_time: float, width: float = HALF_WIDTH) -> Figure:
    """Draws one bar per layer; `cost` is a result of metrics.job.cost.io_cost, `run_time` is in seconds."""
    if cost.empty or run_time <= 0:
        return nothing(width, 1.2, "no layer recorded any I/O time")
    longest = max(len(name) for name in cost["module"])
    figure, axes = canvas(width, 0.85 + 0.27 * len(cost), left=0.16 + 0.075 * longest, right=0.5, top=0.3)
    left = [0.0] * len(cost)
    for part, colour in _PARTS:
        shares = [100 * value / max(run_time, total) for value, total in zip(cost[part], _totals(cost), strict=True)]
        axes.barh(range(len(cost)), shares, 0.66, left=left, color=colour, label=part)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    for row, (other, total) in enumerate(zip(cost["other"], _totals(cost), strict=True)):
        axes.text(101.5, row, share_text((total - other) / run_time), va="center", fontsize=7)
    mark(axes.yaxis, range(len(cost)), list(cost["module"]))
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of run time")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, columnspacing=1.0)
    return figure


def share_text(share: float) -> str:
    """Returns a share of the run time in words; calls that overlapped add up to more than all of it."""
    return "> 100 %" if share > _MORE else percent_text(100 * min(share, 1.0))


def _totals(cost: pd.DataFrame) -> list[float]:
    """Returns the seconds of each bar; they exceed the run time if threads overlap."""
    return [float(value) for value in cost[[part for part, _ in _PARTS]].sum(axis=1)]
