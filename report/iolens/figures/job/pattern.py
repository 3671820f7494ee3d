"""POSIX accesses by the order of their offsets: shares of consecutive, other sequential, and remaining accesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iolens.figures.style import GRID, HALF_WIDTH, INK, READ, WRITE, canvas, mark, nothing, styled
from iolens.lazy import pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {"read": READ, "write": WRITE}
_ROOM = 0.09
"""Minimum share of a bar in which its number is written."""


@styled
def pattern_bars(pattern: pd.DataFrame, width: float = HALF_WIDTH) -> Figure:
    """Draws one bar per kind of access from `access_pattern` in metrics.job.interfaces.operations: filled for
    consecutive, hatched for other sequential, and empty for all other accesses.
    """
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    shown = pattern[pattern["total"] > 0]
    if shown.empty:
        return nothing(width, 1.2, "no POSIX access")
    figure, axes = canvas(width, 0.95 + 0.3 * len(shown), left=0.95, top=0.3)
    bars: list[tuple[int, float, float, Any]] = []
    for place, row in enumerate(shown.itertuples()):
        colour, consecutive = _COLOURS[row.kind], 100 * row.consecutive_share
        parts = (
            (consecutive, to_rgba(colour), "white"),
            (100 * row.sequential_share - consecutive, to_rgba(colour, 0.45), INK),
            (100 - 100 * row.sequential_share, to_rgba(GRID), INK),
        )
        left = 0.0
        for size, look, ink in parts:
            bars.append((place, size, left, look))
            if size >= 100 * _ROOM:
                axes.text(left + size / 2, place, f"{size:.0f} %", ha="center", va="center", fontsize=6.5, color=ink)
            left += size
    places, sizes, lefts, looks = zip(*bars, strict=True)
    axes.barh(places, sizes, 0.66, left=lefts, color=looks)
    mark(
        axes.yaxis,
        range(len(shown)),
        [f"{row.total:,.0f} {row.kind}{'s' * (row.total != 1)}" for row in shown.itertuples()],
    )
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the accesses")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    shades = (("consecutive", INK, 0.8), ("sequential", INK, 0.4), ("other", GRID, 1.0))
    handles = [Patch(facecolor=shade, alpha=alpha, label=name) for name, shade, alpha in shades]
    axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, columnspacing=1.0)
    return figure
