"""A job of many processes: its tree, who used which file, where processes waited, bytes over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps

from iolens.forest import files, pipeline, summary
from iolens.forest.forest import Forest
from iolens.lazy import pd
from iolens.missing import is_nan
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.columns import FAMILY_NOTE, FAMILY_SIZE
from iolens.pages.base.exhibit import Column, Exhibit

_MOST_GROUPS, _MOST_FILES, _MOST_ROWS = 60, 25, 20
_DEEPEST = 12
"""Maximum depth up to which levels of the tree are indented."""


def _indented(depth: int, name: str) -> str:
    """Returns a group's name, indented by its depth in the tree."""
    return columns.indented(min(int(depth), _DEEPEST), name)


def _limited(metric: Callable[[Forest], pd.DataFrame | None]) -> Callable[[Forest], pd.DataFrame | None]:
    """Returns a metric that gives as many rows as a page has room for, with the same definition."""

    @wraps(metric)
    def shown(forest: Forest) -> pd.DataFrame | None:
        found = metric(forest)
        return None if found is None else found.head(_MOST_ROWS)

    return shown


def _known_pid(pid: int) -> str:
    """Returns a process id, if the log or its name has it."""
    return str(pid) if pid else words.NONE


def _given_ranks(first: float, last: float) -> str:
    """Returns the range of ranks that the launcher gave to a group of processes, such as 0-7."""
    return "" if is_nan(first) else str(int(first)) if first == last else f"{int(first)}-{int(last)}"


def _shown_groups(forest: Forest) -> pd.DataFrame:
    """Returns summary.process_groups, without the lightest groups if a page does not have room for all."""
    found = summary.process_groups(forest)
    if len(found) <= _MOST_GROUPS:
        return found
    weight = (found["io_seconds"]).nlargest(_MOST_GROUPS).index
    return found.loc[weight].sort_index()


def _groups_note(forest: Forest) -> str:
    """Returns the note on the table of groups: the meaning of the indent, of a row and of its times, and what is left
    out.
    """
    left = len(summary.process_groups(forest)) - _MOST_GROUPS
    more = f" {left:,} groups with less time in I/O are left out." if left > 0 else ""
    return (
        "Indented: started by the process above. Processes that run the same program below equal parents share a row; "
        "their times in I/O are added. From and to: time since the first process began. A process that used no file "
        f"has no log; its children are shown below the next process above it.{more}"
    )


PROCESS_TREE: Exhibit[Forest] = Exhibit(
    name="process_tree",
    title="The tree of processes",
    metric=_shown_groups,
    whole=summary.process_groups,
    columns=[
        Column("", ("depth", "name"), _indented),
        Column("rank", ("first_rank", "last_rank"), _given_ranks, optional=True),
        Column("MPI ranks", "mpi_ranks", words.count, optional=True),
        Column("from, s", "start", words.seconds),
        Column("to, s", "end", words.seconds),
        Column("longest, s", "longest", words.seconds),
        Column("files", "files", words.count),
        Column("read", "bytes_read", words.size),
        Column("written", "bytes_written", words.size),
        Column("in I/O, s", "io_seconds", words.seconds),
        Column("incomplete", "partial", words.count, optional=True),
    ],
    note=_groups_note,
)

_PROCESSES_OF: Exhibit[Forest] = Exhibit(name="processes", title="Every process", metric=summary.processes, apart=True)

HEAVIEST: Exhibit[Forest] = Exhibit(
    name="heaviest",
    title="Processes with most time in I/O",
    metric=summary.heaviest,
    columns=[
        Column("program", "label"),
        Column("pid", "pid", _known_pid),
        Column("host", "host", lambda name: name or words.NONE),
        Column("of its time", ("io_seconds", "seconds", "ranks"), lambda io, s, n: words.percent(io, s * n)),
        Column("in I/O, s", "io_seconds", words.seconds),
        Column("read", "bytes_read", words.size),
        Column("written", "bytes_written", words.size),
        Column("log", "log"),
    ],
    note="iolens report of one of these logs shows more of the process, with advice. More than 100 %: threads did "
    "I/O at the same time, or a call copied from one file to another and counts for both.",
)

WAITING: Exhibit[Forest] = Exhibit(
    name="waiting",
    title="Where processes waited",
    metric=summary.process_waiting,
    columns=[
        Column("", "name"),
        Column("seconds", "wall", words.seconds),
        Column("on a processor, s", "cpu", words.seconds),
        Column("off it, s", "off_processor", words.seconds),
        Column("in I/O at most, s", "in_io", words.seconds),
        Column("elsewhere at least, s", "elsewhere", words.seconds),
    ],
    note="Sums over processes, while they were recorded; processor time includes the writing of the log. Elsewhere: "
    "waiting for children, pipes, locks, the network or a core, or asleep.",
    absent=lambda _: "Where processes waited: n/a, these logs have no processor times.",
)

ROLES: Exhibit[Forest] = Exhibit(
    name="roles",
    title="Files by role",
    metric=files.roles,
    columns=[
        Column("role", "role"),
        Column("files", "files", words.count),
        Column("size", "size", words.size),
        Column("written", "bytes_written", words.size),
        Column("read", "bytes_read", words.size),
    ],
    note="Handed over: written by one process and read by another. Scratch: written and read by the same process. "
    "Input: only read. Output: only written. Size: the highest offsets touched. Standard streams are left out: output "
    "into a redirected stream counts for its process, but for no file.",
)


def _top_files(forest: Forest) -> pd.DataFrame:
    """Returns the rows of `forest.files.file_families` with the most bytes."""
    found = files.file_families(forest)
    return found[(found["bytes_read"] + found["bytes_written"]) > 0].head(_MOST_FILES)


def _files_note(forest: Forest) -> str:
    """Returns the meaning of the columns, and of families if a row is one."""
    said = "Written by, read by: numbers of processes. Times read: bytes read divided by the size."
    return f"{said} {FAMILY_NOTE}" if (_top_files(forest)["files"] > 1).any() else said


FILES: Exhibit[Forest] = Exhibit(
    name="files",
    title="Files with most bytes",
    metric=_top_files,
    whole=files.file_rows,
    listed=files.file_families,
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("role", "role"),
        Column("written by", ("producers", "both"), lambda n, both: words.count(n + both)),
        Column("read by", ("consumers", "both"), lambda n, both: words.count(n + both)),
        Column("size", "size", words.size),
        Column("written", "bytes_written", words.size),
        Column("read", "bytes_read", words.size),
        Column("times read", "passes", words.ratio),
        Column("s", "seconds", words.seconds),
    ],
    note=_files_note,
)


HANDED_OVER: Exhibit[Forest] = Exhibit(
    name="handed_over",
    title="Who wrote what others read",
    metric=_limited(files.handed_over),
    whole=files.handed_over,
    columns=[
        Column("written by", "producer"),
        Column("read by", "consumer"),
        Column("files", "files", words.count),
        Column("written", "bytes_written", words.size),
        Column("read", "bytes_read", words.size),
        Column("longest gap, s", "wait", words.seconds),
    ],
    note="Gap: time from the last call of the writers on a file to the first call of the readers; n/a if the readers "
    "began before. Data in pipes belongs to no file.",
)


def _times_read(least: float, median: float, most: float) -> str:
    """Returns how many times the files of a folder were read."""
    if round(most, 2) == round(least, 2):
        return words.ratio(most)
    return f"{words.ratio(least)} to {words.ratio(most)}, median {words.ratio(median)}"


READ_AGAIN: Exhibit[Forest] = Exhibit(
    name="read_again",
    title="Files read more than once, by folder",
    metric=_limited(files.read_again),
    whole=files.read_again,
    columns=[
        Column("folder", "folder"),
        Column("files", "files", words.count),
        Column("size", "size", words.size),
        Column("read", "bytes_read", words.size),
        Column("beyond once", "again", words.size),
        Column("times each was read", ("least", "median", "most"), _times_read),
        Column("readers", "readers", words.count),
    ],
    note="Times read: bytes read divided by the size. A data set whose files were all read equally often was read in "
    "as many epochs.",
)


def _held_up_by(limit: str, reason: str) -> str:
    """Returns the stage that holds up the others; if there is none, n/a and the reason."""
    return limit or f"{words.NONE}: {reason}"


PIPELINE: Exhibit[Forest] = Exhibit(
    name="input_pipeline",
    title="Main processes and their workers: the input pipeline of training",
    metric=pipeline.input_pipeline,
    columns=[
        Column("main process", "label"),
        Column("pid", "pid", _known_pid),
        Column("workers", "workers", words.count),
        Column("s", "seconds", words.seconds),
        Column("it waits, s", "waits", words.seconds),
        Column("a worker reads, s", "reading", words.seconds),
        Column("decodes, s", "decoding", words.seconds),
        Column("waits, s", "handing_over", words.seconds),
        Column("has no core, s", "no_core", words.seconds),
        Column("held up by", ("limit", "reason"), _held_up_by),
        Column("more workers gain at most, s", "more_workers", words.seconds),
        Column("faster storage at most, s", "faster_storage", words.seconds),
    ],
    note="Seconds of first threads: of the main process, and of its average worker. Decoding: all time that is "
    "neither a call on a file nor a wait. Queueing: both sides wait in turn; more batches ahead would help. More "
    "workers gain this only if cores are free; held up by a core: there are fewer cores than the workers use. At "
    f"most {pipeline.MOST_LOADERS} main processes are shown.",
)

HOSTS: Exhibit[Forest] = Exhibit(
    name="hosts",
    title="Hosts",
    metric=summary.process_hosts,
    columns=[
        Column("host", "host", lambda name: name or words.NONE),
        Column("processes", "processes", words.count),
        Column("read", "bytes_read", words.size),
        Column("written", "bytes_written", words.size),
        Column("in I/O, s", "io_seconds", words.seconds),
        Column("clock corrected by, s", "clock_step", words.seconds),
    ],
    note="Processes of a host share one clock, corrected for changes of the host's real-time clock. Clocks of "
    "different hosts are not corrected.",
)

DAMAGED: Exhibit[Forest] = Exhibit(
    name="damaged",
    title="Logs that cannot be read",
    metric=_limited(summary.damaged_logs),
    whole=summary.damaged_logs,
    columns=[Column("log", "log"), Column("reason", "reason")],
)

PARTIAL: Exhibit[Forest] = Exhibit(
    name="partial",
    title="Incomplete logs",
    metric=_limited(summary.partial),
    whole=summary.partial,
    columns=[
        Column("program", "label"),
        Column("pid", "pid", _known_pid),
        Column("why", "partial"),
        Column("log", "log"),
    ],
)


def _running_figure(forest: Forest, counts: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of the number of processes over time."""
    from iolens.figures.many_jobs import running_processes

    programs = counts.set_index("start")
    says = columns.extremes(zip(programs, programs.max(), strict=True), words.count)
    says = f"largest number of processes at once by program: {says}"
    yield FigureBlock(running_processes(programs), "", title="Running processes over time, by program", says=says)


def _running_counts(forest: Forest) -> pd.DataFrame | None:
    """Returns the average number of processes that ran, a row per bin of time, a column per program (those with most
    time; the rest as `others`); start: of the bin, in seconds since the first process began. None if nothing ran most
    of the time.
    """
    return summary.running(forest).reset_index() if summary.is_one_job(forest) else None


RUNNING: Exhibit[Forest] = Exhibit(
    name="running", title="Running processes over time, by program", metric=_running_counts, draw=_running_figure
)


def _activity_rows(forest: Forest) -> pd.DataFrame | None:
    """Returns bytes over time and processes: row (of neighbouring processes in the tree), start and end of the bin in
    seconds since the first process began, written, read; bins without bytes are left out. None if no log has them, or
    nothing ran most of the time.
    """
    import numpy as np

    grids = summary.bytes_over_time(forest) if summary.is_one_job(forest) else None
    if grids is None:
        return None
    written, read, width = grids
    row, place = np.nonzero(written + read)
    frame = pd.DataFrame({"row": row, "start": place * width, "end": (place + 1) * width})
    return frame.assign(written=written[row, place], read=read[row, place])


def _activity_figure(forest: Forest, _: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of the map of bytes over time and processes."""
    from iolens.figures.job_times import activity_map

    grids = summary.bytes_over_time(forest)
    assert grids is not None
    written, read, width = grids
    count = len(forest.processes)
    each = -(-count // len(written))
    row = "each process" if each == 1 else f"{each} processes that are neighbours in the tree"
    caption = (
        f"Bytes of {row} in bins of {words.duration(width)}; white: no bytes; at the top: the sum of all processes. "
        "Processes are in the order of the tree, from the bottom. Look for pauses, and for processes that move "
        "bytes while others do not."
    )
    figure = activity_map(written, read, width, count, row="process")
    moved = (written + read).sum(axis=0)
    says = f"most bytes in a bin: {words.size(float(moved.max()))}, at {words.duration(int(moved.argmax()) * width)}"
    yield FigureBlock(figure, caption, title="Bytes over time", says=says)


ACTIVITY: Exhibit[Forest] = Exhibit(
    name="activity", title="Bytes over time", metric=_activity_rows, draw=_activity_figure
)

FOREST_EXHIBITS: tuple[Exhibit[Forest], ...] = (
    PROCESS_TREE,
    HEAVIEST,
    WAITING,
    PIPELINE,
    ROLES,
    HANDED_OVER,
    READ_AGAIN,
    FILES,
    HOSTS,
    PARTIAL,
    DAMAGED,
    RUNNING,
    ACTIVITY,
    _PROCESSES_OF,
)
"""The exhibits in the order in which the terminal shows them."""
