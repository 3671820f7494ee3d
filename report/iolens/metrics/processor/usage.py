"""The use of the cores by each rank's threads: processor time, waiting for a core, and the balance among the
threads.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import stacked
from iolens.metrics.job.processes import rank_usage
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.sampled.private import table_records
from iolens.missing import is_nan

BUSIER = 1.2
"""A rank is represented by its first thread, unless another thread used the cores longer by this factor."""


@dataclass(frozen=True)
class CoreUse:
    """Seconds of the thread that represents each rank; NaN if the log does not have them.

    `on_core`: processor time; `runnable`: ready to run without a core. Both are without MPI_Init. `init`: the time in
    MPI_Init. `recorded`: how long the process was recorded. `user`: lower bound on the processor time of all threads
    outside the kernel and MPI_Init. `system`: upper bound on the processor time of all threads in the kernel. `thread`:
    the number of the thread. `alone`: no other thread was started.
    """

    on_core: np.ndarray
    runnable: np.ndarray
    init: np.ndarray
    recorded: np.ndarray
    user: np.ndarray
    system: np.ndarray
    thread: np.ndarray
    alone: np.ndarray

    def of(self, ranks: np.ndarray) -> CoreUse:
        """Returns the same seconds for some of the ranks only."""
        return CoreUse(*(getattr(self, one.name)[ranks] for one in fields(self)))


@once_per_job
def core_use(job: Job) -> CoreUse | None:
    """Returns the use of the cores by the busiest thread of each rank; None if the log has no processor time.

    Logs of versions that recorded no threads have the processor time of all threads together, which is used like that
    of one thread; waiting for a core is then not known.
    """
    used = rank_usage(job)
    if used is None:
        return None
    ranks = max(job.nprocs, 1)
    used = used.where(used["rank"] < ranks)
    rank = used["rank"].astype(np.int64)
    if "first_on_core" not in used:
        whole = _values_by_rank(rank, used["user_time"] + used["system_time"], ranks)
        nothing, unknown = np.zeros(ranks), np.full(ranks, np.nan)
        return CoreUse(
            whole, unknown, nothing, unknown, nothing, unknown, np.zeros(ranks, np.int64), np.zeros(ranks, bool)
        )
    first = _values_by_rank(rank, used["first_on_core"] - used["init_on_core"], ranks)
    waited = _values_by_rank(rank, used["first_runnable"] - used["init_runnable"], ranks)
    user = _values_by_rank(rank, used["user_time"] - used["earlier_user"] - used["init_on_core"], ranks)
    system = _values_by_rank(rank, used["system_time"] - used["earlier_system"], ranks)
    thread, others = np.zeros(ranks, np.int64), _started_threads(job, ranks)
    alone = np.ones(ranks, bool)
    for who, number, on_core, runnable in others.rows("rank", "thread", "on_core", "runnable"):
        alone[who] = False
        if on_core + _zero_if_unknown(runnable) > BUSIER * (first[who] + _zero_if_unknown(waited[who])):
            first[who], waited[who], thread[who] = on_core, runnable, number
    init, recorded = (_values_by_rank(rank, used[name], ranks) for name in ("init_seconds", "seconds"))
    return CoreUse(first, waited, init, recorded, np.maximum(user, 0.0), system, thread, alone)


def least_outside_kernel(job: Job, seconds: float) -> float:
    """Returns a lower bound on the processor time outside the kernel within calls that took `seconds` on one rank: all
    other time of any rank, in the kernel and off the cores, is taken off. 0 if the log has no processor time.
    """
    use = core_use(job)
    if use is None:
        return 0.0
    elsewhere = use.system + np.maximum(use.recorded - use.init - use.on_core, 0.0)
    return 0.0 if np.isnan(elsewhere).all() else max(0.0, seconds - float(np.nanmax(elsewhere)))


def _zero_if_unknown(seconds: float) -> float:
    """Returns the seconds, with 0 in place of NaN."""
    return seconds if not is_nan(seconds) else 0.0


def _values_by_rank(rank: np.ndarray, values: np.ndarray, ranks: int) -> np.ndarray:
    """Returns the values by rank; NaN for ranks that have none."""
    found = np.full(ranks, np.nan)
    found[rank] = values
    return found


def _started_threads(job: Job, ranks: int) -> Records:
    """Returns the rows of single threads other than the first of each rank."""
    columns = ("rank", "thread", "seconds", "on_core", "runnable")
    rows = table_records(job, "threads")
    if rows is None:
        return Records({name: np.zeros(0, np.int64 if name in ("rank", "thread") else float) for name in columns})
    return rows.where((rows["rank"] >= 0) & (rows["rank"] < ranks)).take(*columns)


@once_per_job
def thread_usage(job: Job) -> Records | None:
    """Returns a row per thread: rank, thread, seconds (of its life), on_core, runnable, asleep (the rest of its life).

    None for programs with one thread a rank, and for logs that do not know threads.
    """
    used = rank_usage(job)
    others = _started_threads(job, max(job.nprocs, 1))
    if used is None or "first_on_core" not in used or not len(others):
        return None
    having = used.where(np.isin(used["rank"], others["rank"]))
    first = Records(
        {
            "rank": having["rank"],
            "thread": np.zeros(len(having), np.int64),
            "seconds": having["seconds"],
            "on_core": having["first_on_core"],
            "runnable": having["first_runnable"],
        }
    )
    rows = stacked([first, others])
    asleep = rows["seconds"] - rows["on_core"] - np.nan_to_num(rows["runnable"])
    rows = rows.beside({"asleep": np.maximum(asleep, 0.0)})
    return rows.where(np.lexsort((rows["thread"], rows["rank"])))
