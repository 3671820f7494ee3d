"""The search of a tuned experiment: its steps, and the machine that its runs describe."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from iolens.lab.tune.trail import Trail
from iolens.lazy import pd
from iolens.metrics.comparison.settings import describe, three_digits
from iolens.pages import words
from iolens.pages.blocks import FigureBlock
from iolens.pages.comparison.numbers import interval
from iolens.pages.exhibit import Column, Exhibit
from iolens.pages.exhibits import finding

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
    says = finding.extremes(values, lambda value: f"{three_digits(value)} {measure.unit}")
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
