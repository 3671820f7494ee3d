"""The picture of the first page: the run time of an average rank as one bar that is divided into parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.log import Job
from iolens.metrics.files.stripes.striping import unrecorded_files
from iolens.metrics.job.gauges import LITTLE_IO, is_without_io
from iolens.metrics.job.run_parts import run_parts
from iolens.metrics.job.share import io_mean_seconds, io_seconds
from iolens.metrics.processor import time
from iolens.pages import words
from iolens.pages.blocks import Block, FigureBlock
from iolens.pages.exhibits.cost import about_shares

if TYPE_CHECKING:
    from collections.abc import Iterable


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


def time_bar(job: Job) -> list[Block]:
    """Returns the bar; nothing for a log that does not know where any of the run time went."""
    parts = time.time_parts(job)
    if parts is not None:
        return [_drawn(job, _measured_parts(parts.rows("part", "seconds")), _about_parts(job))]
    found = None if is_without_io(job) else run_parts(job)
    if found is None:
        return []
    return [_drawn(job, _recorded_parts(list(found.rows("layer", "operation", "seconds"))), _about_io(job))]


def _drawn(job: Job, parts: list[tuple[str, float, str]], caption: str) -> FigureBlock:
    """Returns the figure of these parts, each with its name, seconds and colour."""
    from iolens.figures.job import time_shares

    whole = sum(seconds for _, seconds, _ in parts)
    segments = [
        time_shares.Segment(
            name, seconds, f"{name}: {words.brief_duration(seconds)}, {words.percent(seconds, whole)}", colour
        )
        for name, seconds, colour in parts
    ]
    rank = "an average rank" if job.nprocs > 1 else "the program"
    return FigureBlock(
        time_shares.time_bar_figure(segments),
        caption,
        title=f"Where the run time of {rank} went",
        says="; ".join(one.words for one in segments),
    )


def _measured_parts(rows: Iterable[tuple[str, float]]) -> list[tuple[str, float, str]]:
    """Returns the parts of the bar for a log that has measured computing, waiting, MPI and I/O."""
    from iolens.figures.job.time_shares import part_colour

    return [(part, seconds, part_colour(part)) for part, seconds in rows]


def _recorded_parts(rows: list[tuple[str, str, float]]) -> list[tuple[str, float, str]]:
    """Returns the parts of the bar for a log that has only the times of I/O: layers and operations, small ones
    together, and the rest of the run.
    """
    from iolens.figures.job.time_shares import operation_colour

    least = _SMALL * sum(seconds for _, _, seconds in rows)
    large = [row for row in rows if row[2] >= least and row[1]]
    small = sum(seconds for _, operation, seconds in rows if operation and seconds < least)
    layers = list(dict.fromkeys(layer for layer, _, _ in large))
    found = [
        (f"{layer} {operation}", seconds, operation_colour(operation, layers.index(layer)))
        for layer, operation, seconds in large
    ]
    if small:
        found.append(("other I/O" if large else "all I/O", small, operation_colour("all", len(layers))))
    rest = sum(seconds for _, operation, seconds in rows if not operation)
    return [*found, (_NOT_RECORDED, rest, operation_colour("", 0))]


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
