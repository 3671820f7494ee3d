"""Runs of the best setting and of the baseline that were made after the best was selected, so that luck in the
selection does not affect them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iolens.lazy import pd
from iolens.metrics.comparison.effects import Point
from iolens.metrics.comparison.measure import Measure
from iolens.metrics.comparison.points import measured, point_row
from iolens.metrics.statistics.intervals import Ratio, Typical, family
from iolens.metrics.statistics.paired import design
from iolens.metrics.statistics.run_blocks import run_blocks


@dataclass(frozen=True)
class Fresh:
    """Typical values of the best and the baseline, and the ratio of their rates. The interval needs no correction,
    because this is one comparison without a choice.

    `ratio` is None when the runs cannot be used; `problem` says why. `runs` has all confirming runs, used or not.
    """

    runs: pd.DataFrame
    best: Typical | None
    base: Typical | None
    ratio: Ratio | None
    problem: str


def fresh_runs(runs: pd.DataFrame, names: Sequence[str], best: Point, base: Point, measure: Measure) -> Fresh | None:
    """Returns the result of the confirming runs of these two points; None if either has none."""
    groups = [
        runs[[key == point for key in runs[list(names)].itertuples(index=False, name=None)]] for point in (best, base)
    ]
    if any(group.empty for group in groups):
        return None
    rows = [
        point_row(names, point, group, len(group), measure) for point, group in zip((best, base), groups, strict=True)
    ]
    problems = [f"{row['label']}: {row['left_out']}" for row in rows if row["left_out"]]
    if problems:
        return Fresh(pd.concat(groups), None, None, None, "; ".join(problems))
    values = [measured(group, measure.column) for group in groups]
    used = [group[group["usable"].astype(bool) & group[measure.column].notna()] for group in groups]
    both, rates = family(values), design([measure.rates(each) for each in values], run_blocks(used))
    return Fresh(pd.concat(groups), both.typical(0), both.typical(1), rates.contrast([(1, 0), (-1, 1)]), "")
