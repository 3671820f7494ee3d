"""The balance among the threads of each rank: processor time, waiting, and the time in OpenMP's library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.imbalance import imbalance, imbalance_percent
from iolens.metrics.processor.sampled.groups import OMP
from iolens.metrics.processor.sampled.samples import is_sampled, sample_rows
from iolens.metrics.processor.usage import thread_usage

_IDLE = 0.05
"""A thread is a helper, and left out of averages, if its time on a core is below this part of the busiest thread's."""

_COLUMNS = (
    *("rank", "threads", "on_core", "working", "imbalance", "imbalance_percent", "busiest", "busiest_thread"),
    *("runnable", "asleep", "openmp", "openmp_share"),
)


@once_per_job
def thread_balance(job: Job, limit: int = 10) -> Records | None:
    """Returns how evenly the threads of each rank worked, the `limit` most uneven ranks first; helpers are left out.

    Columns: threads (that worked), on_core (seconds of processor time of an average thread), working (the same without
    the time in OpenMP's library, where threads that wait may spin; equal to on_core if the run was not sampled),
    imbalance (working seconds of the busiest less the average), imbalance_percent (100 × (max - avg) / max × N /
    (N - 1)), busiest (working seconds) and busiest_thread, runnable and asleep (seconds in which an average thread
    waited for a core, and was asleep or blocked), openmp and openmp_share (seconds and per cent of an average thread's
    life in OpenMP's library, from samples: barriers, locks and idle workers; NaN: not sampled). None if no rank had two
    threads that worked.
    """
    rows = thread_usage(job)
    if rows is None:
        return None
    shares, spinning = _openmp_shares(job), _spinning_shares(job)
    found = []
    for rank in np.unique(rows["rank"]).tolist():
        each = rows.where(rows["rank"] == rank)
        each = each.where(each["on_core"] >= _IDLE * each["on_core"].max())
        spun = [spinning.get((rank, thread), 0.0) for thread in each["thread"].tolist()]
        times = each["on_core"] * (1.0 - np.array(spun))
        if len(each) < 2 or not times.max() > 0:
            continue
        most, mean, share = float(times.max()), float(times.mean()), shares.get(rank, float("nan"))
        uneven = imbalance(most, mean), imbalance_percent(most, mean, len(each))
        waits = float(each["runnable"].mean()), float(each["asleep"].mean())
        inside = share * float(each["seconds"].mean())
        busiest = most, int(each["thread"][times.argmax()])
        on_core = float(each["on_core"].mean())
        found.append((rank, len(each), on_core, mean, *uneven, *busiest, *waits, inside, 100 * share))
    return ordered(Records.of(_COLUMNS, found), "-imbalance", "rank").where(slice(limit)) if found else None


def _openmp_shares(job: Job) -> dict[int, float]:
    """Returns the share (0 to 1) of each rank's samples, of all its threads, that were in OpenMP's library."""
    rows = sample_rows(job) if is_sampled(job) else None
    if rows is None:
        return {}
    inside = rows["samples"].where(rows["group"] == OMP, 0).groupby(rows["rank"]).sum()
    shares = inside / rows["samples"].groupby(rows["rank"]).sum()
    return {int(rank): float(share) for rank, share in shares.items()}


def _spinning_shares(job: Job) -> dict[tuple[int, int], float]:
    """Returns, for each rank and thread, the share (0 to 1) of its samples on a core that were in OpenMP's library."""
    rows = sample_rows(job) if is_sampled(job) else None
    if rows is None:
        return {}
    rows = rows[~rows["blocked"].astype(bool)]
    # Samples name threads "thread 0", "thread 1" and so on.
    who = [rows["rank"], rows["thread"].astype(str).str.rpartition(" ")[2].astype(int)]
    inside = rows["samples"].where(rows["group"] == OMP, 0).groupby(who).sum()
    shares = inside / rows["samples"].groupby(who).sum()
    return {(int(rank), int(thread)): float(share) for (rank, thread), share in shares.items() if share > 0}


@dataclass(frozen=True)
class UnevenThreads:
    """The threads of the rank whose busiest thread exceeds the mean most: their number, and the seconds on a core,
    outside of OpenMP's library, of the busiest and of the average thread.
    """

    rank: int
    threads: int
    busiest: float
    mean: float


def working_threads(job: Job) -> UnevenThreads | None:
    """Returns the threads of the most uneven rank, helpers left out; None if no rank has two that work."""
    rows = thread_balance(job)
    if rows is None:
        return None
    worst = next(rows.rows("rank", "threads", "busiest", "working"))
    return UnevenThreads(*worst)
