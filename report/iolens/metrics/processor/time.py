"""One answer first: how much of the time was computing, waiting, moving messages, and I/O; and POP's efficiencies."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from iolens.log.records import Records
from iolens.metrics.once import once_per_job
from iolens.metrics.processes import rank_usage
from iolens.metrics.processor.groups import MPI, MPIIO, POSIX, STDIO
from iolens.metrics.processor.imbalance import load_balance
from iolens.metrics.processor.io import rank_io
from iolens.metrics.processor.mpi import mpi_rows
from iolens.metrics.processor.private import records
from iolens.metrics.processor.rank_places import rank_places
from iolens.metrics.processor.samples import sample_rows

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

COMPUTE, WAITING, TRANSFER, START, IO = "compute", "MPI waiting", "MPI transfer", "MPI start and end", "I/O"
PARTS = (COMPUTE, WAITING, TRANSFER, START, IO)

WAITS = (
    r"MPI_(Barrier|Ibarrier|Wait|Waitall|Waitany|Waitsome|Test|Testall|Testany|Testsome|Probe|Iprobe|Mprobe|Improbe"
    r"|Request_get_status(_all|_any|_some)?|Parrived|Win_wait|Win_test"
    r"|Buffer_(flush|detach)|(Comm|Session)_(flush|detach)_buffer)"
)
STARTS = r"MPI_(Init|Init_thread|Finalize|Session_init|Session_finalize)"
IO_GROUPS = (MPIIO, POSIX, STDIO)


@once_per_job
def rank_time(job: Job) -> Records | None:
    """Seconds of each `rank` by PARTS; None where neither MPI was traced nor the program sampled.

    Traced: I/O is the time in POSIX, STDIO and MPI-IO calls; MPI waiting that in barriers, waits, tests and probes, in
    flushes of buffers, and in the timed barriers before collectives where the run had it; MPI start and end that in
    MPI_Init and MPI_Finalize, and what the profiler added to MPI_Init; MPI transfer all other MPI time, so waiting
    inside receives and collectives is in it. Computing is the rest of the run time. Calls of several threads are added;
    where that is more than the run time, their parts are scaled down to it. I/O that the log knows of all ranks
    together is spread evenly.

    Sampled: the shares of the samples of each rank's first thread, as parts of the run time, by the same names; sampled
    by the processor's time, those of all threads, as parts of the time that the rank's processors worked.
    """
    traced = mpi_rows(job)
    if traced is not None:
        return from_calls(job.run_time, max(1, job.nprocs), traced, rank_io(job), rank_places(job))
    rows = sample_rows(job)
    if rows is None:
        return None
    if not is_of_processors(job):
        return from_samples(of_first_threads(rows), np.full(max(1, job.nprocs), job.run_time))
    used = rank_usage(job)
    if used is None or len(used) < job.nprocs:
        return None
    return from_samples(rows, (used["user_time"] + used["system_time"])[: max(1, job.nprocs)])


def is_traced(job: Job) -> bool:
    """Whether `rank_time` comes from calls; else from samples."""
    return mpi_rows(job) is not None


def is_of_processors(job: Job) -> bool:
    """Whether `rank_time` tells of the processors' time alone, in which no waiting is: samples by their clock."""
    rows = records(job, "sampling")
    return not is_traced(job) and rows is not None and bool((rows["timer"] == "cpu").any())


def mpi_part(functions: np.ndarray) -> np.ndarray:
    """For each call, by the name of its MPI function, the part of the time that it belongs to: one of `PARTS`."""
    parts = {name: part_of(name) for name in set(functions.tolist())}
    return np.array([parts[name] for name in functions.tolist()], object)


def part_of(function: str) -> str:
    """The part of the time that a call of this MPI function belongs to: its start, waiting, or moving messages."""
    return START if re.fullmatch(STARTS, function) else WAITING if re.fullmatch(WAITS, function) else TRANSFER


@once_per_job
def has_timed_barriers(job: Job) -> bool:
    """Whether the run timed a barrier before its collectives (`iolens run --mpi-sync`)."""
    mpi = mpi_rows(job)
    return mpi is not None and "sync_time" in mpi and bool((mpi["sync_time"] > 0).any())


def from_calls(run_time: float, ranks: int, mpi: Records, moved: Records | None, places: Records | None) -> Records:
    """`rank_time` of calls that were timed, `mpi` and those of I/O, `moved`; `places` has the start of MPI. Seconds.

    Where threads call at the same time, their times may add up to more than the run time: then all parts are scaled so
    that they fit, and nothing is left for computing.
    """
    part = mpi_part(mpi["function"])
    found = {name: by_rank(mpi.where(part == name), "time", ranks) for name in (WAITING, TRANSFER, START)}
    if "sync_time" in mpi:
        found[WAITING] = found[WAITING] + by_rank(mpi, "sync_time", ranks)
    if places is not None and "begin_time" in places:
        found[START] = found[START] + by_rank(places, "begin_time", ranks)
    found[IO] = np.zeros(ranks) if moved is None else by_rank(moved, "time", ranks)
    spent = sum(found[name] for name in PARTS[1:])
    fits = np.minimum(1.0, run_time / np.maximum(spent, 1e-300))
    found = {name: fits * values for name, values in found.items()}
    return Records({"rank": np.arange(ranks), COMPUTE: np.maximum(run_time - spent, 0.0), **found})


def by_rank(rows: Records, column: str, ranks: int) -> np.ndarray:
    """Sums of each rank; what is known of all together (rank -1) is spread evenly."""
    values, who = rows[column].astype(float), rows["rank"].astype(np.int64)
    known = (who >= 0) & (who < ranks)
    found = np.bincount(who[known], values[known], minlength=ranks)
    return np.asarray(found + values[who < 0].sum() / ranks)


def of_first_threads(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of each rank's first thread."""
    first = rows.groupby("rank")["thread"].transform("min")
    return rows[rows["thread"] == first]


def from_samples(rows: pd.DataFrame, seconds: np.ndarray) -> Records:
    """`rank_time` of samples: each rank's `seconds` are shared out to the parts as its samples are."""
    rows = rows[rows["rank"].between(0, len(seconds) - 1)]
    calls = mpi_part(rows["function"].to_numpy(dtype=object))
    part = np.where(rows["group"].isin(IO_GROUPS), IO, np.where(rows["group"] == MPI, calls, COMPUTE))
    known, who = np.unique(rows["rank"], return_inverse=True)
    counts = [np.bincount(who, rows["samples"] * (part == name), len(known)) for name in PARTS]
    each = seconds[known] / np.sum(counts, axis=0)
    return Records({"rank": known, **{name: one * each for name, one in zip(PARTS, counts, strict=True)}})


def whole_time(each: Records) -> np.ndarray:
    """The sum of all parts of each rank's time, in seconds."""
    return np.asarray(np.sum([each[part] for part in PARTS], axis=0))


@once_per_job
def time_parts(job: Job) -> Records | None:
    """Of each part: seconds of an average rank, share (per cent), least and most with their ranks. As `rank_time`."""
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


@once_per_job
def efficiencies(job: Job) -> Records | None:
    """POP's efficiencies: name, value (0 to 1; NaN: not known), definition, unknown (why it is not).

    Parallel efficiency = load balance x I/O efficiency x communication efficiency, after the POP Standard Metrics
    (pop-coe.eu) with I/O as a factor of its own, so that what a rank spends in I/O counts as neither computing nor MPI.
    c: seconds of computing of a rank, o: of I/O, T: the run time. None for a single process, and where the run time
    was not measured in parts.
    """
    each = rank_time(job)
    if each is None or job.nprocs < 2 or job.run_time <= 0 or is_of_processors(job):
        return None
    compute, both, whole = each[COMPUTE], each[COMPUTE] + each[IO], float(whole_time(each).max())
    busiest = float(both.max())
    found = (
        Efficiency("parallel efficiency", float(compute.mean()) / whole, "avg(c) / T; the product of the next three"),
        Efficiency("load balance", load_balance(float(compute.max()), float(compute.mean())), "avg(c) / max(c)"),
        Efficiency(
            "I/O efficiency", float(compute.max()) / busiest if busiest else float("nan"), "max(c) / max(c + o)"
        ),
        Efficiency("communication efficiency", busiest / whole, "max(c + o) / T"),
        Efficiency(
            "serialisation and transfer",
            float("nan"),
            "the two factors of communication efficiency",
            "not known: POP tells them apart by simulating an ideal network",
        ),
        Efficiency(
            "computational scaling",
            float("nan"),
            "sum of c on the fewest ranks / sum of c on these",
            "not known: takes runs on several numbers of ranks",
        ),
    )
    return Records.of([one.name for one in fields(Efficiency)], map(astuple, found))
