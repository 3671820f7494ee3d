"""Which ranks moved the bytes, as far as a log tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.balance import rank_bytes
from iolens.metrics.files import LOWEST
from iolens.metrics.mpiio import file_ranks
from iolens.metrics.once import once_per_job
from iolens.metrics.traces import run_begins

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

COUNTERS = {"read": "BYTES_READ", "written": "BYTES_WRITTEN"}
SLOWEST = ("SLOWEST_RANK", "SLOWEST_RANK_BYTES")


@once_per_job
def moved_by_rank(job: Job, what: str) -> np.ndarray | None:
    """Bytes `read` or `written` by each rank through POSIX and STDIO: an array over ranks.

    From the heat maps, where the log has them; else from records of single ranks and, for files that all ranks share,
    the private table `file_ranks` or a slowest rank that moved all bytes of its file. None where bytes of a shared
    file cannot be given to ranks.
    """
    known = rank_bytes(job)
    if known is not None and known[what].any():
        return np.asarray(known[what])
    found = np.zeros(max(job.nprocs, 1))
    for name in LOWEST:
        frame = job.frames.get(name)
        if frame is None:
            continue
        bytes_moved = np.maximum(frame[f"{name}_{COUNTERS[what]}"].to_numpy(), 0)
        ranks, shared = frame["rank"].to_numpy(), frame["rank"].to_numpy() < 0
        found += np.bincount(ranks[~shared], weights=bytes_moved[~shared], minlength=len(found))
        for row in np.flatnonzero(shared & (bytes_moved > 0)).tolist():
            part = of_shared(job, frame, name, row, what)
            if part is None:
                return None
            found += part
    return found


def of_shared(job: Job, frame: pd.DataFrame, name: str, row: int, what: str) -> np.ndarray | None:
    """Bytes by rank of one shared record; None where the log does not tell."""
    counted = {column: int(frame[f"{name}_{column}"].iloc[row]) for column in (*COUNTERS.values(), *SLOWEST)}
    total, found = counted[COUNTERS[what]], np.zeros(max(job.nprocs, 1))
    table = file_ranks(job) if name == "POSIX" else None
    if table is not None:
        rows = table[(table["file"] == frame["id"].iloc[row]) & (table["rank"] >= 0)]
        moved = rows[f"bytes_{what}"].to_numpy()
        if int(moved.sum()) == total:
            return np.bincount(rows["rank"].to_numpy(), weights=moved, minlength=len(found))
    both, slowest = sum(counted[column] for column in COUNTERS.values()), counted["SLOWEST_RANK"]
    if 0 <= slowest < len(found) and counted["SLOWEST_RANK_BYTES"] == both:
        found[slowest] = total
        return found
    return None


@once_per_job
def posix_users(job: Job, what: str) -> dict[int, int]:
    """How many ranks `read` or `written` bytes of each file through POSIX, by record id, where the log tells.

    From `file_ranks`, records of single ranks, shared records whose slowest rank moved 99 % of the bytes (then
    1), or single transfers (DXT).
    """
    found: dict[int, int] = {}
    frame = job.frames.get("POSIX")
    if frame is not None:
        own = frame[(frame["rank"] >= 0) & (frame[f"POSIX_{COUNTERS[what]}"] > 0)]
        found |= own.groupby("id")["rank"].nunique().to_dict()
        moved = sum(frame[f"POSIX_{counter}"].clip(lower=0) for counter in COUNTERS.values())
        alone = (frame["rank"] < 0) & (moved > 0) & (frame["POSIX_SLOWEST_RANK_BYTES"] >= 0.99 * moved)
        found |= dict.fromkeys(frame.loc[alone & (frame[f"POSIX_{COUNTERS[what]}"] > 0), "id"], 1)
    traced = job.frames.get("DXT_POSIX")
    if traced is not None:
        kind = (traced["op"] == ("read" if what == "read" else "write")).to_numpy()
        users = traced.iloc[np.flatnonzero(kind)[run_begins(*(traced[key].to_numpy()[kind] for key in ("id", "rank")))]]
        found |= users.groupby("id")["rank"].nunique().to_dict()
    table = file_ranks(job)
    if table is not None:
        active = table[table[f"bytes_{what}"] > 0]
        found |= active.groupby("file")["ranks"].sum().to_dict()
    return {int(key): int(value) for key, value in found.items()}


def writer_counts(job: Job, table: pd.DataFrame, unknown: int) -> np.ndarray:
    """`posix_users` that wrote, for the rows of `use.by_file`; `unknown` where the log does not tell."""
    known = posix_users(job, "written")
    return np.array([known.get(int(key), unknown) for key in table.index], dtype=np.int64)
