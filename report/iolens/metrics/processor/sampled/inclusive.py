"""Traced functions whose times include inner calls. A table lists them below the times that do not overlap, and adds
them to no sum.
"""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import Ask, check_levels, kept, matching_ranks
from iolens.metrics.processor.imbalance import NOT_KNOWN
from iolens.metrics.processor.regions import with_regions
from iolens.metrics.processor.sampled.drill import Levels, Measures, drill
from iolens.metrics.processor.traced.functions import (
    COLUMNS,
    EXCLUSIVE,
    EXCLUSIVE_LEAVES,
    LEAVES,
    group_rows,
    in_capitals,
)
from iolens.metrics.processor.traced.names import with_function_names

INSIDE = "Times that include called functions, and are in no sum"


@once_per_job
def inclusive_rows(job: Job) -> Records | None:
    """Returns the columns of `timed_rows` for the program's own functions and for traced groups other than LEAVES
    (EXCLUSIVE_LEAVES, if the log has exclusive times).
    """
    rows = group_rows(job)
    if rows is None:
        return None
    leaves = EXCLUSIVE_LEAVES if EXCLUSIVE in rows else LEAVES
    if not len(rows := rows.where(~np.isin(rows["group"], leaves))):
        return None
    return in_capitals(with_regions(job, with_function_names(job, rows))).take(*COLUMNS)


def with_inclusive(
    job: Job, found: Records | None, levels: Levels, measures: Measures, ask: Ask, whole: float
) -> Records | None:
    """Returns the rows of `drill`, followed by a second row of depth 0 and those of `inclusive_rows`, if functions are
    a level.

    The added rows give shares of `whole` seconds of an average rank, and no sums (NaN) for groups. With a filter, the
    remaining rows are shown however small they are.
    """
    rows, by = inclusive_rows(job), ask.by or levels.default
    check_levels(ask.by, levels.known)
    if rows is None or "function" not in by:
        return found
    ranks, alone = matching_ranks(ask.where, max(job.nprocs, 1)), found is None or not len(found)
    threshold = 0.0 if ask.where and alone else ask.threshold
    below = drill(kept(rows, ask.where), by, measures, ranks, threshold, whole)
    inside = _without_sums(below, measures, 1 + by.index("function"))
    if len(inside) < 2:
        return found
    if found is None:
        return inside
    both = stacked([found, inside]) if len(found) else inside
    both.left_out = found.left_out + below.left_out
    return both


def _without_sums(below: Records, measures: Measures, depth: int) -> Records:
    """Removes the numbers of all rows above functions (`depth` is the level of functions), because inclusive times do
    not add up. Such rows keep their names; those with no function below them are left out.
    """
    followed = np.append(below["depth"][1:], 0) > below["depth"]
    below, left_out = below.where(followed | (below["depth"] >= depth)), below.left_out
    sums = below["depth"] < depth
    numbers = (*measures.sums, "share", "imbalance", "imbalance_percent", "most", "most_rank")
    unknown = {name: np.where(sums, NOT_KNOWN, below[name]) for name in numbers}
    inside = below.beside({**unknown, "name": np.where(below["depth"] == 0, INSIDE, below["name"])})
    inside.left_out = left_out
    return inside
