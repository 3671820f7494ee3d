"""The runs of one point of a sweep: which count, which were lost, and whether the point can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iolens.lazy import pd
from iolens.metrics.comparison.effects import Point
from iolens.metrics.comparison.measure import Measure
from iolens.metrics.comparison.settings import describe


def measured(runs: pd.DataFrame, column: str) -> list[float]:
    """Returns the known values of a column of the usable runs, in the order of the runs; runs without a value are left
    out.
    """
    return [float(v) for v in runs.loc[runs["usable"], column].dropna()]


def point_row(names: Sequence[str], key: Point, runs: pd.DataFrame, most: int, measure: Measure) -> dict[str, Any]:
    """Returns the levels and label of a point, its numbers of runs, and whether it can be compared; `most` is the
    largest number of runs of any point.
    """
    row = dict(zip(names, key, strict=True))
    label, count = describe(row) or "the only point", len(measured(runs, measure.column))
    repeated = sum(len(attempts) for attempts in runs["lost_attempts"])
    tried = len(runs) + repeated
    losses = {"planned": len(runs), "count": count, "lost": tried - count}
    name = f"{label} ({_lost_text(**losses)})" if tried > count else label
    return {
        **row,
        "label": label,
        "name": name,
        **losses,
        "left_out": _why_left_out(runs, most, measure.name, **losses),
    }


def _lost_text(planned: int, count: int, lost: int) -> str:
    """Returns a text on lost runs and their repetition, such as '2 of 3 runs lost' or '1 lost run repeated'."""
    if count < planned:
        return f"{lost} of {lost + count} runs lost"
    return f"{lost} lost {'run' if lost == 1 else 'runs'} repeated"


def _why_left_out(runs: pd.DataFrame, most: int, measured_name: str, planned: int, count: int, lost: int) -> str:
    """Returns the reason why a point cannot be the best or tied with it; empty if it can.

    A run is discarded if it fails, or if the emulated storage was slower than the storage it emulates. The remaining
    runs are then the lucky ones, so a point is not compared if it discarded more runs than it kept, or could not
    replace a discarded run. A single run among repeated ones is not compared either, because the scatter of its setting
    is unknown. A program whose answer differs from the baseline's does other work, however fast it is.
    """
    differing = runs[runs["answer.same"].isin([False])] if "answer.same" in runs else runs.head(0)
    if len(differing):
        return f"its answer {differing.loc[differing['answer.difference'].astype(float).idxmax(), 'answer.said']}"
    reasons = [reason for reason in runs["reason"] if isinstance(reason, str) and reason]
    reasons += [reason for attempts in runs["lost_attempts"] for reason in attempts]
    why = f": {reasons[0]}" if reasons else ""
    if not count:
        return f"no usable run{why or f': no {measured_name} reported' * bool(runs['usable'].any())}"
    ignored = sorted({key for keys in runs.loc[runs["usable"], "ignored"] for key in keys})
    if ignored:
        return f"{', '.join(ignored)} did not take effect"
    if count < planned or lost > count:
        return f"{lost} of {lost + count} runs lost{why}"
    return "only one run, which shows no spread" if count == 1 < most else ""
