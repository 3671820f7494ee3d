"""MPI calls: time, messages and their sizes, by function, call site and rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records, as_records
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask
from iolens.metrics.processor.mpi.nodes import with_callers
from iolens.metrics.processor.regions import region_paths, with_regions
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer
from iolens.metrics.processor.sampled.private import table_frame, table_records

if TYPE_CHECKING:
    from collections.abc import Collection


SIZES = tuple(f"size_{number}" for number in range(7))
"""Messages of < 16 B, < 256 B, < 4 KiB, < 64 KiB, < 1 MiB, < 16 MiB, and of 16 MiB or more: pat_report's bins."""

_FETCHING = (
    *("MPI_Get", "MPI_Rget", "MPI_Get_accumulate", "MPI_Rget_accumulate"),
    *("MPI_Fetch_and_op", "MPI_Compare_and_swap"),
)
"""Functions that bring bytes from another rank's window."""

_TIMES = Measures(
    "time", ("calls", "sync_time", "bytes_sent", "bytes_received"), {"min_time": "min", "max_time": "max"}
)
_MESSAGES = Measures("bytes_sent", ("messages", *SIZES))
CALLS = Levels(("function", "region"), ("function",))
SITES = Levels(("function", "caller", "region"), ("function", "caller", PE))


@once_per_job
def mpi_calls(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns time in MPI functions: rows of `drill`.

    `time` in the call and `sync_time` (in the timed barrier before a collective call) in seconds, `calls`,
    `bytes_sent`, `bytes_received`, and `min_time`, `max_time` of a single call.
    """
    return answer(job, mpi_rows(job), CALLS, _TIMES, ask)


@once_per_job
def mpi_messages(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the messages that MPI functions sent: rows of `drill`. `bytes_sent`, `messages`, and messages by size
    (SIZES).

    A collective call counts the rank's own contribution, a one-sided call also the bytes that it fetched.
    """
    return answer(job, _with_fetched(mpi_rows(job)), CALLS, _MESSAGES, ask)


@once_per_job
def mpi_callers(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns `mpi_messages` by call site: function, its caller, and the caller's caller, as far as the log knows."""
    return answer(job, _with_fetched(_site_rows(job)), SITES, _MESSAGES, ask)


def _with_fetched(rows: Records | pd.DataFrame | None) -> Records | None:
    """Returns the rows with the bytes that one-sided calls fetched added to `bytes_sent`, because no call of another
    rank counts them as sent.
    """
    if rows is None:
        return None
    found = as_records(rows)
    fetched = np.where(np.isin(found["function"], _FETCHING), found["bytes_received"], 0)
    moved: Records = found.beside({"bytes_sent": found["bytes_sent"] + fetched})
    return moved


@once_per_job
def mpi_sites(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the time in MPI functions by call site: the levels of `mpi_callers`, `time` in seconds and `calls`."""
    return answer(job, _site_rows(job), SITES, Measures("time", ("calls",)), ask)


@once_per_job
def mpi_rows(job: Job) -> Records | None:
    """Returns the private table `mpi_calls` with the names of regions."""
    rows = table_records(job, "mpi_calls")
    return None if rows is None else with_regions(job, rows)


@once_per_job
def _site_rows(job: Job) -> pd.DataFrame | None:
    """Returns the private table `mpi_sites` with the names of regions, and with `caller 1` (the innermost), `caller 2`
    …
    """
    rows = table_frame(job, "mpi_sites")
    if rows is None:
        return None
    return with_callers(job, rows.assign(region=region_paths(job, rows["region"])))


@once_per_job
def late_receives(job: Job) -> Records | None:
    """Returns the columns function, calls, late (receives that began after their message had arrived) and share (per
    cent of the calls), over all ranks; None if late receives were not counted, or there was none.
    """
    rows = mpi_rows(job)
    if rows is None or "late_receives" not in rows or not rows["late_receives"].any():
        return None
    same = Groups(rows["function"])
    found = {"function": rows["function"][same.first]}
    found |= {name: same.sum(rows[column]) for name, column in (("calls", "calls"), ("late", "late_receives"))}
    late = ordered(Records(found).where(found["late"] > 0), "-late", "function")
    return late.beside({"share": 100.0 * late["late"] / late["calls"]})


def of_functions(rows: Records, names: Collection[str]) -> Records:
    """Returns the rows of some functions."""
    return rows.where(np.isin(rows["function"], [*names]))


def slowest(rows: Records) -> float:
    """Returns the seconds that the slowest rank spent in these calls, among the ranks with rows of their own."""
    rows = rows.where(rows["rank"] >= 0)
    return float(Groups(rows["rank"]).sum(rows["time"]).max(initial=0.0))
