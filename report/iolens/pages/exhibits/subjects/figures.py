"""The figures of a comparison of logs, runs and outputs: ratios, rates, time by operation, maps over time, sizes."""

from __future__ import annotations

from collections.abc import Iterable

from iolens.lazy import pd
from iolens.metrics.comparison.settings import NamedLevel, three_digits
from iolens.metrics.subjects import shapes as subject_shapes
from iolens.metrics.subjects.aligned import SAME, aligned, numbers
from iolens.metrics.subjects.bounds import subject_bounds
from iolens.metrics.subjects.subject import Subjects
from iolens.metrics.subjects.values import RUN
from iolens.missing import is_nan
from iolens.pages import words
from iolens.pages.blocks import FigureBlock
from iolens.pages.exhibit import Exhibit
from iolens.pages.exhibits import finding

_MOST_RATIOS = 24

_LEADING = (RUN, "Bandwidth", "Time", "Computing", "Metadata", "MPI-IO", "POSIX", "DFS")
"""Groups whose ratios are drawn if there are any; otherwise all other groups are drawn in which a larger or smaller
value is better.
"""

_RATES = (
    ("Bandwidth", "write"),
    ("Bandwidth", "read"),
    ("MPI-IO", "speed by the slowest"),
    ("POSIX", "speed by the slowest"),
)
"""Rates that are drawn as bars: the first two that exist. A rate that the program printed precedes one from its log."""

_MOST_RATES = 2


def _names_by_letter(subjects: Subjects) -> dict[str, str]:
    """Returns the names of the subjects by their letters."""
    return {letter: one.label for letter, one in subjects.named}


def _legend_labels(subjects: Subjects) -> dict[str, str]:
    """Returns the text of each subject in a legend, by its letter."""
    from iolens.figures.subject_panels import legend_label

    return {letter: legend_label(letter, label) for letter, label in _names_by_letter(subjects).items()}


def _leading(subjects: Subjects) -> pd.DataFrame:
    """Returns the first _MOST_RATIOS rows of `aligned` that differ, have a ratio, and have a better direction; only
    those of _LEADING groups, if there are any.
    """
    rows = aligned(subjects)
    if rows.empty:
        return rows
    others = subjects.letters[1:]
    known = rows[[f"ratio {letter}" for letter in others]].notna().any(axis=1)
    differ = ~rows[[f"standing {letter}" for letter in others]].isin([SAME]).all(axis=1)
    found = rows[known & differ & (rows["better"] != 0)]
    first = found[found["group"].isin(_LEADING)]
    order = [_LEADING.index(group) for group in first["group"]]
    first = first.assign(order=order).sort_values("order", kind="stable").drop(columns="order")
    found = (first if len(first) else found).head(_MOST_RATIOS)
    texts = [
        name if group == RUN else f"{group}: {name}" for group, name in zip(found["group"], found["name"], strict=True)
    ]
    arrows = ["  ↑" if better > 0 else "  ↓" for better in found["better"]]
    return found.assign(text=[text + arrow for text, arrow in zip(texts, arrows, strict=True)])


def _ratio_figure(subjects: Subjects, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure with the ratios of the most important numbers."""
    from iolens.figures.sweep_effects import ratio_rows

    first, *others = subjects.letters
    ends = {"ratio": "ratio", "ratio_low": "low", "ratio_high": "high"}
    marks = [
        found[["text", *(f"{name} {letter}" for name in ends)]].set_axis(["text", *ends.values()], axis=1)
        for letter in others
    ]
    ratios = pd.concat([part.assign(series=letter) for letter, part in zip(others, marks, strict=True)])
    caption = "↑ more is better, ↓ less is better. Caps: intervals, where there are repetitions."
    if len(found) == _MOST_RATIOS:
        caption += f" The first {_MOST_RATIOS}; the others are in the tables."
    label = f"as a multiple of {first}'s (1× = the same)"
    known = ratios.dropna(subset=["ratio"])
    said = [
        f"{text.split('  ')[0]}: {each} {three_digits(ratio)} times {first}" for text, each, ratio in _plain_rows(known)
    ]
    yield FigureBlock(ratio_rows(known, label, _legend_labels(subjects)), caption, says="; ".join(said))


def _plain_rows(ratios: pd.DataFrame) -> Iterable[tuple[str, str, float]]:
    """Returns the name, the subject's letter and the ratio of each row."""
    return zip(ratios["text"], ratios["series"], ratios["ratio"], strict=True)


def _rates(subjects: Subjects) -> pd.DataFrame:
    """Returns the rows of `aligned` for the first two of _RATES that exist."""
    rows = aligned(subjects)
    keys = list(zip(rows["group"], rows["name"], strict=True)) if len(rows) else []
    wanted = [key for key in _RATES if key in keys][:_MOST_RATES]
    return rows[[key in wanted for key in keys]] if wanted else rows.head(0)


def _rate_figures(subjects: Subjects, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure for each rate in `found`, with a bar for each subject, and its storage's bound if known."""

    from iolens.figures.sweep_effects import grouped_bars

    measured = [numbers(subject) for subject in subjects.all]
    limits = subject_bounds(subjects, subjects.device_rate)
    levels = [NamedLevel(text, place) for place, text in enumerate(_legend_labels(subjects).values())]
    for row in found.to_dict("records"):
        key = (row["group"], row["name"], row["unit"], row["better"])
        name = f"{row['name']} bandwidth" if row["group"] == "Bandwidth" else f"{row['group']} {row['name']}"
        shown = limits if row["name"] != "read" else {}
        values = [
            [row[f"{end} {each}"] for end in ("value", "low", "high")] + [shown.get(each)] for each in subjects.letters
        ]
        points = pd.DataFrame(values, columns=["value", "low", "high", "bound"], dtype=float)
        points = points.assign(label=levels, subject=levels, rate=name, lost=0, left_out="")
        runs = [(place, True, one) for place, each in enumerate(measured) for one in each.get(key, ())]
        singles = pd.DataFrame(runs, columns=["point", "usable", "value"])
        caption = "Typical value, interval, single measurements (dots)."
        if shown:
            by = "that was given for the device" if subjects.device_rate else "that the storage's model sets"
            caption += f" Black line: the bound {by}."
        else:
            caption += " No bound is known: there is neither a model of the storage nor --device-rate."
        columns = ("value", "low", "high", "value")
        figure = grouped_bars(points, singles, ("rate", "subject"), columns, "MiB/s", None)
        pairs = ((each, row[f"value {each}"]) for each in subjects.letters if not is_nan(row[f"value {each}"]))
        yield FigureBlock(figure, caption, says=finding.extremes(pairs, lambda value: f"{three_digits(value)} MiB/s"))


def _operation_time_figure(subjects: Subjects, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure with the time of an average process by operation."""
    from iolens.figures.subject_panels import time_bars

    caption = (
        "The time of a layer contains the time of the layers below it. Bars are means over the logs of a subject; "
        "lines show their range."
    )
    names = found["module"] + " of " + found["letter"]
    says = finding.largest(zip(names, found[["read", "write", "meta"]].sum(axis=1), strict=True), words.duration, 6)
    yield FigureBlock(time_bars(found), caption, says=says)


def subject_activity_figure(subjects: Subjects) -> list[FigureBlock]:
    """Returns the maps over time, on one scale."""
    from iolens.figures.subject_panels import heatmaps

    layer, found = subject_shapes.activities(subjects)
    if len(found) < 2:
        return []
    caption = (
        f"{layer}, reads and writes together: bytes a second of one rank. All maps have the same colours and the same "
        "axis of time; grey lies after the end of a run. The first log of each subject."
    )
    fastest = ((each.letter, float(each.rates.max())) for each in found)
    says = (
        f"{layer} over time, highest rate of a rank: {finding.largest(fastest, lambda rate: words.size(rate) + '/s')}"
    )
    return [FigureBlock(heatmaps(found), caption, says=says)]


def _access_size_figure(subjects: Subjects, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields one figure with the histograms of access sizes of all subjects."""
    from iolens.figures.subject_panels import size_histograms

    caption = "Accesses of all ranks by size in bytes (K = 1024); the mean over the logs of a subject."
    names = found["layer"] + " " + found["kind"] + " of " + found["letter"] + ", " + found["bucket"].astype(str)
    says = finding.largest(zip(names, found["count"], strict=True), finding.count_text, 6)
    yield FigureBlock(size_histograms(found, _names_by_letter(subjects)), caption, says=says)


RATIOS: Exhibit[Subjects] = Exhibit("ratios", "What differs", _leading, draw=_ratio_figure)

BARS: Exhibit[Subjects] = Exhibit("rates", "Rates", _rates, draw=_rate_figures)

TIMES: Exhibit[Subjects] = Exhibit(
    "times", "I/O time by operation", subject_shapes.operation_seconds, draw=_operation_time_figure
)

SIZES: Exhibit[Subjects] = Exhibit("sizes", "Access sizes", subject_shapes.sizes, draw=_access_size_figure)
