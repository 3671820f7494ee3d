"""Speed-up and efficiency, if a comparison has several numbers of processes or nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from iolens.lazy import pd
from iolens.metrics.comparison import scaling
from iolens.metrics.comparison.results import Comparison
from iolens.metrics.statistics.intervals import CONFIDENCE, RATIO, claim
from iolens.metrics.subjects.subject import Subjects
from iolens.pages import words
from iolens.pages.blocks import FigureBlock
from iolens.pages.comparison.numbers import interval
from iolens.pages.exhibit import Column, Exhibit
from iolens.pages.exhibits import finding

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
    says = finding.extremes(zip(names, found["efficiency"], strict=True), words.share)
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
