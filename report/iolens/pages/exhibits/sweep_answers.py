"""Answers of a sweep beside its points: builds with the same result, scaling, the search, and predicted settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from iolens.lab.predict.what_if import WhatIf, smallest_of_fastest
from iolens.lab.tune.trail import Trail
from iolens.lazy import pd
from iolens.metrics.comparison import scaling
from iolens.metrics.comparison.results import Comparison
from iolens.metrics.comparison.settings import describe, level_text, name_text, three_digits
from iolens.metrics.statistics.intervals import CONFIDENCE, RATIO, claim
from iolens.metrics.subjects.subject import Subjects
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.exhibit import Column, Exhibit
from iolens.pages.base.words import difference, interval

_MADE = ("build.compiler", "build.version", "build.flags")


def build_answers(comparison: Comparison) -> pd.DataFrame | None:
    """Returns a row for each setting of a sweep that builds its program in several ways: `label`, the compiler and
    flags of the program, `difference` (the greatest relative difference between its runs' answers and the
    baseline's) and `answer` in words.
    """
    runs = comparison.runs
    if "answer.said" not in runs or runs["answer.said"].isna().all():
        return None
    rows: list[dict[str, Any]] = []
    for index, point in comparison.points.iterrows():
        own = runs[runs["point"] == index]
        told = own[own["answer.difference"].notna()]
        worst = told["answer.difference"].astype(float).idxmax() if len(told) else own.index[0]
        rows.append(
            {
                "label": point["label"],
                **{name.partition(".")[2]: _build_values(own, name) for name in _MADE},
                "runs": len(own),
                "difference": own.loc[worst, "answer.difference"],
                "answer": own.loc[worst, "answer.said"],
            }
        )
    return pd.DataFrame(rows).astype({"difference": float})


def _build_values(runs: pd.DataFrame, column: str) -> str:
    """Returns the values of a column that describe how the program of these runs was built."""
    values = runs[column].dropna() if column in runs else []
    return "; ".join(dict.fromkeys(map(str, values))) or "n/a"


ANSWERS: Exhibit[Comparison] = Exhibit(
    name="answers",
    title="Builds and their answers",
    metric=build_answers,
    columns=[
        Column("setting", "label"),
        Column(
            "compiler", ("compiler", "version"), lambda compiler, version: compiler if version == "n/a" else version
        ),
        Column("flags", "flags"),
        Column("runs", "runs"),
        Column("greatest difference", "difference", difference),
        Column("answer", "answer"),
    ],
    note="The answer that the program printed in each run, compared with the answer of the baseline build at "
    "otherwise equal settings. Two answers are the same if no number differs from the baseline's, relative to "
    "it, by more than the tolerance of the program's own verification.",
)


S = TypeVar("S")


def _efficiency(value: float, low: float, high: float) -> str:
    """Returns an efficiency in per cent with its interval; the base is 100 % by definition."""
    return f"{100 * value:.1f} %{interval(100 * low, 100 * high)}"


def _efficiency_figure(_: object, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of efficiency over workers."""
    from iolens.figures.sweep_curves import efficiency_lines

    caption = (
        "Efficiency against the fewest workers of each line; caps are intervals. The distance to 100 % is what is lost."
    )
    names = (f"{rest + ', ' if rest else ''}{workers:,} workers" for rest, workers in found[["rest", "workers"]].values)
    says = columns.extremes(zip(names, found["efficiency"], strict=True), words.share)
    yield FigureBlock(efficiency_lines(found), caption, says=says)


def _exhibit(metric: Callable[[S], pd.DataFrame | None]) -> Exhibit[S]:
    """Returns the exhibit with the table and the figure of a metric."""
    return Exhibit(
        name="scaling",
        title="Speed-up and efficiency",
        metric=metric,
        columns=[
            Column("other settings", "rest", optional=True),
            Column("processes or nodes", "workers", words.count),
            Column("runs", "runs", words.count),
            Column("seconds", "seconds", words.seconds),
            Column("scaling", "kind"),
            Column("speed-up", "speedup", lambda value: f"{value:.2f}×"),
            Column("efficiency", ("efficiency", "low", "high"), _efficiency),
        ],
        note="Base: the point with the fewest workers, with its seconds. Strong: all points do the same work, "
        "speed-up is the ratio "
        "of times. Weak: each worker does the same, speed-up is the ratio of rates (bytes over time). Efficiency: "
        f"speed-up divided by the ratio of workers. Ratios: {claim(RATIO, CONFIDENCE, together=True)}.",
        draw=_efficiency_figure,
    )


SCALING: Exhibit[Comparison] = _exhibit(scaling.of_comparison)

SUBJECT_SCALING: Exhibit[Subjects] = _exhibit(scaling.of_subjects)


_FAR = 5.0
"""An interval is printed with its lower end alone if its upper end is more than this multiple of the lower one."""


def _steps(trail: Trail) -> pd.DataFrame:
    """Returns one row per run of the search: its number, setting, the reason for its choice, the expected value with
    two standard deviations to either side, the measured value, and the best until then, in the trail's unit.
    """
    rows: list[dict[str, Any]] = []
    best = math.nan
    for place, step in enumerate(trail.steps, start=1):
        value = math.nan if step.bandwidth is None else step.bandwidth
        best = value if math.isnan(best) or trail.measure.better(value, best) else best
        expected = {name: math.nan if (x := getattr(step, name)) is None else x for name in ("expected", "low", "high")}
        rows.append(
            {
                "number": place,
                "setting": describe(step.point),
                "why": step.why,
                "unit": trail.measure.unit,
                **expected,
                "bandwidth": value,
                "best": best,
                "reason": step.reason or "",
                "seconds": step.seconds,
            }
        )
    return pd.DataFrame(rows)


def _machine(trail: Trail) -> pd.DataFrame:
    """Returns the fitted parameters of the machine: the median and the 95 % range of the values that fit the runs."""
    rows = [(one.name, one.unit, one.value, one.low, one.high) for one in trail.machine]
    return pd.DataFrame(rows, columns=["trait", "unit", "value", "low", "high"])


def _search_figure(trail: Trail, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a plot of the result of each run beside its expectation."""
    from iolens.figures.sweep_curves import search_path

    caption = (
        "Each run of the search (dot; hollow: the default and the rule of thumb), the value that the model expected "
        "(bar: two standard deviations to either side), and the best so far (line). A failed run has no dot."
    )
    known, measure = found.dropna(subset=["bandwidth"]), trail.measure
    names = (f"run {number}, {setting}" for number, setting in zip(known["number"], known["setting"], strict=True))
    values = zip(names, known["bandwidth"], strict=True)
    says = columns.extremes(values, lambda value: f"{three_digits(value)} {measure.unit}")
    yield FigureBlock(search_path(found, measure.axis), caption, says=says)


def _expected(value: float, low: float, high: float) -> str:
    """Formats an expected result with its interval: '14.2 [9.8, 20.3]', or n/a before the first run."""
    return words.NONE if math.isnan(value) else f"{three_digits(value)}{interval(low, high)}"


def _run_result(value: float, reason: str) -> str:
    """Returns the result of a run, or the reason why it cannot be compared."""
    return reason if math.isnan(value) else three_digits(value)


def fitted(value: float, low: float, high: float, unit: str) -> str:
    """Returns a fitted parameter with its interval, or only with the bound that the runs determine."""
    if unit == "%":
        return f"at most {three_digits(high)} {unit}"
    if high > _FAR * low:
        return f"at least {three_digits(low)} {unit}"
    return f"{three_digits(value)}{interval(low, high)} {unit}"


STEPS: Exhibit[Trail] = Exhibit(
    name="search",
    title="The search, run by run",
    metric=_steps,
    columns=[
        Column("run", "number"),
        Column("setting", "setting"),
        Column("chosen by", "why"),
        Column("unit", "unit"),
        Column("expected", ("expected", "low", "high"), _expected),
        Column("measured", ("bandwidth", "reason"), _run_result),
        Column("best so far", "best", lambda value: words.NONE if math.isnan(value) else three_digits(value)),
    ],
    note="Expected: prediction of the model of the machine, fitted to the earlier runs, with two standard deviations "
    "to either side.",
    draw=_search_figure,
)

MACHINE: Exhibit[Trail] = Exhibit(
    name="machine",
    title="Model of the machine, fitted to these runs",
    metric=_machine,
    columns=[Column("", "trait"), Column("fitted", ("value", "low", "high", "unit"), fitted)],
    note="Median over the machines that fit the runs, and the range with 95 % of their weight; only one end of the "
    "range if the runs did not determine the other. All values come from the runs, none from the storage itself.",
)


_RECORDED = "as recorded"


def predicted_points(found: WhatIf) -> pd.DataFrame:
    """Returns a row for each setting: settings (words), io and run (predicted seconds), least and most (I/O time by the
    order of the ranks), change (of the I/O time against the replay at the recorded settings, a share). The first row is
    that replay.
    """
    times = [(_RECORDED, found.replayed), *((_settings_text(settings), each) for settings, each in found.points)]
    frame = pd.DataFrame([{"settings": name, **asdict(each)} for name, each in times])
    return frame.assign(change=frame["io"] / found.replayed.io - 1 if found.replayed.io > 0 else 0.0)


def _settings_text(settings: Mapping[str, int | str]) -> str:
    """Returns changed settings in words."""
    return ", ".join(f"{name_text(name)} {level_text(name, value)}" for name, value in settings.items())


def _by_order(least: float, most: float) -> str:
    """Returns in words how much the result depends on which rank comes first; empty if it does not."""
    return f"{three_digits(least)} to {three_digits(most)}" if most > least else ""


def _error_text(found: WhatIf) -> str:
    """Returns the known error of the predictions in words."""
    text = f"{found.doubt} " if found.doubt else ""
    text += (
        f"Predicted, not measured, from the traced run {found.log}. At the recorded settings, the replay misses the "
        f"measured I/O time of {three_digits(found.recorded.io)} s by {100 * found.own_error:+.1f} %. "
    )
    if found.model_errors:
        text += (
            f"The model was fitted to this storage and missed the runs of its calibration by "
            f"{100 * found.model_errors[0]:.1f} % at the median, {100 * found.model_errors[1]:.1f} % at most. "
        )
    else:
        text += (
            f"The model's parameters are those of {Path(found.model).name}; how well they fit this storage is unknown. "
        )
    text += (
        "I/O time: of the slowest rank, closes included. By order of ranks: its smallest and largest value, which "
        "differ by the rank that is served first when several arrive together. "
    )
    if found.exchange:
        text += (
            f"Exchange between ranks and aggregators is assumed to run at {found.exchange / 1e6:.0f} MB/s, as "
            "recorded. "
        )
    return text + _best_text(found) + " ".join(found.remarks)


def _best_text(found: WhatIf) -> str:
    """Returns a sentence that names the setting to choose and the machines for which it holds; an empty text if the
    machine was not varied.
    """
    best = smallest_of_fastest(found)
    if found.links is None or best is None:
        return ""
    tied = len(found.links.fastest)
    among = f", the smallest of {tied} that are hardly slower" if tied > 1 else ""
    return f"Best: {_settings_text(found.points[best][0])}{among}. {_empty_text(found, best)}{found.links.words(best)} "


def _empty_text(found: WhatIf, place: int) -> str:
    """Returns a sentence that some stripes of a point stay empty and how many stripes to request; empty if the largest
    file fills them.
    """
    filled = found.filled[place] if place < len(found.filled) else None
    return f"The largest file fills only {filled} of these stripes, so request {filled}. " if filled else ""


def _strip(found: WhatIf, frame: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of predicted times as hatched bars, and the measured one as a line."""
    from iolens.figures.sweep_curves import what_if_strip

    yield FigureBlock(
        what_if_strip(frame, found.recorded.io, abs(found.own_error)),
        "I/O time predicted at other settings (hatched), with the error of the replay at the recorded ones.",
        says=columns.extremes(zip(frame["settings"], frame["io"], strict=True), words.duration),
    )


WHAT_IF: Exhibit[WhatIf] = Exhibit(
    name="what_if",
    title="What if: predicted, not measured",
    metric=predicted_points,
    columns=[
        Column("settings", "settings"),
        Column("predicted I/O s", "io", three_digits),
        Column("by order of ranks", ("least", "most"), _by_order),
        Column("change", "change", lambda share: f"{100 * share:+.1f} %"),
        Column("predicted run s", "run", three_digits),
    ],
    note=_error_text,
    draw=_strip,
)
