"""All functions that were timed call by call, in rows of single ranks."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import labelled, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.io.ranks import rank_io
from iolens.metrics.processor.mpi.calls import mpi_rows
from iolens.metrics.processor.regions import with_regions
from iolens.metrics.processor.sampled.groups import MPI, USER
from iolens.metrics.processor.sampled.private import table_records
from iolens.metrics.processor.traced.names import OWN, with_function_names

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
