"""All functions that were timed call by call, in rows of single ranks; those whose times include inner calls; and the
ranks that were slow in them.
"""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import labelled, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, NOT_KNOWN, PE, Ask, check_levels, kept, matching_ranks
from iolens.metrics.processor.io.ranks import rank_io
from iolens.metrics.processor.mpi.calls import mpi_rows
from iolens.metrics.processor.regions import with_regions
from iolens.metrics.processor.sampled.call_chains import chains, frame_name, table_records
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer, drill
from iolens.metrics.processor.sampled.groups import MPI, USER

OWN = "functions"
"""The group of the program's own functions."""


def with_function_names(job: Job, rows: Records) -> Records:
    """Adds the name of each function to the rows; rows that stand for several functions get `(others)`."""
    known = chains(job) if (rows["group"] == OWN).any() else {}
    columns = (rows[name].tolist() for name in ("rank", "node", "group", "function"))
    names = [
        frame_name(known[rank, node][-1]) if group == OWN and known.get((rank, node)) else function or "(others)"
        for rank, node, group, function in zip(*columns, strict=True)
    ]
    return rows.beside({"function": np.array(names, object)})


LEAVES = ("blas", "math")
"""Traced groups whose functions call no function that has a row of its own, so that their times do not overlap other
times.
"""

EXCLUSIVE_LEAVES = (*LEAVES, "heap", "pthreads", "system")
"""Traced groups whose exclusive times equal their inclusive ones, except for a rare callback."""

EXCLUSIVE = "exclusive"
"""The column of `traced` with exclusive times; logs of version 0.2.0 and before have none."""

COLUMNS = ["rank", "group", "function", "file", "region", "calls", "time"]


@once_per_job
def timed_rows(job: Job) -> Records | None:
    """Returns rank, group, function, file, region, calls, time (seconds) of times that do not overlap. Returns None if
    nothing was timed.

    Rows are the I/O of the Darshan modules (without regions), MPI without its I/O, and traced functions with their
    exclusive times. A log without exclusive times has only rows of the traced groups in LEAVES. Heap and thread
    functions that a library calls within MPI or I/O count in both. `file` is empty in rows without a file.
    """
    parts = []
    moved, messages, others = rank_io(job), mpi_rows(job), group_rows(job)
    if moved is not None:
        parts.append(labelled(moved, "region", "(not recorded)"))
    if messages is not None:
        parts.append(labelled(labelled(messages, "group", MPI), "file", ""))
    if others is not None:
        parts.append(in_capitals(with_regions(job, with_function_names(job, _exclusive_rows(others)))))
    parts = [part.take(*COLUMNS) for part in parts if len(part)]
    return stacked(parts) if parts else None


def _exclusive_rows(rows: Records) -> Records:
    """Returns the rows of `traced` whose times do not overlap other times, with their exclusive times as `time`."""
    if EXCLUSIVE not in rows:
        return rows.where(np.isin(rows["group"], LEAVES))
    return rows.beside({"time": rows[EXCLUSIVE]})


def in_capitals(rows: Records) -> Records:
    """Returns traced functions with the names that pat_report has for their groups, and without files."""
    names = [USER if name == OWN else name.upper() for name in rows["group"].tolist()]
    return labelled(rows, "file", "").beside({"group": np.array(names, object)})


@once_per_job
def group_rows(job: Job) -> Records | None:
    """Returns the private table `traced`."""
    return table_records(job, "traced")


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


LEVELS = Levels(("group", "function", "file", "region"), ("group", "function", PE))
_MEASURES = Measures("time", ("calls",))


@once_per_job
def load_balance(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the time of calls by group and function, with the ranks that took most, median and least: rows of
    `drill`.

    `time` (seconds) and `calls` come from timed calls that do not overlap: I/O (POSIX, STDIO, MPI-IO beyond POSIX),
    MPI, and exclusive times of traced functions. The inclusive times of traced functions follow below a second row of
    depth 0. They have no share, because they are not part of the total; times below the threshold of the run time are
    left out.
    """
    found = with_inclusive(job, exclusive_balance(job, ask), LEVELS, _MEASURES, ask, job.run_time)
    if found is None:
        return None
    inside = np.cumsum(found["name"] == INSIDE) > 0
    shown = found.beside({"share": np.where(inside, NOT_KNOWN, found["share"])})
    shown.left_out = found.left_out
    return shown


@once_per_job
def exclusive_balance(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns `load_balance` without the functions whose time includes the time of functions that they called."""
    return answer(job, timed_rows(job), LEVELS, _MEASURES, ask)
