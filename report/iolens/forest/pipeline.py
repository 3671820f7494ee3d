"""The input pipeline of training: a Python process that waits for its worker processes, and what the workers do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from iolens.forest.forest import Forest
from iolens.forest.summary import processes
from iolens.forest.tree import tree_of
from iolens.lazy import pd
from iolens.log import Job
from iolens.log.format.container import LogError
from iolens.log.reader import read_log
from iolens.log.records import Records
from iolens.metrics.processor.sampled.call_chains import Chain, inner_chains
from iolens.metrics.processor.sampled.groups import POSIX, STDIO, group_of

_WORKER = re.compile(r"(python|pypy)[\d.]* .*\((forked|multiprocessing worker)\)$")
_SERVER = "multiprocessing fork server"
_SAMPLES = ("samples", "sampling", "call_nodes", "objects", "generated_code", "job", "process", "mapped_files")
MOST_LOADERS = 8
"""Maximum number of main processes, each of which waits for worker processes, whose logs are read for their samples. In
a job of thousands they are alike.
"""

_DEPTH = 10
"""Number of innermost functions of a call chain, the profiler's own included, among which a function that waits is
searched.
"""

_WAITS = re.compile(
    r"(__)?(p?poll|p?select|epoll_p?wait|recv(from|msg)?|accept4?|wait[34]|waitpid|waitid)(_chk)?"
    r"|.*sem_\w*wait\w*|PyThread_acquire_lock_timed|_PySemaphore_Wait|_multiprocessing_SemLock_acquire\w*"
)
"""Functions that wait for another process, or for a thread of the same process that hands over data from other
processes. From Python 3.13 on, a thread waits for a lock in _PySemaphore_Wait.
"""

_LITTLE = 0.25
"""The queue between both sides counts as the limit if each side waits for at least this part of the time. Less waiting
may come from the start.
"""


@dataclass(frozen=True)
class _Spent:
    """Seconds of a process: in `waits` of its first thread for other processes, in `files` (of all threads), in the
    first thread's `own` work (the rest), and `runnable`, ready to run without a core (0 where the kernel does not count
    it). `is_mapped`: storage delivered bytes of files that it had mapped. `reason` says
    why nothing is known.
    """

    waits: float = float("nan")
    files: float = float("nan")
    own: float = float("nan")
    runnable: float = 0.0
    is_mapped: bool = False
    reason: str = ""


@cache
def input_pipeline(forest: Forest) -> pd.DataFrame | None:
    """Returns a row for each Python process that has workers (children of fork or multiprocessing that run no other
    program), in the order of the start, at most MOST_LOADERS; None if there is none.

    Columns: number and label of the main process, pid, workers, seconds (from the start of the first worker to the end
    of the last one), waits (of the main process for its workers), own (its other time in `seconds`: training, and
    files), reading, handing_over and decoding: mean seconds of a worker in calls on files, in waits for a task or for
    room in a queue, and in the rest, which is on a processor or asleep; no_core: mean seconds in which it was ready to
    run and had no core, by the kernel's count. `reading` is the time of the calls of all threads; the other times come
    from the samples of the first thread. If another thread of a worker reads ahead, the time in its calls counts as
    reading. limit: `training`, `reading`, `decoding`, `queueing` or `a core`, or empty with the `reason`. more_workers
    and faster_storage: upper bounds in seconds on the gain if the main process never waited, and if files took no time.

    The side that waits less holds up the other one. The bounds assume that the main process's own time remains, and,
    with storage that takes no time, the workers' own time divided by their number.
    """
    teams = _teams(forest)
    if not teams:
        return None
    rows = processes(forest)
    return pd.DataFrame([_pipeline_row(forest, rows, main, teams[main]) for main in sorted(teams)[:MOST_LOADERS]])


def _teams(forest: Forest) -> dict[int, list[int]]:
    """Returns the workers of each main process, as numbers of processes; a fork server does not count as a main
    process.
    """
    tree = tree_of(forest)
    labels = [tree.labels[group] for group in tree.group]
    found: dict[int, list[int]] = {}
    for number, name in enumerate(labels):
        above = int(tree.parent[number])
        if above >= 0 and _SERVER in labels[above]:
            above = int(tree.parent[above])
        if above >= 0 and _WORKER.match(name) and not tree.gap[number] and forest.processes[above].ranks == 1:
            found.setdefault(above, []).append(number)
    return {main: workers for main, workers in found.items() if not set(workers) & found.keys()}


def _pipeline_row(forest: Forest, rows: pd.DataFrame, main: int, workers: list[int]) -> dict[str, object]:
    """Returns the row of `input_pipeline` of a main process."""
    own, *others = each = [_first_thread_time(forest, rows, number) for number in (main, *workers)]
    life = rows.loc[workers, "seconds"].to_numpy(float)
    ends = rows.loc[workers, "start"].to_numpy(float) + life
    seconds = max(float(ends.max() - rows.loc[workers, "start"].min()), 1e-9)
    parts = np.array([(one.files, one.waits, one.own, one.runnable) for one in others])
    reading, waiting, decoding, no_core = parts.T
    waits = float(np.minimum(own.waits, seconds))
    faster = np.minimum.reduce([waits, reading.sum(), np.maximum(seconds - decoding.mean(), 0.0)])
    reason = next((one.reason for one in each if one.reason), "")
    workers_wait = float(waiting.sum()) / max(float(life.sum()), 1e-9)
    stages = {"reading": reading.sum(), "decoding": decoding.sum(), "a core": no_core.sum()}
    limit = "" if reason else _limiting_stage(waits / seconds, workers_wait, stages)
    if any(one.is_mapped for one in others):
        faster = waits
        if limit in stages:
            limit, reason = "", "workers read mapped files, whose page faults count as decoding"
    return {
        "number": main,
        "label": rows.loc[main, "label"],
        "pid": rows.loc[main, "pid"],
        "workers": len(workers),
        "seconds": seconds,
        "waits": waits,
        "own": seconds - waits,
        "reading": float(reading.mean()),
        "handing_over": float(waiting.mean()),
        "decoding": float(decoding.mean()),
        "no_core": float(no_core.mean()),
        "limit": limit,
        "more_workers": waits,
        "faster_storage": float(faster),
        "reason": reason,
    }


def _limiting_stage(main_waits: float, workers_wait: float, stages: Mapping[str, float]) -> str:
    """Returns the stage that holds up the others, from parts of the time in waits and the workers' seconds by stage."""
    if min(main_waits, workers_wait) >= _LITTLE:
        return "queueing"
    if main_waits <= workers_wait:
        return "training"
    return max(stages, key=lambda stage: stages[stage])


def _first_thread_time(forest: Forest, rows: pd.DataFrame, number: int) -> _Spent:
    """Returns the time of a process's first thread by activity."""
    log = rows.loc[number, "log"]
    try:
        job = read_log(forest.folder / log, _SAMPLES)
    except LogError as error:
        return _Spent(reason=f"{log}: {error}")
    seconds = float(rows.loc[number, "seconds"])
    files = min(float(rows.loc[number, "io_seconds"]), seconds)
    shares = _sampled_shares(job)
    if shares is None:
        return _Spent(
            files=files, reason="not all processes were sampled by elapsed time; record with iolens run --sample"
        )
    waiting, in_calls = shares
    # If other threads read, the first thread waits for them. This counts as reading, not as a wait for another process.
    waits = min(max((waiting + in_calls) * seconds - files, 0.0), seconds - files)
    mapped = job.tables.get("mapped_files") or Records({})
    is_mapped = any((mapped[name] > 0).any() for name in ("major_faults", "fetched") if name in mapped)
    own = seconds - files - waits
    runnable = min(float(np.nansum(job.tables.get("process", Records({})).get("first_runnable", 0.0))), own)
    return _Spent(waits, files, own - runnable, runnable, is_mapped)


def _sampled_shares(job: Job) -> tuple[float, float] | None:
    """Returns the parts of the first thread's samples in functions that wait, and in reads and writes, of files and
    of pipes; None if the thread was not sampled by elapsed time.
    """
    rows, threads = job.tables.get("samples"), job.tables.get("sampling")
    if rows is None or threads is None:
        return None
    first = threads.where(threads["thread"] == 0)
    rows = rows.where(rows["thread"] == 0)
    if not len(rows) or not len(first) or (first["timer"].astype(str) != "wall").any():
        return None
    known = inner_chains(job, set(rows["node"].tolist()), _DEPTH)
    kinds = [_chain_kind(known.get(key, ())) for key in zip(rows["rank"].tolist(), rows["node"].tolist(), strict=True)]
    counts = rows["count"].astype(float)
    waiting, in_calls = (float(counts[np.array(kinds) == kind].sum() / counts.sum()) for kind in ("wait", "call"))
    return waiting, in_calls


def _chain_kind(chain: Chain) -> str:
    """Returns `wait` if any function of the chain waits, else `call` if any reads or writes, else an empty text."""
    if any(_WAITS.fullmatch(frame.function) for frame in chain):
        return "wait"
    return "call" if any(group_of(frame.function, frame.object) in (POSIX, STDIO) for frame in chain) else ""
