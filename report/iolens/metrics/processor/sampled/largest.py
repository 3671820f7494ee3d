"""The kind of work that took most of an average rank's time, and facts about it. Computing is a measured time, not a
remainder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.comparison.settings import seconds_text
from iolens.metrics.job.interfaces.private_counts import rank_usage
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.mpi.calls import mpi_functions
from iolens.metrics.processor.sampled.groups import (
    ANY_MPI,
    ASLEEP,
    COMPUTE,
    IO_PARTS,
    MPI_PARTS,
    OFF_CORE,
    OPENMP,
    OUTSIDE,
    RUNNABLE,
    START,
    UNKNOWN,
    UNTRACED,
)
from iolens.metrics.processor.time import in_parts, rank_time
from iolens.metrics.processor.usage import CoreUse, UnevenThreads, core_use, working_threads

_KINDS = (
    "compute",
    "kernel",
    "threads",
    "openmp",
    "cores",
    "blocked",
    "children",
    "off",
    "mpi",
    "start",
    "io",
    "unknown",
)

CROWDED = 0.2
"""Ranks count as short of cores if they waited for a core for at least this share of their time."""

_UNEVEN = 0.1
"""Threads are uneven if the time of the busiest one exceeds the average by this part of the run."""

_MOSTLY = 0.5
"""Computing counts as mostly in system calls if at least this share of it was in the kernel."""

_CHILDREN = 0.25
"""A rank counts as waiting for its child processes if their processor time is at least this share of the wait; in the
rest of the time the children may lack cores or do I/O.
"""


@dataclass(frozen=True)
class Largest:
    """The largest part of an average rank's time.

    `kind` is one of _KINDS: compute (on a core outside I/O and MPI), kernel (like compute, but mostly in system calls),
    threads (like compute, but in one thread while others had less to do), openmp (in OpenMP's library), cores (waiting
    for a core), blocked (asleep or blocked), children (like blocked, while child processes computed), off (not on a
    core: asleep or waiting for one), mpi, start (MPI's start and end), io, unknown (the log does not tell). `share` is
    0 to 1 of the average rank's time; `detail` is a clause with a further fact, or "".
    """

    kind: str
    share: float
    detail: str = ""


@once_per_job
def largest_shares(job: Job) -> dict[str, float]:
    """Returns the share (0 to 1) of each part in an average rank's time; empty if the log does not know them."""
    each = rank_time(job)
    if each is None or job.run_time <= 0:
        return {}
    return {part: float(values.mean()) / job.run_time for part, values in each.single.items() if part != "rank"}


@once_per_job
def largest_part(job: Job) -> Largest | None:
    """Returns the largest part of an average rank's time; None if the log does not know where the time went."""
    each = rank_time(job)
    return None if each is None else _largest(job, each, _waiting_for_cores(job, each))


@once_per_job
def largest_part_with_cores(job: Job) -> Largest | None:
    """Returns the largest part other than waiting for a core, for a job that more cores would not make shorter."""
    each = rank_time(job)
    return None if each is None else _largest(job, each, None)


def _largest(job: Job, each: Records, wanted: float | None) -> Largest | None:
    """Returns the largest part; `wanted`: the share of the time in which an average rank had no core (None: it does not
    count).
    """
    part = largest_shares(job)
    if not part:
        return None
    groups = {
        "compute": part[COMPUTE] + part[UNTRACED],
        "openmp": part[OPENMP],
        "blocked": part[ASLEEP],
        "off": part[OFF_CORE],
        "unknown": part[UNKNOWN],
        "mpi": sum(part[name] for name in MPI_PARTS),
        "start": part[START],
        "io": sum(part[name] for name in IO_PARTS),
    }
    if wanted is not None and wanted >= max(CROWDED, *(groups[name] for name in groups if name != "mpi")):
        is_within = wanted > 1.01 * part[RUNNABLE]
        return Largest("cores", wanted, "part of it in MPI or I/O calls" if is_within else "")
    groups["cores"] = 0.0 if wanted is None else part[RUNNABLE]
    kind = max(groups, key=lambda name: groups[name])
    if kind == "compute":
        return _computing(job, groups[kind])
    if kind == "mpi":
        return Largest(kind, groups[kind], "" if part[ANY_MPI] else _most_in(job))
    return _blocked(job, groups[kind]) if kind == "blocked" else Largest(kind, groups[kind])


def _most_in(job: Job) -> str:
    """Returns a clause on the MPI function that took most, if Darshan's module APMPI timed the functions."""
    functions = mpi_functions(job)
    found = [] if functions is None else list(functions.where(slice(1)).rows("function", "seconds"))
    return "".join(f"most in {function}, {seconds_text(spent)}" for function, spent in found)


def _waiting_for_cores(job: Job, each: Records) -> float:
    """Returns the share of the time in which an average rank was ready to run and had no core; 0 if the kernel did not
    count it.
    """
    waits = core_waits(job, each)
    return float(waits.mean()) / job.run_time if waits is not None else 0.0


def core_waits(job: Job, each: Records) -> np.ndarray | None:
    """Returns the seconds in which each rank of `each` was ready to run and had no core.

    The value is 0 for a rank that may have waited mostly inside MPI calls: a rank that only polls for a message loses
    nothing by waiting for a core, unless the ranks that it waits for have no core either. None if the kernel did not
    count the waiting.
    """
    use = core_use(job)
    if use is None or not np.isfinite(use.runnable).any():
        return None
    waited: np.ndarray = np.nan_to_num(use.runnable[each["rank"]])
    if _without_any_core(job, use) >= CROWDED * job.run_time:
        return waited
    may_wait = tuple(part for part in OUTSIDE if part not in (COMPUTE, ASLEEP))
    outside = np.minimum(waited, in_parts(each, may_wait))
    return np.where(2 * outside >= waited, waited, 0.0)


def _without_any_core(job: Job, use: CoreUse) -> float:
    """Returns a lower bound on the seconds in which all ranks were ready to run and none had a core; 0 if the kernel
    did not count the waiting of each rank.

    If all but one of N ranks wait all the time, their waiting adds up to N - 1 run times. Anything beyond that sum is
    time in which all N waited at once.
    """
    waited = use.runnable[: max(1, job.nprocs)]
    if len(waited) < job.nprocs or not np.isfinite(waited).all():
        return 0.0
    span = job.run_time - float(np.nan_to_num(use.init).min())
    return max(float(waited.sum()) - (len(waited) - 1) * span, 0.0)


def _computing(job: Job, share: float) -> Largest:
    """Returns the kind of computing: uneven threads, system calls, or the program's own work."""
    uneven = working_threads(job)
    if uneven is not None and uneven.busiest - uneven.mean >= _UNEVEN * job.run_time:
        return Largest("threads", share, _said_of(uneven))
    kernel = _in_kernel(job)
    if kernel >= _MOSTLY:
        return Largest("kernel", share, f"at least {100 * kernel:.0f} % of it in the kernel")
    return Largest("compute", share)


def _said_of(uneven: UnevenThreads) -> str:
    """Returns a clause on threads that worked unequally."""
    return (
        f"one of {uneven.threads} threads was on a core for {seconds_text(uneven.busiest)}, the average one for "
        f"{seconds_text(uneven.mean)}"
    )


def _in_kernel(job: Job) -> float:
    """Returns a lower bound on the part of the processor time outside I/O and MPI that was spent in the kernel."""
    used, each = rank_usage(job), rank_time(job)
    if used is None or each is None or "earlier_system" not in used:
        return 0.0
    used = used.where(used["rank"] < max(1, job.nprocs))
    calls = float(in_parts(each, (*IO_PARTS, *MPI_PARTS, START)).sum())
    system = float((used["system_time"] - used["earlier_system"]).sum()) - calls
    whole = float((used["user_time"] - used["earlier_user"]).sum()) + max(system, 0.0)
    return max(system, 0.0) / whole if whole > 0 else 0.0


def _blocked(job: Job, share: float) -> Largest:
    """Returns the cause for which a rank was asleep or blocked, as far as the log has it."""
    used, each = rank_usage(job), rank_time(job)
    if used is None or each is None or "children_time" not in used:
        return Largest("blocked", share)
    children, asleep = float(used["children_time"].sum()), float(each[ASLEEP].sum())
    if children >= _CHILDREN * asleep:
        return Largest(
            "children", share, f"its child processes used {seconds_text(children)} of processor time meanwhile"
        )
    some = [f"child processes used {seconds_text(children)} of processor time"] if children > 0 else []
    threads = working_threads(job)
    if threads is not None:
        some.append(
            f"{threads.threads} threads were on a core for {seconds_text(threads.mean)} each on average, the busiest "
            f"for {seconds_text(threads.busiest)}"
        )
    switches = int(used["voluntary_switches"].sum())
    whose = "it gave up its core" if job.nprocs < 2 else "all ranks together gave up their cores"
    some.append(f"{whose} {switches:,} time{'' if switches == 1 else 's'}")
    return Largest("blocked", share, "; ".join(some))
