"""MPI-IO: hints requested and effective, who really wrote, and where the time of collective calls went."""

from __future__ import annotations

from dataclasses import replace

from iolens.log import Job
from iolens.metrics.job.interfaces import extra, hdf5, mpiio
from iolens.pages import words
from iolens.pages.exhibit import EVERY, Column, Exhibit
from iolens.pages.exhibits.storage.families import FAMILY_SIZE


def no_hints(job: Job) -> str:
    """Returns the reason why a job with MPI-IO has no hints."""
    if "MPI-IO" not in job.records:
        return ""
    if "mpiio_hints" in job.private:
        return "MPI-IO hints: the program gave no hints, and the library reported none."
    return f"MPI-IO hints: n/a, this log does not record them ({mpiio.hints_unknown(job)})."


HINTS: Exhibit[Job] = Exhibit(
    name="hints",
    title="MPI-IO hints",
    metric=mpiio.hints,
    whole=lambda job: mpiio.hints(job, by_family=False),
    listed=mpiio.hints,
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("hint", "key"),
        Column("requested", "requested", lambda value: value or "not given"),
        Column("from outside", "given", optional=True),
        Column("effective", "effective", lambda value: value or "n/a"),
    ],
    note="Effective: the value of MPI_File_get_info before the file was closed; n/a: it had none. Some libraries only "
    "repeat the requested value: compare with the ranks that wrote.",
    absent=no_hints,
)

HDF5_SETTINGS: Exhibit[Job] = Exhibit(
    name="hdf5_settings",
    title="HDF5 settings from outside",
    metric=hdf5.hdf5_settings,
    whole=lambda job: hdf5.hdf5_settings(job, by_family=False),
    listed=hdf5.hdf5_settings,
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("setting", "key"),
        Column("requested", "requested", lambda value: value or "n/a"),
        Column("from outside", "given"),
        Column("effective", "effective", lambda value: value or "n/a"),
    ],
    note="Given by iolens run --hdf5 when the file was opened. Effective: the value that HDF5 reports of the open "
    "file; n/a: the file or this HDF5 has no such setting (coll_metadata needs files opened through MPI-IO).",
)

NOT_COLLECTIVE: Exhibit[Job] = Exhibit(
    name="hdf5_not_collective",
    title="HDF5 transfers that should have been collective",
    metric=hdf5.not_collective,
    whole=lambda job: hdf5.not_collective(job, by_family=False),
    listed=hdf5.not_collective,
    columns=[
        Column("dataset", "dataset"),
        replace(FAMILY_SIZE, head="datasets", source="datasets"),
        Column("cause", "cause"),
        Column("calls", "calls", words.count),
        Column("collective", "collective", words.count),
        Column("ranks", "ranks", words.count),
        Column("causing ranks", "causing", words.count),
        Column("slowest rank, s", "seconds", words.seconds),
        Column("called in", "place", optional=True),
    ],
    note="The cause is HDF5's own answer (H5Pget_mpio_no_collective_cause) after each read and write for which the "
    "program asked for a collective transfer. A call with several causes stands in several rows.",
)

AGGREGATORS: Exhibit[Job] = Exhibit(
    name="aggregators",
    title="Who wrote to the files that several ranks opened",
    metric=mpiio.aggregators,
    whole=lambda job: mpiio.aggregators(job, EVERY, by_family=False),
    listed=lambda job: mpiio.aggregators(job, EVERY),
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("writers", ("writers", "others"), mpiio.writer_count),
        Column("their ranks", "writers", mpiio.listed_ranks),
        Column("written", "bytes", words.size),
        Column("writes", "writes", words.count),
        Column("most common", "common_write", words.exact_size),
        Column("largest", "largest_write", words.exact_size),
        Column("unaligned", "not_aligned", words.share),
    ],
    note="Ranks with POSIX writes: with collective buffering, the observed aggregators. Unaligned: the offset is "
    "not a multiple of the file's alignment.",
)

COLLECTIVES: Exhibit[Job] = Exhibit(
    name="collectives",
    title="Collective MPI-IO: parts of the time of a rank",
    metric=mpiio.collective_time,
    whole=lambda job: mpiio.collective_time(job, by_family=False),
    listed=mpiio.collective_time,
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("who", "who"),
        Column("ranks", "ranks", words.count),
        Column("calls", "calls", words.ratio),
        Column("in calls, s", "seconds", words.seconds),
        Column("waiting, s", "waiting", words.seconds),
        Column("file access, s", "access", words.seconds),
        Column("exchange, s", "exchange", words.seconds),
    ],
    note="Means over these ranks. Waiting: time until the last rank had entered the call; file access: POSIX time "
    "inside the call; exchange: the rest. Aggregators: ranks that accessed the file. n/a: ranks made different "
    "numbers of calls, or POSIX did not record their accesses to the file.",
)

OTHER_MPIIO_CALLS: Exhibit[Job] = Exhibit(
    name="other_mpiio_calls",
    title="Other MPI-IO calls",
    metric=extra.other_mpiio_calls,
    columns=[
        Column("calls", "call"),
        Column("count", "count", words.count),
        Column("files", "files", words.count),
        Column("all ranks, s", "seconds", words.seconds),
    ],
    note="Sums over all ranks; Darshan has no counters for these calls. Split ends: the second halves of split "
    "collective calls, which may do all of the work.",
)
