"""The transfers of a job: sizes, order of offsets, targets, cost, gauges, and a bar for each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from iolens.figures.job_times import FEW_RANKS, UNITS, count_label, short_count, unit_of
from iolens.figures.style import (
    ALERT,
    FINE,
    FULL_WIDTH,
    GRID,
    HALF_WIDTH,
    INK,
    META,
    OTHER,
    QUIET,
    READ,
    WRITE,
    canvas,
    mark,
    nothing,
    styled,
)
from iolens.lazy import pd
from iolens.metrics.comparison.settings import percent_text

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


_COLOUR = "#56b4e9"


@styled
def target_bars(targets: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws the table of metrics.files.stripes.striping.targets; a target without a file leaves a gap."""
    figure, axes = canvas(width, 1.5, left=0.5, top=0.08)
    axes.bar([int(ost) for ost in targets["ost"]], targets["files"], 0.8, color=_COLOUR)
    axes.set_xlabel("object storage target (index)")
    axes.set_ylabel("files")
    axes.locator_params(axis="y", nbins=4, integer=True)
    axes.locator_params(axis="x", integer=True)
    return figure


@styled
def byte_bars(targets: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws the bytes read on top of the bytes written; `targets` is the table of
    metrics.files.stripes.ost.target_bytes.
    """
    figure, axes = canvas(width, 1.6, left=0.5, top=0.2)
    places = [int(ost) for ost in targets["ost"]]
    unit = unit_of(targets["bytes"].max())
    written, read = (targets[name] / UNITS[unit] for name in ("bytes_written", "bytes_read"))
    axes.bar(places, written, 0.8, color=WRITE, label="written")
    axes.bar(places, read, 0.8, bottom=written, color=READ, label="read")
    axes.set_xlabel("object storage target (index)")
    axes.set_ylabel(unit)
    axes.locator_params(axis="y", nbins=4)
    axes.locator_params(axis="x", integer=True)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    return figure


@styled
def speed_bars(targets: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws the bytes per second of a process on each target; `targets` is the table of
    metrics.files.stripes.ost.target_bytes.
    """
    figure, axes = canvas(width, 1.5, left=0.5, top=0.08)
    unit = unit_of(targets["bytes_per_second"].max())
    axes.bar([int(ost) for ost in targets["ost"]], targets["bytes_per_second"] / UNITS[unit], 0.8, color=_COLOUR)
    axes.set_xlabel("object storage target (index)")
    axes.set_ylabel(f"{unit}/s")
    axes.locator_params(axis="y", nbins=4)
    axes.locator_params(axis="x", integer=True)
    return figure


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


_MOST_BARS = 400
"""Largest number of bars, for which the width of a page has enough points."""

_FEW_BARS = 32
"""Largest number of bars that are drawn with gaps."""

_WIDEST_BAR = 0.4
"""Width of a rank's bar in inches."""

MEMORY, _PROGRAM, _KERNEL = "#cc79a7", "#555555", "#aaaaaa"


@styled
def rank_bars(moved: pd.DataFrame, width: float = FULL_WIDTH) -> Figure:
    """Draws stacked bars of bytes read and written, and their mean; `moved` is a result of
    metrics.job.balance.rank_bytes.
    """
    unit = unit_of(moved.sum(axis=1).max())
    return _stacked(moved[["written", "read"]] / UNITS[unit], (WRITE, READ), unit, width)


@styled
def memory_bars(usage: pd.DataFrame, width: float = HALF_WIDTH) -> Figure:
    """Draws the largest resident set of each rank and the mean; `usage` is a result of `rank_usage` in
    metrics.job.interfaces.private_counts.
    """
    unit = unit_of(usage["max_rss"].max())
    return _stacked(usage[["max_rss"]].set_axis(["resident"], axis=1) / UNITS[unit], (MEMORY,), unit, width)


@styled
def processor_bars(usage: pd.DataFrame, width: float = HALF_WIDTH) -> Figure:
    """Draws stacked bars of processor time in the kernel and in the program, and their mean; `usage` is a result of
    metrics.job.interfaces.private_counts.rank_usage.
    """
    parts = usage[["user_time", "system_time"]].set_axis(["program", "kernel"], axis=1)
    return _stacked(parts, (_PROGRAM, _KERNEL), "s", width)


def _stacked(parts: pd.DataFrame, colours: Sequence[str], unit: str, width: float) -> Figure:
    """Draws the columns of `parts` as stacked bars, one bar for each rank of the index, and the mean of the ranks.

    With more than _MOST_BARS ranks, several neighbouring ranks share a bar, which shows the largest of them.
    """
    left = 0.55
    room = max(0.0, width - left - 0.1 - _WIDEST_BAR * len(parts))
    figure, axes = canvas(width, 1.6, left=left, right=0.1 + room, top=0.2)
    total, each = parts.sum(axis=1), -(-len(parts) // _MOST_BARS)
    edges = np.append(parts.index[::each], parts.index[-1] + 1) - 0.5
    if each > 1:
        parts = parts.loc[total.groupby(np.arange(len(parts)) // each).idxmax()]
    below = np.zeros(len(parts))
    for name, colour in zip(parts, colours, strict=True):
        values = parts[name].to_numpy(dtype=float)
        if len(parts) <= _FEW_BARS:
            axes.bar(parts.index, values, 0.75, bottom=below, color=colour, label=str(name))
        else:
            axes.stairs(below + values, edges, baseline=below, fill=True, color=colour, label=str(name))
        below = below + values
    axes.axhline(total.mean(), color=INK, linewidth=0.8, linestyle="--", label="mean")
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, None)
    axes.set_xlabel("rank" if each == 1 else f"rank (largest of each group of {each})")
    axes.set_ylabel(unit)
    if len(total) <= FEW_RANKS:
        mark(axes.xaxis, list(parts.index))
    else:
        axes.locator_params(axis="x", integer=True)
    axes.locator_params(axis="y", nbins=4)
    axes.legend(loc="lower left" if room else "lower right", bbox_to_anchor=(0 if room else 1, 1), ncols=3)
    return figure
