"""The bytes that pairs of ranks exchanged, the distance between these ranks, and whether they share a node."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import Groups, ordered, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask, kept
from iolens.metrics.processor.sampled.private import table_records

_PAIR = ("rank", "peer", "messages", "bytes", "on_node")

_CELLS = 128
"""Maximum number of rows and of columns of the picture; if there are more ranks, they are drawn in groups."""


@once_per_job
def mpi_peers(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns pairs of ranks, those with most bytes first:

    `rank` sent `messages` with `bytes` to `peer`; `on_node`: both are on the same node. Messages are point-to-point and
    one-sided, ranks are world ranks; bytes that `peer` fetched from a window of `rank` count as sent by `rank`. `share`
    in per cent of all bytes. The rank -1 stands for all ranks without rows of their own. Pairs with less than the
    threshold are left out. None if nothing was sent.
    """
    rows = sent(job)
    if rows is None:
        return None
    rows = kept(rows, ask.where)
    share = _shares(rows["bytes"])
    every = rows.beside({"share": np.zeros(len(rows)) if np.isnan(share).all() else share})
    found = every.where(~(share < ask.threshold))
    found = ordered(found, "-bytes", "rank", "peer")
    found.left_out = len(every) - len(found)
    return found


def _shares(moved: np.ndarray) -> np.ndarray:
    """Returns each value as per cent of the sum; NaN if the sum is 0."""
    return np.asarray(100.0 * moved / (moved.sum() or np.nan))


@once_per_job
def sent(job: Job) -> Records | None:
    """Returns one row per pair of ranks of the job that exchanged messages: the number of `messages` and `bytes` that
    went from `rank` to `peer`. In logs that distinguish the two, they include the bytes that `peer` fetched from
    `rank`.
    """
    rows = table_records(job, "mpi_peers")
    if rows is None:
        return None
    rows = rows.where(np.maximum(rows["rank"], rows["peer"]) < job.nprocs)
    both = [rows.take(*_PAIR)] + ([_fetched(rows)] if "got_messages" in rows else [])
    moved = stacked([part.where(part["messages"] > 0) for part in both])
    if not len(moved):
        return None
    same = Groups(*(moved[name] for name in ("rank", "peer", "on_node")))
    sums = {name: same.sum(moved[name]) for name in ("messages", "bytes")}
    return moved.where(same.first).beside(sums)


def _fetched(rows: Records) -> Records:
    """Returns the bytes that ranks fetched from windows, as rows of the rank that owns the window."""
    seen = {"rank": rows["peer"], "peer": rows["rank"], "messages": rows["got_messages"], "bytes": rows["got_bytes"]}
    return Records(seen | {"on_node": rows["on_node"]})


@once_per_job
def mpi_distance(job: Job) -> Records | None:
    """Returns messages by the distance of the ranks:

    `distance` = |peer - rank|; it is 0 for messages to itself, and the last rank is not next to the first. `bytes` and
    `messages` are sums over all ranks, `share` is in per cent of the bytes; rows are sorted by distance. Pairs of which
    the log has only the sum are left out.
    """
    rows = sent(job)
    if rows is None:
        return None
    pairs = rows.where((rows["peer"] >= 0) & (rows["rank"] >= 0))
    return ordered(_added_by(pairs, "distance", np.abs(pairs["peer"] - pairs["rank"])), "distance")


@once_per_job
def mpi_nodes(job: Job) -> Records | None:
    """Returns messages within a node and between nodes: `where`, `messages`, `bytes`, `share` (per cent of the
    bytes).
    """
    rows = sent(job)
    if rows is None:
        return None
    where = np.where(
        np.minimum(rows["rank"], rows["peer"]) < 0,
        "not known",
        np.where(rows["on_node"] > 0, "within a node", "between nodes"),
    )
    return ordered(_added_by(rows, "where", where.astype(object)), "-bytes", "where")


def _added_by(rows: Records, name: str, values: np.ndarray) -> Records:
    """Returns messages and bytes of rows with equal `values` (the column `name`), and their `share` of all bytes, per
    cent.
    """
    same = Groups(values)
    messages, moved = same.sum(rows["messages"]), same.sum(rows["bytes"])
    return Records({name: values[same.first], "messages": messages, "bytes": moved, "share": _shares(moved)})


@once_per_job
def peer_matrix(job: Job) -> tuple[np.ndarray, int]:
    """Returns bytes by sender (row) and receiver (column), and how many ranks a row or column stands for."""
    rows = sent(job)
    size = max(1, job.nprocs)
    group = -(-size // _CELLS)
    cells = -(-size // group)
    matrix = np.zeros((cells, cells))
    if rows is not None:
        pairs = rows.where((rows["peer"] >= 0) & (rows["rank"] >= 0))
        np.add.at(matrix, (pairs["rank"] // group, pairs["peer"] // group), pairs["bytes"])
    return matrix, group
