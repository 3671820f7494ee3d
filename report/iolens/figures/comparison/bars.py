"""Grouped bars over the matrix: groups are the first setting, colours the second, panels the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from iolens.figures.comparison.levels import (
    BEST,
    LEFT_OUT,
    POINT,
    level_colours,
    name_places,
    reach,
    value_bar,
    wrapped_label,
)
from iolens.figures.style import FULL_WIDTH, styled
from iolens.lazy import pd
from iolens.metrics.comparison.settings import describe, level_text, name_text, sorted_levels

_PLOT_WIDTH = 5.2
"""Width in inches that is left for the bars beside the axis and the key."""
_KEY_WIDTH = 20
"""Maximum width of a line in the key, in characters."""
_LOST: dict[str, Any] = {
    "textcoords": "offset points",
    "ha": "center",
    "fontsize": 5.5,
    "zorder": 6,
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.6},
}
"""Properties of the text that says how many runs a bar lost."""


class BarColumns(NamedTuple):
    """Names of columns: the value and the ends of its interval in the points, and the measure in the runs."""

    value: str
    low: str
    high: str
    single: str


@dataclass(frozen=True)
class Bars:
    """The properties that all panels share: the settings of groups and colours, a colour for each level, and the best
    point.
    """

    runs: pd.DataFrame
    groups: str
    colours: str | None
    palette: Mapping[Any, Any]
    columns: BarColumns
    best: int | None


@styled
def grouped_bars(
    points: pd.DataFrame,
    runs: pd.DataFrame,
    factors: Sequence[str],
    columns: tuple[str, str, str, str],
    label: str,
    best: int | None,
) -> Figure:
    """Draws bars of `points` and dots of `runs`, from their `columns` (see BarColumns).

    `factors` are the settings with more than one level; `label` names the axis with its unit. A bar in grey
    was left out of the comparison; a setting that lost runs says how many. A line across a bar of bandwidth is its
    `bound`.
    """
    groups, colours, rest = factors[0], factors[1] if len(factors) > 1 else None, list(factors[2:])
    panels = [dict(zip(rest, combo, strict=True)) for combo in product(*(sorted_levels(points[n]) for n in rest))]
    figure = Figure(figsize=(FULL_WIDTH, _panel_height(len(panels))), layout="constrained")
    grid = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)
    palette = level_colours(sorted_levels(points[colours])) if colours else {None: POINT}
    bars = Bars(runs, groups, colours, palette, BarColumns(*columns), best)
    for axes, panel in zip(grid[:, 0], panels, strict=True):
        _draw_panel(axes, points[matching(points, panel)], bars)
        if panel:
            axes.set_title(describe(panel), loc="left")
        axes.set_ylabel(label)
    shown = runs.loc[runs["usable"], bars.columns.single].dropna().astype(float)
    top = reach(shown, points[bars.columns.high])
    if bars.columns.value == "value" and points["bound"].notna().any():
        top = max(top, 1.06 * float(points["bound"].max()))
    grid[-1, 0].set_ylim(0, top)
    grid[-1, 0].set_xlabel(name_text(groups))
    if colours:
        handles = [
            Patch(color=palette[level], label=wrapped_label(level_text(colours, level), _KEY_WIDTH))
            for level in palette
        ]
        figure.legend(handles=handles, title=name_text(colours), loc="outside right upper")
    return figure


def _panel_height(panels: int) -> float:
    """Returns the height of a figure in inches: two figures of one or two panels fit on a page, more panels take a page
    of their own.
    """
    return 0.6 + (2.1 if panels == 1 else min(1.75 * panels, 8.6))


def matching(points: pd.DataFrame, panel: Mapping[str, Any]) -> pd.Series[bool]:
    """Returns the points that have the levels of `panel`."""
    mask = points["label"] != ""
    for name, level in panel.items():
        mask &= points[name] == level
    return mask


def _draw_panel(axes: Axes, points: pd.DataFrame, bars: Bars) -> None:
    """Draws the bars of one panel."""
    value, low, high, single = bars.columns
    groups, runs = bars.groups, bars.runs
    levels = sorted_levels(points[groups])
    width = 0.8 / len(bars.palette)
    order = list(bars.palette)
    for index, point in points.iterrows():
        place = order.index(point[bars.colours]) if bars.colours else 0
        x = levels.index(point[groups]) + (place - (len(order) - 1) / 2) * width
        if point["lost"]:
            axes.annotate(f"{point['lost']} lost", (x, 0), (0, 10), **_LOST)
        face = LEFT_OUT if point["left_out"] else bars.palette[order[place]]
        edge, thick = (BEST, 1.8) if index == bars.best else ("white", 0.4)
        dots = runs.loc[(runs["point"] == index) & runs["usable"], single].dropna().astype(float)
        bound = point["bound"] if value == "value" else None
        look = {"color": face, "hatch": "///" if point["left_out"] else None, "edgecolor": edge, "linewidth": thick}
        value_bar(axes, x, width, (point[value], point[low], point[high]), list(dots), bound, **look)
    axes.set_xlim(-0.5, len(levels) - 0.5)
    name_places(axes, [level_text(groups, level) for level in levels], _PLOT_WIDTH)
