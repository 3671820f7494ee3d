"""MPI calls: time, messages and their sizes, by function, call site and rank, and the bytes that pairs of ranks
exchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.format import apmpi
from iolens.log.records import Records, as_records
from iolens.metrics.grouping import Groups, ordered, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask, kept
from iolens.metrics.processor.regions import region_paths, with_regions
from iolens.metrics.processor.sampled.call_chains import table_frame, table_records, with_callers
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer
from iolens.metrics.processor.sampled.groups import mpi_part

if TYPE_CHECKING:
    from collections.abc import Collection


SIZES = tuple(f"size_{number}" for number in range(7))
"""Messages of < 16 B, < 256 B, < 4 KiB, < 64 KiB, < 1 MiB, < 16 MiB, and of 16 MiB or more: pat_report's bins."""

_FETCHING = (
    *("MPI_Get", "MPI_Rget", "MPI_Get_accumulate", "MPI_Rget_accumulate"),
    *("MPI_Fetch_and_op", "MPI_Compare_and_swap"),
)
"""Functions that bring bytes from another rank's window."""

_TIMES = Measures(
    "time", ("calls", "sync_time", "bytes_sent", "bytes_received"), {"min_time": "min", "max_time": "max"}
)
_MESSAGES = Measures("bytes_sent", ("messages", *SIZES))
CALLS = Levels(("function", "region"), ("function",))
SITES = Levels(("function", "caller", "region"), ("function", "caller", PE))


@once_per_job
def mpi_calls(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns time in MPI functions: rows of `drill`.

    `time` in the call and `sync_time` (in the timed barrier before a collective call) in seconds, `calls`,
    `bytes_sent`, `bytes_received`, and `min_time`, `max_time` of a single call.
    """
    return answer(job, mpi_rows(job), CALLS, _TIMES, ask)


@once_per_job
def mpi_messages(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the messages that MPI functions sent: rows of `drill`. `bytes_sent`, `messages`, and messages by size
    (SIZES).

    A collective call counts the rank's own contribution, a one-sided call also the bytes that it fetched.
    """
    return answer(job, _with_fetched(mpi_rows(job)), CALLS, _MESSAGES, ask)


@once_per_job
def mpi_callers(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns `mpi_messages` by call site: function, its caller, and the caller's caller, as far as the log knows."""
    return answer(job, _with_fetched(_site_rows(job)), SITES, _MESSAGES, ask)


def _with_fetched(rows: Records | pd.DataFrame | None) -> Records | None:
    """Returns the rows with the bytes that one-sided calls fetched added to `bytes_sent`, because no call of another
    rank counts them as sent.
    """
    if rows is None:
        return None
    found = as_records(rows)
    fetched = np.where(np.isin(found["function"], _FETCHING), found["bytes_received"], 0)
    moved: Records = found.beside({"bytes_sent": found["bytes_sent"] + fetched})
    return moved


@once_per_job
def mpi_sites(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the time in MPI functions by call site: the levels of `mpi_callers`, `time` in seconds and `calls`."""
    return answer(job, _site_rows(job), SITES, Measures("time", ("calls",)), ask)


@once_per_job
def mpi_rows(job: Job) -> Records | None:
    """Returns the private table `mpi_calls` with the names of regions."""
    rows = table_records(job, "mpi_calls")
    return None if rows is None else with_regions(job, rows)


@once_per_job
def _site_rows(job: Job) -> pd.DataFrame | None:
    """Returns the private table `mpi_sites` with the names of regions, and with `caller 1` (the innermost), `caller 2`
    …
    """
    rows = table_frame(job, "mpi_sites")
    if rows is None:
        return None
    return with_callers(job, rows.assign(region=region_paths(job, rows["region"])))


@once_per_job
def late_receives(job: Job) -> Records | None:
    """Returns the columns function, calls, late (receives that began after their message had arrived) and share (per
    cent of the calls), over all ranks; None if late receives were not counted, or there was none.
    """
    rows = mpi_rows(job)
    if rows is None or "late_receives" not in rows or not rows["late_receives"].any():
        return None
    same = Groups(rows["function"])
    found = {"function": rows["function"][same.first]}
    found |= {name: same.sum(rows[column]) for name, column in (("calls", "calls"), ("late", "late_receives"))}
    late = ordered(Records(found).where(found["late"] > 0), "-late", "function")
    return late.beside({"share": 100.0 * late["late"] / late["calls"]})


def of_functions(rows: Records, names: Collection[str]) -> Records:
    """Returns the rows of some functions."""
    return rows.where(np.isin(rows["function"], [*names]))


def slowest(rows: Records) -> float:
    """Returns the seconds that the slowest rank spent in these calls, among the ranks with rows of their own."""
    rows = rows.where(rows["rank"] >= 0)
    return float(Groups(rows["rank"]).sum(rows["time"]).max(initial=0.0))


@once_per_job
def function_seconds(job: Job) -> dict[str, np.ndarray]:
    """Returns the seconds of each rank in each MPI function by name; empty if the log has no APMPI records, or if MPI
    was traced.
    """
    rows, ranks = job.records.get("APMPI"), max(1, job.nprocs)
    if rows is None or mpi_rows(job) is not None:
        return {}
    who = rows["rank"].astype(np.int64)
    known = (who >= 0) & (who < ranks)
    return {
        name.removeprefix(apmpi.TIME): np.bincount(who[known], np.maximum(rows[name][known], 0.0), ranks)
        for name in rows.names
        if name.startswith(apmpi.TIME)
    }


@once_per_job
def mpi_functions(job: Job) -> Records | None:
    """Returns one row per MPI function that Darshan's module APMPI timed, most time first.

    Columns: function, part (of the time: point-to-point, collective …), seconds and calls (of an average rank), least,
    least_rank, most and most_rank (seconds). The calls by which an MPI-IO library exchanges data are among them. None
    without the module, and if MPI was traced: then `mpi_calls` has more.
    """
    spent = function_seconds(job)
    if not spent:
        return None
    names, each = np.array(list(spent), object), np.array(list(spent.values()))
    calls = np.array([job.records["APMPI"][f"{apmpi.CALLS}{name}"].sum() for name in spent]) / max(1, job.nprocs)
    found = Records(
        {
            "function": names,
            "part": mpi_part(names),
            "seconds": each.mean(axis=1),
            "calls": calls,
            "least": each.min(axis=1),
            "least_rank": each.argmin(axis=1),
            "most": each.max(axis=1),
            "most_rank": each.argmax(axis=1),
        }
    )
    return ordered(found, "-seconds")


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
