"""The bytes transferred, the speed, and the time of an average process."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest
from iolens.metrics.job import cost
from iolens.pages import words
from iolens.pages.blocks import FigureBlock
from iolens.pages.exhibit import Column, Exhibit

_LEAST = 0.001
"""Minimum share of the run time that a layer needs for a figure; a smaller bar would be invisible."""

_MORE = 1.01
"""If the times of all calls add up to more than this multiple of the run time, calls overlapped. A smaller excess comes
from clocks that were read at different moments.
"""


def _cost_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure with shares of the run time."""
    from iolens.figures.job_transfers import cost_bars

    whose = " of an average process" if job.nprocs > 1 else ""
    caption = (
        f"Share of the run time{whose}; the number at the right is the share of read, write and metadata together."
    )
    caption += about_shares(job)
    if {"MPI-IO", "POSIX"} <= set(found["module"]):
        caption += " MPI-IO contains the POSIX time below it."
    if (found[["read", "write", "meta"]].sum(axis=1) > _MORE * job.run_time).any():
        caption += (
            " Calls overlapped, or waited for another process: their times exceed the run time, and the bar shows "
            "their parts."
        )
    parts = ["read", "write", "meta"]
    if found[parts].sum(axis=1).max() < _LEAST * job.run_time:
        return
    says = "; ".join(
        f"{row.module}: {_of_run(row.read + row.write + row.meta, job.run_time)}, most in "
        f"{max(parts, key=lambda part: getattr(row, part))}"
        for row in found.itertuples()
    )
    yield FigureBlock(cost_bars(found, job.run_time), caption, title="Average I/O cost per process", says=says)


def about_shares(job: Job) -> str:
    """Returns what the shares refer to, for a short run whose time is known to the second only; else ""."""
    return f" Shares are of {job.run_time:.0f} s, which is the most that the run can have taken." if job.coarse else ""


def _of_run(seconds: float, run_time: float) -> str:
    """Returns seconds as per cent of the run time, or "longer than the run" if overlapping calls add up to more."""
    return (
        "longer than the run" if seconds > _MORE * run_time else f"{words.percent(seconds, run_time)} of the run time"
    )


def _measured_speed(job: Job, speed: float, seconds: float) -> str:
    """Returns a layer's speed; n/a if its time is too short to tell, or longer than the run because calls
    overlapped.
    """
    return words.speed(speed or None) if cost.SHORTEST <= seconds <= _MORE * job.run_time else words.NONE


def _performance_note(job: Job) -> str:
    """Returns a note on the times and speeds of the layers."""
    spent = "time of the slowest rank in its own files, plus the time of the slowest rank of each shared file"
    return (
        f"I/O time: {spent if job.nprocs > 1 else 'time in reads, writes and metadata'}. Speed: all bytes divided by "
        "that time (an estimate; n/a without bytes, below 0.01 s of I/O, and where calls overlapped and took longer "
        "than the run). The time of a layer contains the time of the layers below it."
    )


PERFORMANCE: Exhibit[Job] = Exhibit(
    name="performance",
    title="Transferred, and how fast",
    metric=cost.performance_rows,
    columns=lambda job: [
        Column("layer", "module"),
        Column("files", "files", words.count),
        Column("read", "bytes_read", words.size),
        Column("written", "bytes_written", words.size),
        Column("I/O time", "seconds", words.brief_duration),
        Column("speed", ("mib_per_second", "seconds"), lambda speed, spent: _measured_speed(job, speed, spent)),
    ],
    note=_performance_note,
)

IO_COST: Exhibit[Job] = Exhibit(
    name="io_cost",
    title="Average seconds of a process",
    metric=cost.io_cost,
    columns=[
        Column("layer", "module"),
        *(Column(name, name, words.seconds) for name in ("read", "write", "meta", "other")),
    ],
    draw=_cost_figure,
)


def _average_note(job: Job) -> str:
    """Returns a note on the content of the rows, and on the reason if their seconds exceed the run time."""
    kinds = "Independent: files that one rank used; shared: files of several ranks. " if job.nprocs > 1 else ""
    layers = " and ".join(lowest(job))
    counted = f"Counted in {layers}. " if layers else ""
    said = f"{counted}{kinds}Metadata moves no bytes."
    spent = float(cost.average_io(job)["seconds"].sum())
    overlapped = " Calls overlapped, or waited for another process: their times exceed the run time."
    return said + (overlapped if spent > _MORE * job.run_time else "")


def _used_kinds(job: Job) -> Records:
    """Returns the average I/O without the kinds of files on which nothing was done; all kinds if nothing was done on
    any.
    """
    found = cost.average_io(job)
    used = set(found["kind"][(found["seconds"] > 0) | (np.nan_to_num(found["bytes"]) > 0)].tolist())
    return found.where(np.isin(found["kind"], sorted(used))) if used else found


AVERAGE_IO: Exhibit[Job] = Exhibit(
    name="average_io",
    title="Average I/O of a process",
    metric=_used_kinds,
    whole=cost.average_io,
    listed=_used_kinds,
    needs="seconds",
    columns=[
        Column("files", "kind"),
        Column("operation", "what"),
        Column("seconds", "seconds", words.seconds),
        Column("transferred", "bytes", words.size),
    ],
    note=_average_note,
)
