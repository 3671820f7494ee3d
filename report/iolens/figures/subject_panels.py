"""Several subjects side by side: bytes over time, access sizes, and the time by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from iolens.figures.job_times import FEW_RANKS, LEVELS, UNITS, activity_marks, count_label, scale, unit_of
from iolens.figures.job_transfers import LABELS
from iolens.figures.style import FULL_WIDTH, INK, META, QUIET, READ, WRITE, nothing, styled
from iolens.figures.sweep_effects import level_colours
from iolens.lazy import pd

if TYPE_CHECKING:
    from iolens.metrics.subjects.shapes import SubjectActivity


_LABEL = 40
"""Maximum length of a subject's name in a legend, in characters."""


def colours(letters: Sequence[str]) -> dict[str, tuple[float, float, float, float]]:
    """Returns the subjects' colours, dark to light in their order."""
    return level_colours(list(letters))


def legend_label(letter: str, label: str) -> str:
    """Returns the text of a subject in a legend; a long name is shortened."""
    return (
        f"{letter}  {label}"
        if len(label) <= _LABEL
        else f"{letter}  {label[: _LABEL // 3]}…{label[-2 * _LABEL // 3 :]}"
    )


_ACROSS = 2
"""Number of maps in a row."""


@styled
def heatmaps(found: Sequence[SubjectActivity]) -> Figure:
    """Draws one map for each subject on a common time axis; the time after the end of a shorter run is grey."""
    moved = np.concatenate([one.rates[one.rates > 0] for one in found]) if found else np.array([])
    if not moved.size:
        return nothing(FULL_WIDTH, 1.0, "no bytes in any time bin")
    unit = unit_of(float(moved.max()))
    moved = moved / UNITS[unit]
    lines = -(-len(found) // _ACROSS)
    figure = Figure(figsize=(FULL_WIDTH, 0.55 + 1.35 * lines), layout="constrained")
    grid = figure.subplots(lines, _ACROSS, sharex=True, squeeze=False)
    longest = max(one.rates.shape[1] * one.width for one in found)
    for axes, one in zip(grid.flat, found, strict=False):
        image = _draw(axes, one, unit, moved)
        axes.set_xlim(0, longest)
    for axes in list(grid.flat)[len(found) :]:
        axes.set_visible(False)
    for column in range(_ACROSS):
        shown = [axes for axes in grid[:, column] if axes.get_visible()]
        if shown:
            shown[-1].set_xlabel("seconds since the start of the job")
            shown[-1].tick_params(labelbottom=True)
    bar = figure.colorbar(image, ax=list(grid.flat), fraction=0.025, pad=0.01, aspect=20 * lines)
    bar.set_label(f"{unit}/s per rank")
    ticks = activity_marks(moved)
    bar.set_ticks(ticks, labels=[f"{tick:.2g}" if tick < 10 else f"{tick:.0f}" for tick in ticks], minor=False)
    bar.ax.minorticks_off()
    bar.ax.grid(visible=False)
    return figure


def _draw(axes: Axes, one: SubjectActivity, unit: str, moved: np.ndarray) -> AxesImage:
    """Draws the map of one subject."""
    axes.set_facecolor("#f4f4f4")
    end = one.rates.shape[1] * one.width
    axes.axvspan(0, end, color="white", zorder=0, linewidth=0)
    image = axes.imshow(
        np.where(one.rates > 0, one.rates / UNITS[unit], np.nan),
        aspect="auto",
        origin="lower",
        interpolation="none",
        extent=(0, end, -0.5, one.nprocs - 0.5),
        cmap=colormaps["viridis_r"].resampled(LEVELS),
        norm=scale(moved),
        zorder=1,
    )
    axes.axvline(end, color=QUIET, linewidth=0.6)
    axes.grid(visible=False)
    axes.set_title(legend_label(one.letter, one.label), loc="left")
    axes.set_ylabel("rank")
    if one.nprocs <= FEW_RANKS:
        axes.set_yticks(range(one.nprocs))
    else:
        axes.locator_params(axis="y", integer=True, nbins=4)
    return image


@styled
def size_histograms(sizes: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """Draws the table of metrics.subjects.shapes.sizes; `labels` has the subjects by their letters."""
    panels = [(key, part) for key, part in sizes.groupby(["layer", "kind"], sort=False)]
    lines = -(-len(panels) // _ACROSS)
    figure = Figure(figsize=(FULL_WIDTH, 0.5 + 1.55 * lines), layout="constrained")
    grid = figure.subplots(lines, _ACROSS, squeeze=False)
    palette = colours(list(labels))
    for axes, (key, part) in zip(grid.flat, panels, strict=False):
        _draw_sizes(axes, part, palette)
        axes.set_title(f"{key[0]} {key[1]}", loc="left")
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("accesses")
    handles = grid.flat[0].containers
    figure.legend(
        handles=[handle[0] for handle in handles],
        labels=[legend_label(letter, labels[letter]) for letter in labels],
        loc="outside upper left",
        ncols=2,
    )
    return figure


def _draw_sizes(axes: Axes, part: pd.DataFrame, palette: Mapping[str, object]) -> None:
    """Draws a bar for each subject in each range of sizes."""
    places = sorted(set(part["place"]))
    wide = 0.82 / len(palette)
    for place, (letter, colour) in enumerate(palette.items()):
        counts = part[part["letter"] == letter].set_index("place")["count"].reindex(places).fillna(0)
        at = [x + (place - (len(palette) - 1) / 2) * wide for x in range(len(places))]
        axes.bar(at, counts, wide, color=colour, edgecolor="white", linewidth=0.3)
    axes.set_xticks(range(len(places)), [LABELS[place] for place in places], rotation=30, ha="right", color=INK)
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(lambda value, _: count_label(value))
    axes.locator_params(axis="y", nbins=4, integer=True)
    axes.set_xlim(-0.6, len(places) - 0.4)


_PARTS = (("read", READ), ("write", WRITE), ("meta", META))
_BAR = 0.2
"""Height of a bar with its gap, in inches."""


@styled
def time_bars(times: pd.DataFrame) -> Figure:
    """Draws the table of metrics.subjects.shapes.operation_seconds; all panels share one axis of seconds."""
    if times.empty:
        return nothing(FULL_WIDTH, 1.0, "no layer recorded any I/O time")
    layers = list(dict.fromkeys(times["module"]))
    parts = [times[times["module"] == layer] for layer in layers]
    heights = [_BAR * len(part) for part in parts]
    figure = Figure(figsize=(FULL_WIDTH, 0.75 + sum(heights) + 0.16 * len(parts)), layout="constrained")
    grid = figure.subplots(len(parts), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, layer, part in zip(grid, layers, parts, strict=True):
        _draw_times(axes, part)
        axes.set_ylabel(layer, rotation=0, ha="right", va="center", labelpad=14)
    grid[-1].set_xlabel("seconds of an average process")
    grid[-1].set_xlim(0, 1.22 * float(times["largest"].max()))
    grid[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3)
    return figure


def _axis_seconds(value: float) -> str:
    """Formats a time in seconds, the unit of the axis: whole from 100 s on, else with three digits, or three decimals
    below 0.1 s.
    """
    return f"{value:.0f} s" if value >= 100 else f"{value:.3g} s" if value >= 0.1 else f"{value:.3f} s"


def _draw_times(axes: Axes, rows: pd.DataFrame) -> None:
    """Draws the bars of one layer. If a subject has several logs, a line runs from the smallest to the largest of their
    times.
    """
    left = np.zeros(len(rows))
    places = range(len(rows))
    for kind, colour in _PARTS:
        axes.barh(places, rows[kind], 0.7, left=left, color=colour, label=kind)
        left += rows[kind].to_numpy(dtype=float)
    for y, row, total in zip(places, rows.to_dict("records"), left, strict=True):
        if row["logs"] > 1:
            axes.plot([row["smallest"], row["largest"]], [y, y], color=INK, linewidth=1.0, marker="|", markersize=4)
        share = f", {100 * total / row['run_time']:.1f} % of the run" if row["run_time"] > 0 else ""
        place = max(total, row["largest"] if row["logs"] > 1 else 0.0)
        axes.annotate(
            f"{_axis_seconds(total)}{share}", (place, y), (4, 0), textcoords="offset points", va="center", fontsize=6.5
        )
    axes.set_yticks(places, list(rows["letter"]))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
