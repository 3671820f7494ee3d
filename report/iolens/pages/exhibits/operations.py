"""The number of calls of each operation, their sizes and alignment; MPI-IO's hints, who really wrote, and where the
time of collective calls went.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.job.interfaces import hdf5, mpiio, operations, private_counts
from iolens.missing import is_nan
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.columns import FAMILY_SIZE
from iolens.pages.base.exhibit import EVERY, Column, Exhibit

_ORDER = (
    "Sequential: at a higher offset than the process's last access to the file. Consecutive: exactly where the last "
    "access ended; only consecutive accesses make full use of read-ahead and write-behind."
)


def _operations_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields one bar per operation, without standard streams, whose calls would dwarf those on files."""
    from iolens.figures.job_times import operation_bars

    caption = "Look for opens, stats and seeks that outnumber reads and writes."
    if job.nprocs > 1:
        caption = f"Summed over all ranks. {caption}"
    printed = int(found["on_streams"].sum())
    if printed:
        caption += f" Without {words.plural(printed, 'call')} on standard input, output and error."
    in_files = found.assign(count=found["count"] - found["on_streams"])
    if not (in_files["count"] > 0).any():
        return
    names = in_files["module"] + " " + in_files["operation"]
    says = columns.largest(zip(names, in_files["count"], strict=True), words.count)
    yield FigureBlock(operation_bars(in_files), caption, title="Operations", says=says)


def _uncounted(job: Job) -> str:
    """Returns a note about operations that have no counter."""
    missing = any(count is None or is_nan(count) for count in operations.operations_called(job)["count"].tolist())
    return "n/a: this version of the log does not count it." if missing else ""


def _size_figures(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of the access sizes of each layer, as bars."""
    from iolens.figures.job_transfers import size_bars

    for name in dict.fromkeys(found["module"]):
        caption = "Look for many accesses on the left: each access has a cost, even if it is small."
        if name != "POSIX":
            caption = "Each access counts once, even if it has several pieces."
        sizes = operations.access_sizes(job, name).frame()
        named = [_size_range(bucket) for bucket in sizes["bucket"]]
        says = ". ".join(
            f"{kind} by bytes: {columns.largest(zip(named, sizes[kind], strict=True), words.count)}"
            for kind in ("reads", "writes")
        )
        yield FigureBlock(size_bars(sizes), caption, title=f"Access sizes: {name}", says=says)


def _pattern_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a bar of shares for reads and one for writes."""
    from iolens.figures.job_transfers import pattern_bars

    says = "; ".join(
        f"{row.kind}s: {words.share(row.sequential_share)} sequential, {words.share(row.consecutive_share)} consecutive"
        for row in found.itertuples()
        if row.total
    )
    yield FigureBlock(pattern_bars(found), _ORDER, title="Order of POSIX accesses", says=says)


def _size_range(bucket: str) -> str:
    """Returns a range of access sizes in words."""
    return bucket.replace("_PLUS", " and more").replace("_", " to ")


OPERATIONS: Exhibit[Job] = Exhibit(
    name="operations",
    title="Operations",
    metric=operations.operations_called,
    columns=[
        Column("layer", "module"),
        Column("operation", "operation"),
        Column("calls", "count", words.count),
        Column("on standard streams", "on_streams", words.count, optional=True),
    ],
    note=_uncounted,
    draw=_operations_figure,
)

ACCESS_SIZES: Exhibit[Job] = Exhibit(
    name="access_sizes",
    title="Access sizes",
    metric=operations.all_access_sizes,
    columns=[
        Column("layer", "module"),
        Column("bytes", "bucket", _size_range),
        Column("reads", "reads", words.count),
        Column("writes", "writes", words.count),
    ],
    draw=_size_figures,
)

COMMON_SIZES: Exhibit[Job] = Exhibit(
    name="common_sizes",
    title="Most common access sizes",
    metric=operations.all_common_sizes,
    whole=lambda job: operations.all_common_sizes(job, EVERY),
    columns=[
        Column("layer", "module"),
        Column("size", "size", words.exact_size),
        Column("accesses", "count", words.count),
    ],
    note="From the four most frequent sizes of each record, reads and writes together.",
)

PATTERN: Exhibit[Job] = Exhibit(
    name="pattern",
    title="Order of POSIX accesses",
    metric=operations.access_pattern,
    needs="total",
    columns=[
        Column("", "kind", lambda kind: f"{kind}s"),
        Column("total", "total", words.count),
        Column("sequential", "sequential_share", words.share),
        Column("consecutive", "consecutive_share", words.share),
    ],
    note=_ORDER,
    draw=_pattern_figure,
)

ALIGNMENT: Exhibit[Job] = Exhibit(
    name="alignment",
    title="Alignment and switches",
    metric=operations.alignment,
    columns=[
        Column("POSIX accesses", "what"),
        Column("count", "count", words.count),
        Column("of all", "share", words.share),
    ],
)


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
    metric=private_counts.other_mpiio_calls,
    columns=[
        Column("calls", "call"),
        Column("count", "count", words.count),
        Column("files", "files", words.count),
        Column("all ranks, s", "seconds", words.seconds),
    ],
    note="Sums over all ranks; Darshan has no counters for these calls. Split ends: the second halves of split "
    "collective calls, which may do all of the work.",
)
