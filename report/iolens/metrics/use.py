"""How each file was used: the counters of all its records together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.log.counters import BUCKETS
from iolens.metrics.layers import LAYERS
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

LARGEST = ("MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "FILE_ALIGNMENT")
"""Counters of which the largest is kept; all others are added up, but for times of a rank and timestamps."""

LIMITS = (100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30, float("inf"))
"""The upper limit of each range of access sizes, in bytes; it belongs to the range."""


@once_per_job
def by_file(job: Job, name: str) -> pd.DataFrame | None:
    """One row a file of a layer, by `id`: its counters without their prefix, and `ranks`, how many used it.

    All are floats, which no sum overflows. What was not recorded (-1) counts as 0. None where the log lacks the layer.
    """
    import pandas as pd

    frame, prefix = job.frames.get(name), f"{LAYERS[name].prefix}_"
    if frame is None or frame.empty:
        return None
    columns = [column for column in frame.columns if column.startswith(prefix)]
    names = [column.removeprefix(prefix) for column in columns]
    ids = frame["id"].to_numpy()
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    first = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]])
    # A row a counter, so that all are summed at once and each as if it were alone.
    each = np.take(frame[columns].to_numpy(dtype=float).T, order, axis=1)
    np.maximum(each, 0.0, out=each)
    values = np.add.reduceat(each, first, axis=1)
    largest = [place for place, name in enumerate(names) if name in LARGEST]
    values[largest] = np.maximum.reduceat(each[largest], first, axis=1)
    ranks = np.where(frame["rank"].to_numpy()[order] < 0, max(job.nprocs, 1), 1)
    used = np.minimum(np.add.reduceat(ranks, first), max(job.nprocs, 1)).astype(float)
    table = pd.DataFrame(values.T, index=pd.Index(ids[first], name="id"), columns=names, copy=False)
    table["ranks"] = used
    return table


def small_calls(table: pd.DataFrame, kind: str, most: float) -> np.ndarray:
    """Per file of `by_file`: reads or writes (`kind` READ or WRITE) in ranges of sizes that end at `most` or below."""
    infix = "AGG_" if "SIZE_READ_AGG_0_100" in table else ""
    small = [f"SIZE_{kind}_{infix}{bucket}" for bucket, limit in zip(BUCKETS, LIMITS, strict=True) if limit <= most]
    return np.asarray(sum(table[column].to_numpy() for column in small) + np.zeros(len(table)))


@once_per_job
def under_mpiio(job: Job) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """`by_file` of MPI-IO and of POSIX for the files that both know, row by row the same; None without such files."""
    upper, lower = by_file(job, "MPI-IO"), by_file(job, "POSIX")
    if upper is None or lower is None:
        return None
    common = upper.index.intersection(lower.index)
    return (upper.loc[common], lower.loc[common]) if len(common) else None


@once_per_job
def without_mpiio(job: Job, name: str) -> pd.DataFrame | None:
    """`by_file` of POSIX or STDIO for the files that MPI-IO does not know; None without such files."""
    table, upper = by_file(job, name), job.frames.get("MPI-IO")
    if table is None or upper is None:
        return table
    found = table[~table.index.isin(upper["id"])]
    return found if len(found) else None
