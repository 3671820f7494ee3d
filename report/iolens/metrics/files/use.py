"""The use of each file: the counters of all its records together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from iolens.log import Job
from iolens.log.format.counters import BUCKETS
from iolens.log.records import LazyRows, Records, numbered
from iolens.metrics.job.interfaces.layers import LAYERS
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


_LARGEST = ("MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "FILE_ALIGNMENT")
"""Counters whose largest value is kept. All other counters are added up, except the times of single ranks and the
timestamps.
"""

_LIMITS = (100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30, float("inf"))
"""Largest access size, in bytes, that belongs to each range of sizes."""

_PAIRS = 1000
"""Maximum number of comparisons for which it is faster to look ids up in a set than to use numpy's search."""


@dataclass(frozen=True, eq=False)
class FileRecords:
    """The files of a layer, in ascending order of their ids (`id`). `order` has the numbers of all records, sorted by
    file; `first` the position in it of each file's first record; `file` the position in `id` of each record's file.
    """

    id: np.ndarray
    order: np.ndarray
    first: np.ndarray
    file: np.ndarray


@once_per_job
def file_records(job: Job, name: str) -> FileRecords:
    """Returns which records of a layer belong to which file."""
    ids = job.records[name]["id"]
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    new = np.ones(len(ids), bool)
    new[1:] = ids[1:] != ids[:-1]
    file = np.empty(len(ids), np.intp)
    file[order] = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    return FileRecords(ids[first], order, first, file)


@once_per_job
def by_file(job: Job, name: str) -> Records | None:
    """Returns one row per file of a layer, by `id`: its counters without their prefix, and `ranks`, the number of
    ranks that used it.

    All values are floats, so that no sum overflows. A counter that was not recorded (-1) counts as 0. None if the log
    lacks the layer.
    """
    records, prefix = job.records.get(name), f"{LAYERS[name].prefix}_"
    if records is None or not len(records):
        return None
    files = file_records(job, name)
    columns = [column for column in records.names if column.startswith(prefix)]

    def summed(place: int) -> np.ndarray:
        column = records[columns[place]]
        if column.strides == (0,) and len(files.first) == len(column):
            return np.broadcast_to(max(float(column[0]), 0.0), len(column))
        each = np.maximum(column[files.order], 0.0, dtype=float)
        add = np.maximum if columns[place].removeprefix(prefix) in _LARGEST else np.add
        return np.asarray(add.reduceat(each, files.first)) if len(files.first) < len(each) else each

    ranks = np.where(records["rank"][files.order] < 0, max(job.nprocs, 1), 1)
    used = np.minimum(np.add.reduceat(ranks, files.first), max(job.nprocs, 1)).astype(float)
    return Records({"id": files.id, "ranks": used}, [(_column_places(prefix, tuple(columns)), LazyRows(summed))])


@cache
def _column_places(prefix: str, columns: tuple[str, ...]) -> Mapping[str, int]:
    """Returns the position of each column, by its name without the prefix."""
    return numbered(name.removeprefix(prefix) for name in columns)


def small_calls(table: Records, kind: str, most: float) -> np.ndarray:
    """Returns, for each file of `by_file`, the number of reads or writes (`kind` READ or WRITE) of at most `most`
    bytes. Only ranges of sizes that end at or below `most` count.
    """
    infix = "AGG_" if "SIZE_READ_AGG_0_100" in table else ""
    small = [f"SIZE_{kind}_{infix}{bucket}" for bucket, limit in zip(BUCKETS, _LIMITS, strict=True) if limit <= most]
    return np.asarray(sum(table[column] for column in small) + np.zeros(len(table)))


@once_per_job
def under_mpiio(job: Job) -> tuple[Records, Records] | None:
    """Returns `by_file` of MPI-IO and of POSIX for the files that both layers know, with the same files in each row;
    None without files known to both.
    """
    upper, lower = by_file(job, "MPI-IO"), by_file(job, "POSIX")
    if upper is None or lower is None:
        return None
    common = among(upper["id"], lower["id"])
    return (upper.where(common), lower.where(among(lower["id"], upper["id"]))) if common.any() else None


def collective_calls(table: Records) -> np.ndarray:
    """Returns the number of collective reads and writes of each file of `by_file` of MPI-IO."""
    return np.asarray(sum(table[name] for name in ("COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES")))


@once_per_job
def without_mpiio(job: Job, name: str) -> Records | None:
    """Returns `by_file` of POSIX or STDIO for the files that MPI-IO does not know; None without such files."""
    table = by_file(job, name)
    if table is None or "MPI-IO" not in job.records:
        return table
    alone = unknown_to_mpiio(job, name)
    return table.where(alone) if alone.any() else None


@once_per_job
def unknown_to_mpiio(job: Job, name: str) -> np.ndarray:
    """Returns a mask of the files of `by_file` that MPI-IO does not know."""
    upper = job.records.get("MPI-IO")
    return ~among(file_records(job, name).id, [] if upper is None else upper["id"])


def joined_files(table: Records, other: Records) -> Records:
    """Returns the rows of `by_file` whose files another table has too, with the columns of both tables."""
    other = other.where(np.argsort(other["id"]))
    row = id_rows(table["id"], other["id"])
    both = row < len(other)
    return table.where(both).beside({name: other[name][row[both]] for name in other.names if name != "id"})


def among(ids: np.ndarray, known: Collection[int] | np.ndarray) -> np.ndarray:
    """Returns whether each id is among the known ids."""
    if not len(known):
        return np.zeros(len(ids), bool)
    if len(ids) * len(known) <= _PAIRS and (not isinstance(known, np.ndarray) or known.dtype == ids.dtype):
        several = set(known.tolist() if isinstance(known, np.ndarray) else known)
        return np.array([each in several for each in ids.tolist()], bool)
    return np.asarray(np.isin(ids, np.asarray(known if isinstance(known, np.ndarray) else [*known], ids.dtype)))


def id_rows(ids: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Returns the row of each id in the sorted known ids; for an id that is not known, the number of known ids."""
    known = np.asarray(known, ids.dtype)
    row = np.searchsorted(known, ids)
    there = np.zeros(len(ids), bool)
    inside = row < len(known)
    there[inside] = known[row[inside]] == ids[inside]
    return np.where(there, row, len(known))


def most_first(values: np.ndarray, chosen: np.ndarray | None = None) -> np.ndarray:
    """Returns the row numbers of the chosen values (or of all values), largest value first."""
    rows = np.arange(len(values)) if chosen is None else np.flatnonzero(chosen)
    return rows[::-1][np.argsort(values[rows][::-1])][::-1]
