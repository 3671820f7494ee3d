"""MPI calls: time, messages and their sizes, by function, call site and rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask
from iolens.metrics.processor.drill import Levels, Measures, answer
from iolens.metrics.processor.nodes import with_callers
from iolens.metrics.processor.private import table
from iolens.metrics.processor.regions import region_paths

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

SIZES = tuple(f"size_{number}" for number in range(7))
"""Messages of < 16 B, < 256 B, < 4 KiB, < 64 KiB, < 1 MiB, < 16 MiB, and of 16 MiB or more: pat_report's bins."""

TIMES = Measures("time", ("calls", "sync_time", "bytes_sent", "bytes_received"), {"min_time": "min", "max_time": "max"})
MESSAGES = Measures("bytes_sent", ("messages", *SIZES))
CALLS = Levels(("function", "region"), ("function",))
SITES = Levels(("function", "caller", "region"), ("function", "caller", PE))


@once_per_job
def mpi_calls(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """Time in MPI functions: rows of `drill`.

    `time` and `sync_time` (before it, in the timed barriers of collectives) in seconds, `calls`, `bytes_sent`,
    `bytes_received`, and `min_time`, `max_time` of a single call.
    """
    found: pd.DataFrame | None = answer(job, mpi_rows(job), CALLS, TIMES, ask)
    return found


@once_per_job
def mpi_messages(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """What MPI functions sent: rows of `drill`. `bytes_sent`, `messages`, and messages by size (SIZES).

    A collective counts what the rank itself contributes.
    """
    found: pd.DataFrame | None = answer(job, mpi_rows(job), CALLS, MESSAGES, ask)
    return found


@once_per_job
def mpi_callers(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """`mpi_messages` by call site: function, then who called it, and who called that, as far as the log knows."""
    found: pd.DataFrame | None = answer(job, site_rows(job), SITES, MESSAGES, ask)
    return found


@once_per_job
def mpi_sites(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """Time in MPI functions by call site: the levels of `mpi_callers`, `time` in seconds and `calls`."""
    found: pd.DataFrame | None = answer(job, site_rows(job), SITES, Measures("time", ("calls",)), ask)
    return found


@once_per_job
def mpi_rows(job: Job) -> pd.DataFrame | None:
    """The private table `mpi_calls`, regions named."""
    rows = table(job, "mpi_calls")
    return None if rows is None else rows.assign(region=region_paths(job, rows["region"]))


@once_per_job
def site_rows(job: Job) -> pd.DataFrame | None:
    """The private table `mpi_sites`, regions named, with `caller 1` (the innermost) …"""
    rows = table(job, "mpi_sites")
    if rows is None:
        return None
    return with_callers(job, rows.assign(region=region_paths(job, rows["region"])))


@once_per_job
def late_receives(job: Job) -> pd.DataFrame | None:
    """function, calls, late (receives whose message was there before) and share (per cent of the calls), of all ranks.
    None where that was not counted, or none was late."""
    rows = mpi_rows(job)
    if rows is None or "late_receives" not in rows or not rows["late_receives"].any():
        return None
    found = rows.groupby("function")[["calls", "late_receives"]].sum().rename(columns={"late_receives": "late"})
    found = found[found["late"] > 0].sort_values("late", ascending=False)
    found["share"] = 100.0 * found["late"] / found["calls"]
    return found.reset_index()
