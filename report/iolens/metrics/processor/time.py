"""Where the time of each rank went, in parts that add up and that were measured; and POP's efficiencies.

The arithmetic. A rank has its run time T. Calls of MPI and of I/O were timed on the wall clock: W is their sum, and X =
T - W is the time outside them. The kernel counted for the whole run how long the rank was on a core (P), and how long
it was ready to run and waited for a core (R). The rest is how long it was asleep or blocked: B = T - P - R. P, R and B
were not counted separately inside the calls, where a rank may be on a core (MPI that polls, a write to the page cache)
or asleep (a write to a disk). Time that exceeds the calls' total must lie outside them:

    computing >= P - W,  waiting for a core >= R - W,  asleep or blocked >= B - W,  not on a core >= R + B - W

and computing is at least the processor time outside the kernel, less the time in calls that may compute in user mode
(MPI, STDIO, MPI-IO): a POSIX call works in the kernel. The rest of X was not measured: it is a part of its own, "not
attributed". Nothing is divided by guessing. Without calls W is 0, and all parts are exact.

Processor time inside MPI's calls is a part of MPI, and that inside I/O a part of I/O. P and R of MPI_Init were read
separately, and are subtracted exactly. A rank with several threads is described by its busiest thread, or by the first
one if no other is busier by a fifth. Calls of several threads are added up, but to no more than the run time.

Where the run was sampled by the wall clock and MPI was not traced, samples of that thread say how long it was in MPI,
in I/O, and asleep outside of them: then only waiting for a core has to be bounded. Samples have the processor time by
place too, which bounds computing from both sides.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import mean_over_most
from iolens.metrics.processor.io.ranks import rank_io
from iolens.metrics.processor.io.uneven import uneven_shares
from iolens.metrics.processor.mpi.calls import function_seconds, mpi_rows
from iolens.metrics.processor.mpi.rank_places import rank_places
from iolens.metrics.processor.sampled.groups import (
    ANY_MPI,
    ASLEEP,
    COMPUTE,
    IO,
    IO_PARTS,
    MPI,
    MPI_PARTS,
    MPIIO,
    OFF_CORE,
    OMP,
    OPENMP,
    OUTSIDE,
    PARTS,
    PROFILER,
    RUNNABLE,
    START,
    SYNC,
    TOOL,
    UNKNOWN,
    UNTRACED,
    mpi_part,
    part_of,
)
from iolens.metrics.processor.sampled.samples import is_sampled, sample_rows
from iolens.metrics.processor.usage import BUSIER, CoreUse, core_use

Parts = dict[str, np.ndarray]
"""For each part of the time, an array with the seconds of each rank."""

_ROUNDING = 1e-6
"""Relative error allowed in sums of times."""

_IN_USER_MODE = (*MPI_PARTS, OPENMP, START, PROFILER, *(part for part in IO_PARTS if part != "I/O in POSIX"))
"""Parts of the time inside calls that may use a core outside the kernel."""


@once_per_job
def rank_time(job: Job) -> Records | None:
    """Returns the seconds of each `rank` by PARTS, which add up to the run time.

    None for a log that has neither processor times nor times of MPI calls nor samples by the wall clock: it cannot tell
    computing from waiting.
    """
    ranks, use = max(1, job.nprocs), core_use(job)
    rows = sample_rows(job) if is_sampled(job) else None
    if is_traced(job) or (rows is None and (use is not None or summed_mpi(job) is not None)):
        found = _from_calls(job, use)
    elif rows is not None:
        return _from_samples(_of_busiest_threads(rows), np.full(ranks, job.run_time), use)
    else:
        return None
    return Records({"rank": np.arange(ranks), **found})


@once_per_job
def is_traced(job: Job) -> bool:
    """Returns True if MPI calls were timed."""
    return mpi_rows(job) is not None


@once_per_job
def summed_mpi(job: Job) -> np.ndarray | None:
    """Returns the seconds of each rank in MPI calls of all kinds together, if MPI was timed by Darshan's module APMPI
    alone.

    An MPI-IO library calls MPI itself, and APMPI counts these calls, too: only the time counts that MPI-IO's calls have
    no room for. None if there is no such time.
    """
    rows, ranks = job.records.get("APMPI"), max(1, job.nprocs)
    if is_traced(job) or rows is None:
        return None
    inside = _called_io(job, ranks).get(IO[MPIIO], np.zeros(ranks))
    outside = np.maximum(by_rank(rows, "time", ranks) - inside, 0.0)
    return outside if outside.any() else None


@once_per_job
def has_timed_barriers(job: Job) -> bool:
    """Returns True if the run timed a barrier before its collectives (`iolens run --mpi-sync`)."""
    mpi = mpi_rows(job)
    return mpi is not None and "sync_time" in mpi and bool((mpi["sync_time"] > 0).any())


def _has_untraced_mpi(job: Job, use: CoreUse | None) -> bool:
    """Returns True if the program may have spent time in MPI calls that nobody timed."""
    is_timed = is_traced(job) or summed_mpi(job) is not None
    return not is_timed and (job.nprocs > 1 or (use is not None and bool((use.init > 0).any())))


def _from_calls(job: Job, use: CoreUse | None) -> Parts:
    """Returns the parts of each rank from timed calls and from the kernel's counts."""
    ranks, run_time = max(1, job.nprocs), job.run_time
    found: Parts = {part: np.zeros(ranks) for part in PARTS}
    found.update(_called_io(job, ranks))
    found[OPENMP] = _sampled_openmp(job, ranks)
    mpi, places, summed = mpi_rows(job), rank_places(job), summed_mpi(job)
    if mpi is not None:
        found.update(_called_mpi(mpi, ranks))
    elif use is not None:
        found[START] = np.nan_to_num(use.init)
    if summed is not None:
        found.update(_summed_by_kind(job, summed))
    if mpi is not None and places is not None and "begin_time" in places:
        found[PROFILER] = by_rank(places, "begin_time", ranks)
    late = np.zeros(ranks) if use is None else np.nan_to_num(np.maximum(run_time - use.recorded, 0.0))
    init = np.zeros(ranks) if use is None else np.minimum(np.nan_to_num(use.init), found[START])
    # A process that did not write its log may have run on after its processor time was last recorded.
    uncounted = late if job.is_recovered else np.zeros(ranks)
    found[START] = found[START] + late - uncounted
    spent = np.asarray(sum(found.values()))
    fits = np.minimum(1.0, run_time / np.maximum(spent, 1e-300))
    found = {part: fits * values for part, values in found.items()}
    outside = np.maximum(run_time - spent - uncounted, 0.0)
    inside = np.maximum(run_time - outside - late - init, 0.0)
    computing = UNTRACED if _has_untraced_mpi(job, use) else COMPUTE
    least = _least_computing(found, init + late - uncounted, use)
    parts = found | _outside_parts(outside, inside, use, least, computing)
    parts[UNKNOWN] = parts[UNKNOWN] + np.maximum(run_time - spent - outside, 0.0)
    return parts


def _called_io(job: Job, ranks: int) -> Parts:
    """Returns the seconds of each rank in each layer of I/O; a value that is known only for all ranks together is
    spread evenly, except for the ranks that `uneven_shares` knows.
    """
    moved, uneven = rank_io(job), uneven_shares(job)
    if moved is None:
        return {}
    found = {}
    for layer, part in IO.items():
        even = by_rank(moved.where(moved["group"] == layer), "time", ranks)
        each = np.maximum(even + uneven.get(layer, 0.0), 0.0)
        found[part] = each * (even.sum() / each.sum() if each.any() else 1.0)
    return found


def _sampled_openmp(job: Job, ranks: int) -> np.ndarray:
    """Returns the seconds of each rank's busiest thread in OpenMP's library, from samples; 0 if none were taken."""
    rows = sample_rows(job) if is_sampled(job) else None
    if rows is None:
        return np.zeros(ranks)
    rows = _of_busiest_threads(rows[rows["rank"].between(0, ranks - 1)])
    who, count = rows["rank"].to_numpy(np.int64), rows["samples"].to_numpy(float)
    inside = np.bincount(who, count * (rows["group"] == OMP).to_numpy(), ranks)
    return np.asarray(job.run_time * inside / np.maximum(np.bincount(who, count, ranks), 1.0))


def _summed_by_kind(job: Job, summed: np.ndarray) -> Parts:
    """Returns the seconds of each rank in MPI calls by kind, if APMPI has them and all of them lie outside of MPI-IO;
    else the sum of all kinds.
    """
    spent = function_seconds(job)
    whole = np.sum(list(spent.values()), axis=0) if spent else np.zeros_like(summed)
    if not np.allclose(whole, summed, rtol=_ROUNDING, atol=0.0):
        return {ANY_MPI: summed}
    found: Parts = {}
    for function, seconds in spent.items():
        part = part_of(function)
        found[part] = found.get(part, 0.0) + seconds
    return found


def _called_mpi(mpi: Records, ranks: int) -> Parts:
    """Returns the seconds of each rank in MPI calls by kind; timed barriers before collectives are synchronisation."""
    part = mpi_part(mpi["function"])
    found = {name: by_rank(mpi.where(part == name), "time", ranks) for name in (*MPI_PARTS, START)}
    if "sync_time" in mpi:
        found[SYNC] = found[SYNC] + by_rank(mpi, "sync_time", ranks)
    return found


def _least_computing(found: Parts, apart: np.ndarray, use: CoreUse | None) -> np.ndarray:
    """Returns a lower bound on the seconds of computing: user-mode time that does not fit into any call. `apart`:
    seconds of `found` in MPI_Init and before the rank began, which the user time does not include. The user time is
    that of all threads, so that the bound is 0 if there are several.
    """
    if use is None:
        return np.zeros_like(apart)
    inside = sum(found[part] for part in _IN_USER_MODE) - apart
    return np.where(use.alone, np.nan_to_num(np.maximum(use.user - inside, 0.0)), 0.0)


def _outside_parts(
    outside: np.ndarray,
    inside: np.ndarray,
    use: CoreUse | None,
    least: np.ndarray,
    computing: str = COMPUTE,
    ran: np.ndarray | None = None,
    limit: np.ndarray | float = np.inf,
) -> Parts:
    """Returns the parts of the time outside calls: the certain seconds of each part, and the rest as OFF_CORE and
    UNKNOWN. `inside`: seconds in calls for which it is not known whether the rank was on a core. `least` and
    `limit`: bounds on computing from other sources. `computing`: the name of the time on a core. `ran`: seconds
    outside calls in which the rank was not asleep, from samples.
    """
    if use is None:
        return {UNKNOWN: outside} if ran is None else {computing: ran, OFF_CORE: outside - ran}
    whole, known = outside + inside, np.isfinite(use.on_core)
    told = np.isfinite(use.runnable)
    on_core = np.minimum(np.nan_to_num(use.on_core), whole)
    off = whole - on_core
    waited = np.where(told, np.minimum(np.nan_to_num(use.runnable), off), off)
    asleep = np.where(told, off - waited, 0.0)
    # In samples, a system call that never waits looks like a wait, so the kernel's count of time off the cores is the
    # limit.
    still = outside if ran is None else np.minimum(outside - ran, off)
    running = outside if ran is None else outside - still
    most = np.minimum(np.minimum(on_core, running), limit)
    floor = np.zeros_like(outside) if ran is None else running - waited
    computed = np.clip(np.maximum(np.maximum(on_core - inside, least), floor), 0.0, most)
    rested = np.maximum(asleep - inside, 0.0 if ran is None else np.where(told, still - waited, 0.0))
    rested = np.clip(rested, 0.0, outside - computed)
    room = outside - most - np.minimum(asleep, still)
    ready = np.where(told, np.clip(np.maximum(waited - inside, room), 0.0, outside - computed - rested), 0.0)
    idle = np.maximum(outside - most - rested - ready, 0.0)
    parts = {computing: computed, RUNNABLE: ready, ASLEEP: rested, OFF_CORE: idle}
    parts = {part: np.where(known, seconds, 0.0) for part, seconds in parts.items()}
    parts[UNKNOWN] = np.maximum(outside - sum(parts.values()), 0.0)
    return parts


def by_rank(rows: Records, column: str, ranks: int) -> np.ndarray:
    """Returns the sum of each rank; an amount that is known only for all ranks together (rank -1) is spread evenly."""
    values, who = rows[column].astype(float), rows["rank"].astype(np.int64)
    known = (who >= 0) & (who < ranks)
    found = np.bincount(who[known], values[known], minlength=ranks)
    return np.asarray(found + values[who < 0].sum() / ranks)


def of_first_threads(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of each rank's first thread."""
    first = rows.groupby("rank")["thread"].transform("min")
    return rows[rows["thread"] == first]


def _sampled_part(rows: pd.DataFrame) -> np.ndarray:
    """Returns the part of each row of samples; those outside calls in a system call or uninterruptible are OFF_CORE."""
    group = rows["group"].to_numpy(dtype=object)
    found = np.where(rows["blocked"], OFF_CORE, COMPUTE).astype(object)
    found[group == TOOL] = PROFILER
    found[group == OMP] = OPENMP
    for layer, part in IO.items():
        found[group == layer] = part
    calls = group == MPI
    found[calls] = mpi_part(rows["function"].to_numpy(dtype=object)[calls])
    return found


def _of_busiest_threads(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of one thread of each rank: the thread that computed most, or the first one unless another
    computed a fifth more.
    """
    computed = rows["samples"].where(_sampled_part(rows) == COMPUTE, 0)
    by_thread = computed.groupby([rows["rank"], rows["thread"]]).sum()
    chosen = {}
    for rank, counts in by_thread.groupby(level=0):
        counts = counts.droplevel(0)
        first = rows.loc[rows["rank"] == rank, "thread"].min()
        chosen[rank] = counts.idxmax() if counts.max() > BUSIER * counts[first] else first
    return rows[rows["thread"] == rows["rank"].map(chosen)]


def _from_samples(rows: pd.DataFrame, seconds: np.ndarray, use: CoreUse | None) -> Records:
    """Returns the parts of each sampled rank: its `seconds` are divided among the parts in proportion to its samples.

    A sample outside calls tells whether the thread was asleep; whether it had a core is bounded by what the kernel
    counted. The processor time by call site says how much of it was outside calls. The processor time of a system call
    is charged to a later call site, so that the error is at most the processor time in the kernel.
    """
    rows = rows[rows["rank"].between(0, len(seconds) - 1)]
    part = _sampled_part(rows)
    known, who = np.unique(rows["rank"].to_numpy(np.int64), return_inverse=True)
    counts = {name: np.bincount(who, rows["samples"] * (part == name), len(known)) for name in PARTS}
    each = seconds[known] / np.asarray(sum(counts.values()))
    found = {name: values * each for name, values in counts.items()}
    ran, still = found[COMPUTE], found[OFF_CORE]
    inside = seconds[known] - ran - still
    used = None if use is None else use.of(known)
    on_core = np.bincount(who, rows["on_core"].where(np.isin(part, (COMPUTE, OFF_CORE)), 0.0), len(known))
    elsewhere = np.nan if used is None else used.system
    least, limit = np.nan_to_num(on_core - elsewhere), np.nan_to_num(on_core + elsewhere, nan=np.inf)
    parts = _outside_parts(ran + still, inside, used, least, COMPUTE, ran, limit)
    return Records({"rank": known, **found, OFF_CORE: np.zeros(len(known)), **parts})


def whole_time(each: Records) -> np.ndarray:
    """Returns the sum of all parts of each rank's time, in seconds."""
    return np.asarray(np.sum([each[part] for part in PARTS], axis=0))


def in_parts(each: Records, parts: tuple[str, ...]) -> np.ndarray:
    """Returns the seconds of each rank in all of these parts together."""
    return np.asarray(np.sum([each[part] for part in parts], axis=0))


@once_per_job
def time_parts(job: Job) -> Records | None:
    """Returns, for each part, seconds of an average rank, share (per cent), least and most with their ranks."""
    each = rank_time(job)
    if each is None:
        return None
    mean, rank = float(whole_time(each).mean()), each["rank"]
    rows = [
        (
            *(part, values.mean(), 100 * values.mean() / mean),
            *(values.min(), rank[values.argmin()], values.max(), rank[values.argmax()]),
        )
        for part, values in each.take(*PARTS).single.items()
        if values.any()
    ]
    return Records.of(["part", "seconds", "share", "least", "least_rank", "most", "most_rank"], rows)


@dataclass(frozen=True)
class Efficiency:
    """A factor between 0 and 1, its definition, and why it is not known (NaN)."""

    name: str
    value: float
    definition: str
    unknown: str = ""


_CERTAIN = 0.01
"""Efficiencies are given only if UNKNOWN is at most this part of the time, and less than computing."""


def working_seconds(each: Records) -> float:
    """Returns the longest time of a rank without MPI_Init, MPI_Finalize and the profiler's own time. `each`: the parts
    of each rank's time.
    """
    return float((whole_time(each) - in_parts(each, (START, PROFILER))).max())


@once_per_job
def efficiencies(job: Job) -> Records | None:
    """Returns POP's efficiencies: name, value (0 to 1; NaN: not known), definition, unknown (why it is not).

    Parallel efficiency = load balance x core efficiency x I/O efficiency x communication efficiency, after the POP
    Standard Metrics (pop-coe.eu). I/O is a factor of its own, and so is time outside I/O and MPI without a core
    (asleep, blocked, waiting for a core, in OpenMP's library), so that neither counts as computing or as MPI. c:
    seconds of computing of a rank, w: of waiting outside I/O and MPI, o: of I/O, T: of the run without MPI_Init,
    MPI_Finalize and the profiler's own time, as in POP, whose region of interest begins after MPI_Init. None for a
    single process, if MPI was neither traced nor sampled, and if the run was nothing but start and end.
    """
    each = rank_time(job)
    if each is None or job.nprocs < 2 or job.run_time <= 0 or each[UNTRACED].any():
        return None
    whole = working_seconds(each)
    if whole <= 0:
        return None
    compute, moved = each[COMPUTE], in_parts(each, IO_PARTS)
    idle = in_parts(each, tuple(part for part in OUTSIDE if part != COMPUTE))
    why = ""
    apart = float(compute.max()) > float(each[UNKNOWN].max()) or not each[UNKNOWN].any()
    if not apart or float(each[UNKNOWN].mean()) > _CERTAIN * whole:
        why = "unknown: this log cannot separate computing from waiting for all of the time"
    busy, present = float((compute + idle).max()), float((compute + idle + moved).max())
    rough = "unknown: this log counts whole seconds, and the run was short" if job.coarse else ""
    found = (
        Efficiency("parallel efficiency", _known(float(compute.mean()) / whole, why), _PRODUCT, why),
        Efficiency(
            "load balance",
            _known(mean_over_most(float(compute.max()), float(compute.mean())), why),
            "avg(c) / max(c)",
            why,
        ),
        Efficiency("core efficiency", _known(_quotient(float(compute.max()), busy), why), "max(c) / max(c + w)", why),
        Efficiency("I/O efficiency", _known(_quotient(busy, present), rough), "max(c + w) / max(c + w + o)", rough),
        Efficiency("communication efficiency", _known(present / whole, rough), "max(c + w + o) / T", rough),
        Efficiency(
            "serialisation and transfer",
            float("nan"),
            "the two factors of communication efficiency",
            "unknown: POP separates them by simulating an ideal network",
        ),
        Efficiency(
            "computational scaling",
            float("nan"),
            "sum of c on the fewest ranks / sum of c on these",
            "unknown: needs runs on several numbers of ranks",
        ),
    )
    return Records.of([one.name for one in fields(Efficiency)], map(astuple, found))


_PRODUCT = "avg(c) / T; the product of the next four"


def _known(value: float, why_not: str) -> float:
    """Returns the value, or NaN if a reason is given why it is not known."""
    return float("nan") if why_not else value


def _quotient(part: float, whole: float) -> float:
    """Returns part / whole; NaN if the whole is 0."""
    return part / whole if whole else float("nan")
