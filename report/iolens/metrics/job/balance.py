"""The balance of work among the ranks."""

from __future__ import annotations

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest_of
from iolens.metrics.once import once_per_job


@once_per_job
def heat_bytes(job: Job) -> dict[str, np.ndarray] | None:
    """Returns the bytes `read` and `written` by each rank at the lowest layers, from the heat maps; None without heat
    maps.
    """
    heat = job.records.get("HEATMAP")
    if heat is None:
        return None
    modules = heat["module"]
    lowest = lowest_of(set(modules.tolist()))
    nothing = np.zeros(len(modules), bool)
    chosen = np.any([modules == name for name in lowest], axis=0) & (heat["rank"] >= 0) if lowest else nothing
    ranks = heat["rank"][chosen]
    found = {what: np.zeros(max(job.nprocs, 1), "i8") for what in ("read", "written")}
    for what, moved in found.items():
        np.add.at(moved, ranks, heat[what][chosen])
    return found


@once_per_job
def rank_bytes(job: Job) -> pd.DataFrame | None:
    """Returns `heat_bytes` as a frame with a row for each rank, including ranks that moved nothing; None without heat
    maps.
    """
    found = heat_bytes(job)
    return None if found is None else pd.DataFrame(found, index=pd.RangeIndex(max(job.nprocs, 1), name="rank"))


@once_per_job
def rank_balance(job: Job) -> Records | None:
    """Returns how evenly `heat_bytes` are distributed over the ranks, one row for reads and one for writes.

    Columns: what, least and least_rank, median, most and most_rank (bytes; of ranks with equal bytes, the lowest),
    imbalance (most over mean; 1: even). A row without bytes is left out. Returns None without heat maps or with a
    single process.
    """
    found = heat_bytes(job)
    if found is None or job.nprocs < 2:
        return None
    rows = [
        (what, each.min(), each.argmin(), np.median(each), each.max(), each.argmax(), each.max() / each.mean())
        for what, each in found.items()
        if each.any()
    ]
    return Records.of(["what", "least", "least_rank", "median", "most", "most_rank", "imbalance"], rows)
