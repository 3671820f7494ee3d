"""The samples of a log as counted call chains, which most formats are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.errors import IolensError
from iolens.lazy import pd
from iolens.log import Job
from iolens.log.samples import held_samples
from iolens.symbols.chains import Frame, call_chains, of_a_wait
from iolens.symbols.resolve import resolve

Threads = frozenset[tuple[int, int]]
"""Ranks, each with the number of one of its threads."""

_UNKNOWN = Frame("(not known)", "", 0, "")


@dataclass(frozen=True)
class Stack:
    """A chain of calls, outermost first, and how often it was sampled: periods of the timer, and seconds of its clock.

    `rank` and `thread` are -1 for several ranks or threads that the log does not distinguish. `waited` is True if the
    thread was not running.
    """

    rank: int
    thread: int
    waited: bool
    periods: int
    seconds: float
    frames: tuple[Frame, ...]


def stacks(job: Job, search: Sequence[Path] = (), running: bool = False, without: Threads = frozenset()) -> list[Stack]:
    """Returns all samples of a log, by rank and thread; only the running ones when `running`.

    Running samples beyond the processor time count as waiting (`held_samples`), as in `iolens profile`. `search`:
    folders with programs, libraries or their debug files; `without`: threads to leave out. Raises IolensError for a log
    without samples.
    """
    samples = held_samples(job)
    if samples is None:
        raise IolensError(f"{job.path} has no samples; record the program with iolens run --sample")
    chains = chains_of(job, search)
    period = 1.0 / samples_per_second(job)
    found = []
    columns = ("rank", "thread", "kind", "waits", "count", "node")
    ordered = samples[samples["count"] > 0].sort_values(["rank", "thread", "node", "kind", "waits"])
    for rank, thread, kind, waits, count, node in zip(*(ordered[name].tolist() for name in columns), strict=True):
        if (running and waits) or (rank, thread) in without:
            continue
        chain = chains.get((rank, node), ()) or (_UNKNOWN,)
        frames = of_a_wait(chain) if kind else chain
        found.append(Stack(rank, thread, waits, count, count * period, frames))
    return found


def chains_of(job: Job, search: Sequence[Path]) -> Mapping[tuple[int, int], tuple[Frame, ...]]:
    """Returns the call chains of a log by rank and node."""
    nodes, objects = job.private.get("call_nodes"), job.private.get("objects")
    if nodes is None or objects is None or nodes.empty:
        return {}
    return call_chains(resolve(nodes, objects, search, job.private.get("generated_code")))


def samples_per_second(job: Job) -> float:
    """Returns the requested number of samples per second; raises IolensError if the log does not have it."""
    threads: pd.DataFrame | None = job.private.get("sampling")
    if threads is None or threads.empty or not threads["asked_hz"].max() > 0:
        raise IolensError(f"{job.path}: the sampling rate is missing in this log; record the run again with iolens")
    return float(threads["asked_hz"].max())


def who(rank: int, thread: int) -> tuple[str, str]:
    """Returns a rank and a thread in words."""
    return (f"rank {rank}" if rank >= 0 else "other ranks", f"thread {thread}" if thread >= 0 else "other threads")
