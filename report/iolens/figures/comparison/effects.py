"""Ratios with their intervals on a logarithmic axis: effects of settings, or the numbers of several subjects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from iolens.figures.comparison.levels import POINT, level_colours, level_lines, ratio_axes, ratio_mark, wrapped_label
from iolens.figures.style import FULL_WIDTH, styled
from iolens.lazy import pd
from iolens.metrics.comparison.settings import level_text, name_text
from iolens.missing import is_nan

_ROW_NAME = 48
"""Maximum width of a line of a row's name, in characters."""


@styled
def ratio_rows(ratios: pd.DataFrame, label: str, legend: Mapping[str, str]) -> Figure:
    """Draws a row for each `text`, and in it a diamond for each `series`, with the interval of its `ratio` from `low`
    to `high` (NaN without one), and a grey line from `smallest` to `largest`, if these columns exist. `legend` has
    the names of the series in their order, and of the baseline; `label` names the axis.
    """
    rows, others = list(dict.fromkeys(ratios["text"])), list(legend)[1:]
    texts = [wrapped_label(text, _ROW_NAME) for text in rows]
    height = max(0.13 + 0.13 * len(others), 0.05 + 0.13 * max(map(level_lines, texts)))
    figure = Figure(figsize=(FULL_WIDTH, 0.7 + height * len(rows)), layout="constrained")
    axes = figure.subplots()
    palette = level_colours(list(legend)) if len(others) > 1 else dict.fromkeys(legend, POINT)
    for mark in ratios.to_dict("records"):
        y = rows.index(mark["text"]) + (others.index(mark["series"]) - (len(others) - 1) / 2) * 0.7 / len(others)
        if not is_nan(mark.get("smallest", float("nan"))):
            span = [mark["smallest"], mark["largest"]]
            axes.plot(span, [y, y], color="#bbbbbb", linewidth=3.5, solid_capstyle="round")
        ratio_mark(axes, y, mark["ratio"], mark["low"], mark["high"], markersize=5, color=palette[mark["series"]])
    ratio_axes(axes, *_axis_ends(ratios), texts, label)
    if len(others) > 1:
        handles = [Line2D([], [], marker="D", linestyle="", color=palette[one], label=legend[one]) for one in others]
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
    return figure


def effect_forest(effects: pd.DataFrame, what: str = "bandwidth") -> Figure:
    """Draws each row of `effects` (see metrics.comparison.effects): a level of a setting against its base level; `what`
    names the quantity of the ratios.

    The diamond and its caps are the mean effect and its interval; the thin grey line runs from the smallest to the
    largest effect that a single pair of points showed. A long line means that the effect depends on the other settings.
    """
    marks = effects.assign(text=[_row_text(row) for _, row in effects.iterrows()], series="level")
    label = f"{what}, as a multiple of the base level (1× = no effect)"
    return ratio_rows(marks, label, {"base": "", "level": ""})


def _row_text(effect: Mapping[str, Any]) -> str:
    """Returns the change of a setting: 'stripe count  1 → 4'."""
    name, base, level = effect["setting"], effect["base"], effect["level"]
    return f"{name_text(name)}  {level_text(name, base)} → {level_text(name, level)}"


def _axis_ends(ratios: pd.DataFrame) -> tuple[float, float]:
    """Returns the ends of the axis: all ratios and 1 fit, and intervals too unless they are far wider than the
    ratios.
    """
    inner = ratios[[name for name in ("ratio", "smallest", "largest") if name in ratios]]
    least, most = min(float(inner.min().min()), 1.0), max(float(inner.max().max()), 1.0)
    low = max(min(least, float(ratios["low"].fillna(1.0).min())), least / 3)
    high = min(max(most, float(ratios["high"].fillna(1.0).max())), most * 3)
    return low / 1.08, high * 1.08
