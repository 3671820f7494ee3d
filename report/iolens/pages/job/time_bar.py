"""The picture of the first page: the run time of an average rank as one bar that is divided into parts."""

from __future__ import annotations

from dataclasses import dataclass

from iolens.log import Job
from iolens.metrics.files.stripes.striping import unrecorded_files
from iolens.metrics.job.gauges import LITTLE_IO, is_without_io
from iolens.metrics.job.share import io_mean_seconds, io_seconds, run_parts
from iolens.metrics.processor import time
from iolens.pages.base import words
from iolens.pages.base.blocks import Block, FigureBlock
from iolens.pages.exhibits.overview import about_shares

_SMALL = 0.001
"""Minimum share of the run for a part of its own; smaller parts are drawn together."""

_UNEVEN = 1.1
"""Minimum ratio of the slowest rank's I/O time to the average rank's for which the caption gives both."""

_WAITED_FOR = 2.0
"""If the slowest rank's I/O time is at least this multiple of the average rank's, the caption says that the other ranks
may have waited. The bar shows an average rank, but the verdict counts the slowest one.
"""

_LIBRARIES = {"H5D": "HDF5", "PNETCDF_VAR": "PnetCDF"}
"""Modules of libraries above MPI-IO and POSIX, whose own time is not in the bar's parts of I/O."""

_NOT_RECORDED = "not recorded by this log"


@dataclass(frozen=True)
class TimePart:
    """A part of the run time of an average rank. A part from the times of I/O alone has its operation ("" for the time
    outside I/O) and the position of its layer; `operation` is None if computing and MPI were measured too.
    """

    name: str
    seconds: float
    operation: str | None = None
    layer: int = 0


def parts_of_time(job: Job) -> list[TimePart]:
    """Returns the parts of the run time of an average rank; empty for a log that does not know where any of it went."""
    parts = time.time_parts(job)
    if parts is not None:
        return [TimePart(name, seconds) for name, seconds in parts.rows("part", "seconds")]
    found = None if is_without_io(job) else run_parts(job)
    return [] if found is None else _recorded_parts(list(found.rows("layer", "operation", "seconds")))


def time_bar(job: Job) -> list[Block]:
    """Returns the bar; nothing for a log that does not know where any of the run time went."""
    parts = parts_of_time(job)
    if not parts:
        return []
    return [_drawn(job, parts, _about_parts(job) if parts[0].operation is None else _about_io(job))]


def _drawn(job: Job, parts: list[TimePart], caption: str) -> FigureBlock:
    """Returns the figure of these parts."""
    from iolens.figures import job_times

    whole = sum(part.seconds for part in parts)
    segments = [
        job_times.Segment(
            part.name,
            part.seconds,
            f"{part.name}: {words.brief_duration(part.seconds)}, {words.percent(part.seconds, whole)}",
            job_times.part_colour(part.name)
            if part.operation is None
            else job_times.operation_colour(part.operation, part.layer),
        )
        for part in parts
    ]
    rank = "an average rank" if job.nprocs > 1 else "the program"
    return FigureBlock(
        job_times.time_bar_figure(segments),
        caption,
        title=f"Where the run time of {rank} went",
        says="; ".join(one.words for one in segments),
    )


def _recorded_parts(rows: list[tuple[str, str, float]]) -> list[TimePart]:
    """Returns the parts for a log that has only the times of I/O: layers and operations, small ones together, and the
    rest of the run.
    """
    least = _SMALL * sum(seconds for _, _, seconds in rows)
    large = [row for row in rows if row[2] >= least and row[1]]
    small = sum(seconds for _, operation, seconds in rows if operation and seconds < least)
    layers = list(dict.fromkeys(layer for layer, _, _ in large))
    found = [
        TimePart(f"{layer} {operation}", seconds, operation, layers.index(layer)) for layer, operation, seconds in large
    ]
    if small:
        found.append(TimePart("other I/O" if large else "all I/O", small, "all", len(layers)))
    rest = sum(seconds for _, operation, seconds in rows if not operation)
    return [*found, TimePart(_NOT_RECORDED, rest, "")]


def _about_parts(job: Job) -> str:
    """Returns the caption for parts that were measured."""
    several = job.nprocs > 1
    mean = f"Mean of {words.plural(job.nprocs, 'rank')}. " if several else ""
    differ = " and how ranks differ" if several else ""
    return f"{mean}“Computing, MPI and I/O” says what each part holds{differ}.{about_shares(job)}"


def _about_io(job: Job) -> str:
    """Returns the caption for a log that has only the times of I/O."""
    said = []
    if "MPI-IO" in job.records:
        said.append("The time in a file counts in MPI-IO if it recorded the file, else in the layer below.")
    mean, slowest = io_mean_seconds(job), io_seconds(job)
    if job.nprocs > 1 and mean is not None and slowest is not None:
        much = f"Mean of {words.plural(job.nprocs, 'rank')}: {words.duration(mean)} in I/O"
        much += f", on the slowest rank up to {words.duration(slowest)}" if slowest > _UNEVEN * mean else ""
        is_waited_for = slowest > _WAITED_FOR * mean and slowest >= LITTLE_IO * job.run_time
        much += ", for which the others may have waited" if is_waited_for else ""
        said.insert(0, f"{much}.")
    hidden = ", and I/O of files without a record" if unrecorded_files(job) else ""
    above = " and ".join(name for module, name in _LIBRARIES.items() if module in job.records)
    itself = f", with the time that {above} {'take' if ' ' in above else 'takes'} above these layers" if above else ""
    said.append(f"Not recorded: computing, communication and waiting outside I/O{itself}{hidden}.")
    return " ".join(said) + about_shares(job)
