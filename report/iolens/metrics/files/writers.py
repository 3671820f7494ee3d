"""The ranks that moved the bytes of files, if a log tells."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest
from iolens.metrics.job.balance import heat_bytes
from iolens.metrics.job.interfaces.mpiio import file_rank_records
from iolens.metrics.once import once_per_job
from iolens.metrics.times.traces import run_begins

_COUNTERS = {"read": "BYTES_READ", "written": "BYTES_WRITTEN"}
_SLOWEST = ("SLOWEST_RANK", "SLOWEST_RANK_BYTES")


@once_per_job
def moved_by_rank(job: Job, what: str) -> np.ndarray | None:
    """Returns the bytes `read` or `written` by each rank at the lowest layers: an array over ranks.

    The source is the heat maps, if the log has them. Otherwise it is records of single ranks and, for files that all
    ranks share, the private table `file_ranks`, or a slowest rank that moved all bytes of its file. None if bytes of a
    shared file cannot be attributed to ranks.
    """
    known = heat_bytes(job)
    if known is not None and known[what].any():
        return known[what]
    found = np.zeros(max(job.nprocs, 1), "i8")
    for name in lowest(job):
        records = job.records[name]
        bytes_moved = np.maximum(records[f"{name}_{_COUNTERS[what]}"], 0)
        ranks, shared = records["rank"], records["rank"] < 0
        np.add.at(found, ranks[~shared], bytes_moved[~shared])
        for row in np.flatnonzero(shared & (bytes_moved > 0)).tolist():
            part = _of_shared(job, records, name, row, what)
            if part is None:
                return None
            found += part
    return found


def _of_shared(job: Job, records: Records, name: str, row: int, what: str) -> np.ndarray | None:
    """Returns the bytes that each rank moved in a file that all ranks share in one record; None if the log does not
    tell.
    """
    counted = {column: int(records[f"{name}_{column}"][row]) for column in (*_COUNTERS.values(), *_SLOWEST)}
    total, found = counted[_COUNTERS[what]], np.zeros(max(job.nprocs, 1), "i8")
    table = file_rank_records(job) if name == "POSIX" else None
    if table is not None:
        rows = (table["file"] == records["id"][row]) & (table["rank"] >= 0)
        moved = table[f"bytes_{what}"][rows]
        if int(moved.sum()) == total:
            np.add.at(found, table["rank"][rows], moved)
            return found
    both, slowest = sum(counted[column] for column in _COUNTERS.values()), counted["SLOWEST_RANK"]
    if 0 <= slowest < len(found) and counted["SLOWEST_RANK_BYTES"] == both:
        found[slowest] = total
        return found
    return None


@once_per_job
def posix_users(job: Job, what: str) -> dict[int, int]:
    """Returns how many ranks `read` or `written` bytes of each file through POSIX, by record id, where the log tells.

    The sources are `file_ranks`, records of single ranks, shared records whose slowest rank moved 99 % of the bytes
    (then 1), and single transfers (DXT).
    """
    found: dict[int, int] = {}
    posix = job.records.get("POSIX")
    if posix is not None:
        used = posix[f"POSIX_{_COUNTERS[what]}"] > 0
        own = (posix["rank"] >= 0) & used
        found |= ranks_of_files(posix["id"][own], posix["rank"][own])
        moved = sum(np.maximum(posix[f"POSIX_{counter}"], 0) for counter in _COUNTERS.values())
        alone = (posix["rank"] < 0) & used & (posix["POSIX_SLOWEST_RANK_BYTES"] >= 0.99 * moved)
        found |= dict.fromkeys(posix["id"][alone].tolist(), 1)
    traced = job.records.get("DXT_POSIX")
    if traced is not None:
        begins = run_begins(traced["id"], traced["rank"], traced["op"])
        begins = begins[traced.says("op", "read" if what == "read" else "write")[begins]]
        found |= ranks_of_files(traced["id"][begins], traced["rank"][begins])
    table = file_rank_records(job)
    if table is not None:
        active = table[f"bytes_{what}"] > 0
        ids, file = np.unique(table["file"][active], return_inverse=True)
        users = np.bincount(file, weights=table["ranks"][active], minlength=len(ids))
        found |= dict(zip(ids.tolist(), users.astype("i8").tolist(), strict=True))
    return found


def ranks_of_files(ids: np.ndarray, ranks: np.ndarray) -> dict[int, int]:
    """Returns the number of different ranks of each id."""
    order = np.lexsort([ranks, ids])
    ids, ranks = ids[order], ranks[order]
    new = np.ones(len(ids), bool)
    new[1:] = (ids[1:] != ids[:-1]) | (ranks[1:] != ranks[:-1])
    known, counts = np.unique(ids[new], return_counts=True)
    return dict(zip(known.tolist(), counts.tolist(), strict=True))


def writer_counts(job: Job, table: Records, unknown: int) -> np.ndarray:
    """Returns the number of `posix_users` that wrote, for the rows of `use.by_file`; `unknown` if the log does
    not tell.
    """
    known = posix_users(job, "written")
    return np.array([known.get(key, unknown) for key in table["id"].tolist()], dtype=np.int64)
