"""Access sizes of one layer: reads and writes per range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.figures.job.operations import count_label, short_count
from iolens.figures.style import HALF_WIDTH, READ, WRITE, canvas, mark, nothing, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = ("≤ 100", "≤ 1K", "≤ 10K", "≤ 100K", "≤ 1M", "≤ 4M", "≤ 10M", "≤ 100M", "≤ 1G", "> 1G")


@styled
def size_bars(sizes: pd.DataFrame, width: float = HALF_WIDTH) -> Figure:
    """Draws the histogram of metrics.job.interfaces.operations.access_sizes."""
    if not (sizes["reads"].any() or sizes["writes"].any()):
        return nothing(width, 1.4, "no accesses")
    figure, axes = canvas(width, 1.9, left=0.42, bottom=0.58, top=0.24)
    for shift, column, colour in ((-0.2, "reads", READ), (0.2, "writes", WRITE)):
        bars = [place + shift for place in range(len(sizes))]
        axes.bar(bars, sizes[column], 0.38, color=colour, label=column)
        for place, value in zip(bars, sizes[column], strict=True):
            if value:
                axes.annotate(
                    short_count(value),
                    (place, value),
                    (0, 2),
                    textcoords="offset points",
                    ha="center",
                    rotation=90,
                    fontsize=5.5,
                )
    axes.set_ylim(0, 1.22 * max(sizes["reads"].max(), sizes["writes"].max()))
    mark(axes.xaxis, range(len(sizes)), LABELS, rotation=40, ha="right", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(lambda value, _: count_label(value))
    axes.locator_params(axis="y", nbins=5, integer=True)
    axes.set_xlabel("bytes (K = 1024)", labelpad=1)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, columnspacing=1.0)
    return figure
