"""The run time by traced groups and functions whose times do not overlap, and the rest."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import labelled, stacked
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask, kept, matching_ranks
from iolens.metrics.processor.mpi.calls import mpi_rows
from iolens.metrics.processor.mpi.rank_places import rank_places
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer
from iolens.metrics.processor.sampled.groups import TOOL, USER
from iolens.metrics.processor.time import by_rank
from iolens.metrics.processor.traced.functions import COLUMNS, group_rows, timed_rows, with_inclusive
from iolens.metrics.processor.traced.functions import LEVELS as BALANCE

LEVELS = Levels(BALANCE.known, ("group", "function"))
_MEASURES = Measures("time", ("calls",))

_MPI_SYNC, NOT_TRACED, _OTHER = "MPI_SYNC", "(not traced)", "OTHER"


@once_per_job
def profile_time(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns seconds of an average rank by group and function: rows of `drill`; None if nothing was timed.

    The rows below Total do not overlap, and add up to the run time: `time` in POSIX, STDIO and MPI-IO beyond POSIX
    (read, write, meta), in MPI functions, in the timed barriers before collectives (MPI_SYNC), the exclusive times of
    traced functions, what the profiler added to MPI_Init (IOLENS), and the rest. The rest has the group USER if MPI was
    traced or there is one process; otherwise it may include MPI, and its group is OTHER. Calls of several threads are
    added and the rest is at least 0, so that the sum may exceed the run time. A sum over several ranks is spread evenly
    over them. `calls` are 0 in rows without a count.

    The inclusive times of the program's own functions, and of those of libraries, follow below a second row of depth 0;
    their share is of all time of the ranks, whatever the filter, and their groups have no sum (NaN).
    """
    apart = _rows_apart(job)
    found = answer(job, apart, LEVELS, _MEASURES, ask)
    if apart is None:
        return None
    of_ranks = tuple(one for one in ask.where if one.name == PE)
    ranks = matching_ranks(ask.where, max(job.nprocs, 1))
    whole = float(kept(apart, of_ranks)["time"].sum()) / max(ranks, 1)
    return with_inclusive(job, found, LEVELS, _MEASURES, ask, whole)


@once_per_job
def _rows_apart(job: Job) -> Records | None:
    """Returns `timed_rows` with the timed barriers, the time that the profiler added, and the rest of each rank; None
    if nothing was timed.
    """
    spent = timed_rows(job)
    if spent is None:
        return None if group_rows(job) is None else _rest(job, None)
    spent = stacked([spent, *_timed_barriers(job), *_start_of(job)])
    return stacked([spent, _rest(job, spent)])


def _timed_barriers(job: Job) -> list[Records]:
    """Returns the time in barriers before MPI functions as rows of separate functions."""
    messages = mpi_rows(job)
    if messages is None or "sync_time" not in messages:
        return []
    waited = labelled(labelled(messages.where(messages["sync_time"] > 0), "group", _MPI_SYNC), "file", "")
    function = np.array([f"{name}(sync)" for name in waited["function"].tolist()], object)
    columns = {"function": function, "time": waited["sync_time"], "calls": np.zeros(len(waited), np.int64)}
    return [waited.beside(columns).take(*COLUMNS)]


def _start_of(job: Job) -> list[Records]:
    """Returns the time that the profiler added to MPI_Init of each rank, if MPI was traced."""
    places = rank_places(job)
    if mpi_rows(job) is None or places is None or "begin_time" not in places:
        return []
    return [_made(places["rank"], TOOL, "(added to MPI_Init)", places["begin_time"])]


def _rest(job: Job, spent: Records | None) -> Records:
    """Returns the seconds of each rank's run time that were not traced; 0 if more than the run time was traced, as with
    several threads.
    """
    ranks = max(job.nprocs, 1)
    used = np.zeros(ranks) if spent is None else by_rank(spent, "time", ranks)
    group = USER if ranks == 1 or mpi_rows(job) is not None else _OTHER
    return _made(np.arange(ranks), group, NOT_TRACED, np.maximum(job.run_time - used, 0.0))


def _made(rank: np.ndarray, group: str, function: str, time: np.ndarray) -> Records:
    """Returns one row for each of these ranks, with its seconds (`time`) and 0 calls."""
    texts = {"group": group, "function": function, "file": "", "region": ""}
    columns = {name: np.full(len(rank), text, object) for name, text in texts.items()}
    return Records({"rank": rank, **columns, "calls": np.zeros(len(rank), np.int64), "time": time})
