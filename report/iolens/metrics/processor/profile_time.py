"""Where the run time went by what was traced: groups and functions whose times do not overlap, and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.log.records import Records
from iolens.metrics.grouping import labelled, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask, kept, matching_ranks
from iolens.metrics.processor.balance import LEVELS as BALANCE
from iolens.metrics.processor.drill import Levels, Measures, answer, drill
from iolens.metrics.processor.groups import MPI, TOOL, USER
from iolens.metrics.processor.imbalance import NOT_KNOWN
from iolens.metrics.processor.io import rank_io
from iolens.metrics.processor.mpi import mpi_rows
from iolens.metrics.processor.rank_places import rank_places
from iolens.metrics.processor.regions import with_regions
from iolens.metrics.processor.time import by_rank
from iolens.metrics.processor.traced import COLUMNS, OWN, group_rows
from iolens.metrics.processor.traced_names import named

if TYPE_CHECKING:
    from iolens.log import Job

LEVELS = Levels(BALANCE.known, ("group", "function"))
MEASURES = Measures("time", ("calls",))

MPI_SYNC, NOT_TRACED, OTHER = "MPI_SYNC", "(not traced)", "OTHER"
INSIDE = "Times with what was called, in no sum"

LEAVES = ("blas", "math")
"""Traced groups whose functions call nothing that has a row of its own: their times overlap no others."""


@once_per_job
def profile_time(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Seconds of an average rank by group and function: rows of `drill`; None where nothing was timed.

    The rows below Total overlap nowhere and make up the run time: `time` in POSIX, STDIO and MPI-IO beyond POSIX
    (read, write, meta), in MPI functions, in the timed barriers before collectives (MPI_SYNC), in BLAS and libm where
    they were traced, what the profiler added to MPI_Init (IOLENS), and the rest: of group USER where MPI was traced or
    there is one process, else OTHER, for MPI is in it. Calls of several threads are added; the rest is at least 0, so
    that their sum may be more than the run time. Ranks that are known together count evenly. `calls` of rows that
    counted none are 0.

    The program's own functions and those of other traced groups hold what they called, rows above included: they
    follow below a second row of depth 0, their share is of all time of the ranks, whatever else is filtered by, and
    their groups have no sum (NaN).
    """
    apart = rows_apart(job)
    found = answer(job, apart, LEVELS, MEASURES, ask)
    inside = inclusive_rows(job)
    by = ask.by or LEVELS.default
    if apart is None or found is None or inside is None or "function" not in by:
        return found
    ranks = matching_ranks(ask.where, max(job.nprocs, 1))
    of_ranks = tuple(one for one in ask.where if one.name == PE)
    whole = float(kept(apart, of_ranks)["time"].sum()) / max(ranks, 1)
    below = drill(kept(inside, ask.where), by, MEASURES, ranks, ask.threshold, whole)
    return found if len(below) < 2 else one_below_the_other(found, below, 1 + by.index("function"))


def one_below_the_other(found: Records, below: Records, depth: int) -> Records:
    """Both tables; what is above functions (at `depth`) in the second one has names, and no numbers."""
    sums = below["depth"] < depth
    unknown = {
        name: np.where(sums, NOT_KNOWN, below[name])
        for name in ("time", "calls", "share", "imbalance", "imbalance_percent", "most", "most_rank")
    }
    names = np.where(below["depth"] == 0, INSIDE, below["name"])
    inside = below.beside({**unknown, "name": names})
    rows = stacked([found, inside]) if len(found) else inside
    rows.left_out = found.left_out + below.left_out
    return rows


@once_per_job
def rows_apart(job: Job) -> Records | None:
    """rank, group, function, file, region, calls, time (seconds), of which no two overlap, with the rest of each rank;
    None where nothing was timed."""
    moved, messages, others = rank_io(job), mpi_rows(job), group_rows(job)
    parts = []
    if moved is not None:
        parts.append(labelled(moved, "region", ""))
    if messages is not None:
        parts += [*mpi_parts(messages), *start_of(job)]
    if others is not None:
        parts.append(in_capitals(with_regions(job, others.where(np.isin(others["group"], LEAVES)))))
    parts = [part.take(*COLUMNS) for part in parts if len(part)]
    if not parts:
        return None if others is None else rest(job, None)
    spent = stacked(parts)
    return stacked([spent, rest(job, spent)])


def mpi_parts(messages: Records) -> list[Records]:
    """MPI functions, and the barriers before them as functions of their own."""
    calls = labelled(labelled(messages, "group", MPI), "file", "")
    if "sync_time" not in messages:
        return [calls]
    waited = calls.where(calls["sync_time"] > 0)
    function = np.array([f"{name}(sync)" for name in waited["function"].tolist()], object)
    columns = {"function": function, "time": waited["sync_time"], "calls": np.zeros(len(waited), np.int64)}
    return [calls, labelled(waited, "group", MPI_SYNC).beside(columns)]


def start_of(job: Job) -> list[Records]:
    """What the profiler added to MPI_Init of each rank."""
    places = rank_places(job)
    if places is None or "begin_time" not in places:
        return []
    return [made(places["rank"], TOOL, "(added to MPI_Init)", places["begin_time"])]


def rest(job: Job, spent: Records | None) -> Records:
    """What is left of the run time of each rank."""
    ranks = max(job.nprocs, 1)
    used = np.zeros(ranks) if spent is None else by_rank(spent, "time", ranks)
    group = USER if ranks == 1 or mpi_rows(job) is not None else OTHER
    return made(np.arange(ranks), group, NOT_TRACED, np.maximum(job.run_time - used, 0.0))


def made(rank: np.ndarray, group: str, function: str, time: np.ndarray) -> Records:
    """A row a rank, which counted no calls."""
    texts = {"group": group, "function": function, "file": "", "region": ""}
    columns = {name: np.full(len(rank), text, object) for name, text in texts.items()}
    return Records({"rank": rank, **columns, "calls": np.zeros(len(rank), np.int64), "time": time})


@once_per_job
def inclusive_rows(job: Job) -> Records | None:
    """The same columns, of traced functions that hold what they called: those in no group of LEAVES."""
    rows = group_rows(job)
    if rows is None or not len(rows := rows.where(~np.isin(rows["group"], LEAVES))):
        return None
    return in_capitals(with_regions(job, named(job, rows))).take(*COLUMNS)


def in_capitals(rows: Records) -> Records:
    """The rows with their groups in pat_report's words, and no file."""
    names = [USER if name == OWN else name.upper() for name in rows["group"].tolist()]
    return labelled(rows, "file", "").beside({"group": np.array(names, object)})
