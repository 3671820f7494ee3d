"""The use of the cores by each rank's threads, their balance, and memory and processor time of single ranks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import ordered, stacked
from iolens.metrics.job.interfaces.private_counts import rank_usage
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask, imbalance, imbalance_percent
from iolens.metrics.processor.sampled.call_chains import table_records
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer
from iolens.metrics.processor.sampled.groups import OMP
from iolens.metrics.processor.sampled.samples import is_sampled, sample_rows
from iolens.missing import is_nan

if TYPE_CHECKING:
    from iolens.log.records import Records


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


_LEVELS = Levels((), (PE,))


@once_per_job
def memory(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the largest resident set of each rank (`max_rss`, bytes), from the private region `process`: rows of
    `drill`.

    Returns None if the log lacks the value of any rank.
    """
    rows = _process_rows(job)
    whole = rows is not None and len(rows) == job.nprocs
    return answer(job, rows if whole else None, _LEVELS, Measures("max_rss"), ask)


@once_per_job
def program_time(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the processor time of each rank (`time`; `user_time` and `system_time`; seconds), with the counts that
    show why it was interrupted: rows of `drill`.
    """
    measures = Measures("time", ("user_time", "system_time", "major_faults", "involuntary_switches"))
    return answer(job, _process_rows(job), _LEVELS, measures, ask)


@once_per_job
def _process_rows(job: Job) -> pd.DataFrame | None:
    """Returns the rows of the region `process` with a column `time`. If it has rows of several ranks together, only the
    rows of single ranks are kept.
    """
    usage = rank_usage(job)
    if usage is None or not len(usage):
        return None
    rows = usage.frame()
    return rows.assign(time=rows["user_time"] + rows["system_time"])


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
