"""Who sent how much to whom: pairs of ranks, how far apart they are, and whether they share a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, LEFT_OUT, Ask, kept
from iolens.metrics.processor.private import table

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

CELLS = 128
"""Rows and columns of the picture, at most: more ranks are drawn in groups."""


@once_per_job
def mpi_peers(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """Pairs of ranks, the most bytes first: `rank` sent `messages` with `bytes` to `peer`; `on_node`: they share one.

    Point-to-point and one-sided, in world ranks; `share` in per cent of all bytes. A peer of -1 is all those that the
    log has no row of their own for. Pairs with less than the threshold are left out. None where nothing was sent.
    """
    rows = sent(job)
    if rows is None:
        return None
    rows = kept(rows, ask.where)
    whole = rows["bytes"].sum()
    every = rows.assign(share=100.0 * rows["bytes"] / whole if whole else 0.0)
    found = every[~(every["share"] < ask.threshold)] if whole else every
    found = found.sort_values(["bytes", "rank", "peer"], ascending=[False, True, True], ignore_index=True)
    found.attrs[LEFT_OUT] = len(every) - len(found)
    return found


@once_per_job
def sent(job: Job) -> pd.DataFrame | None:
    """The rows of the private table `mpi_peers` in which something was sent, of ranks that the job has."""
    rows = table(job, "mpi_peers")
    if rows is None:
        return None
    rows = rows[(rows["messages"] > 0) & (rows[["rank", "peer"]].max(axis=1) < job.nprocs)]
    return rows[["rank", "peer", "messages", "bytes", "on_node"]] if len(rows) else None


@once_per_job
def mpi_distance(job: Job) -> pd.DataFrame | None:
    """Messages by the distance of the ranks: `distance` = |peer - rank| (0: to itself), on a line and not on a ring.

    `bytes` and `messages` of all ranks, `share` in per cent of the bytes; by distance. Pairs that the log holds
    together only are left out.
    """
    rows = sent(job)
    if rows is None:
        return None
    pairs = rows[(rows["peer"] >= 0) & (rows["rank"] >= 0)]
    found = (
        pairs.assign(distance=(pairs["peer"] - pairs["rank"]).abs()).groupby("distance")[["messages", "bytes"]].sum()
    )
    found["share"] = 100.0 * found["bytes"] / (found["bytes"].sum() or float("nan"))
    return found.reset_index()


@once_per_job
def mpi_nodes(job: Job) -> pd.DataFrame | None:
    """Messages within a node and between nodes: `where`, `messages`, `bytes`, `share` (per cent of the bytes)."""
    rows = sent(job)
    if rows is None:
        return None
    where = np.where(rows["peer"] < 0, "not known", np.where(rows["on_node"] > 0, "within a node", "between nodes"))
    found = rows.assign(where=where).groupby("where")[["messages", "bytes"]].sum()
    found["share"] = 100.0 * found["bytes"] / (found["bytes"].sum() or float("nan"))
    return found.sort_values("bytes", ascending=False).reset_index()


@once_per_job
def peer_matrix(job: Job) -> tuple[np.ndarray, int]:
    """Bytes by sender (row) and receiver (column), and how many ranks a row or column stands for."""
    rows = sent(job)
    size = max(1, job.nprocs)
    group = -(-size // CELLS)
    cells = -(-size // group)
    matrix = np.zeros((cells, cells))
    if rows is not None:
        pairs = rows[(rows["peer"] >= 0) & (rows["rank"] >= 0)]
        np.add.at(matrix, (pairs["rank"].to_numpy() // group, pairs["peer"].to_numpy() // group), pairs["bytes"])
    return matrix, group
