"""The memory of each rank by NUMA node."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import ordered
from iolens.metrics.once import once_per_job


@once_per_job
def memory_nodes(job: Job) -> Records | None:
    """Returns the resident memory of each rank on each NUMA node: rank (-1: other ranks together), memory_node (-1:
    any), high_bytes (the most at any look), bytes (when recording ended), share (per cent of the rank's bytes).

    Returns None if the log has no such rows, as on a machine with a single node.
    """
    rows = job.tables.get("memory_nodes")
    if rows is None or not len(rows):
        return None
    ranks, of_rank = np.unique(rows["rank"], return_inverse=True)
    whole = np.bincount(of_rank, rows["bytes"], len(ranks))[of_rank]
    share = 100 * rows["bytes"] / np.where(whole > 0, whole, np.nan)
    return ordered(rows.beside({"share": share}), "rank", "memory_node")
