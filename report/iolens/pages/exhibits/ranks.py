"""The balance of work among the ranks, and the resources and I/O of single ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.job import balance
from iolens.metrics.job.interfaces import private_counts
from iolens.metrics.processor import usage
from iolens.metrics.processor.io import ranks
from iolens.metrics.processor.traced import functions
from iolens.metrics.processor.traced.functions import LEVELS, load_balance
from iolens.missing import is_nan
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.columns import FAMILY_SIZE, IMBALANCE_PERCENT, NAME, guarded_seconds, share_columns
from iolens.pages.base.exhibit import Column, Exhibit

FEW_RANKS = 8
"""Maximum number of ranks whose bars leave room for a table beside them."""


def _rank_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure of the bytes that each rank moved."""
    from iolens.figures.job_transfers import rank_bars
    from iolens.figures.style import FULL_WIDTH, HALF_WIDTH

    moved = balance.rank_bytes(job)
    if moved is not None:
        caption = "Through POSIX and STDIO, from the heat maps. Look for ranks far above the mean."
        width = HALF_WIDTH if job.nprocs <= FEW_RANKS else FULL_WIDTH
        says = columns.of_ranks((moved["written"] + moved["read"]).tolist(), words.size)
        yield FigureBlock(rank_bars(moved, width), caption, title="Bytes of each rank", says=says)


def _usage_figures(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of memory and processor time of each rank, if there are several and the log has all of them."""
    from iolens.figures.job_transfers import memory_bars, processor_bars

    apart = private_counts.rank_usage(job)
    if apart is not None and len(apart) == job.nprocs > 1:
        each = apart.frame().set_index("rank")
        caption = "Look for ranks far above the mean."
        memory = columns.of_ranks(each["max_rss"].tolist(), words.size)
        spent = columns.of_ranks((each["user_time"] + each["system_time"]).tolist(), words.duration)
        yield FigureBlock(memory_bars(each), caption, title="Largest resident set of each rank", says=memory)
        yield FigureBlock(processor_bars(each), caption, title="Processor time of each rank", says=spent)


def amount_text(value: float, unit: str) -> str:
    """Formats a number of bytes, of seconds, or of times that something happened."""
    if unit == "bytes":
        return words.size(value)
    return words.count(value) if unit == "times" else f"{words.seconds(value)} s" if not is_nan(value) else words.NONE


def _usage_columns(job: Job) -> list[Column]:
    """Returns the columns of the use of memory and processors; a single process has neither sum nor mean."""
    if job.nprocs == 1:
        return [Column("", "what"), Column("", ("most", "unit"), amount_text)]
    return [
        Column("", "what"),
        Column("all ranks", ("total", "unit"), amount_text),
        Column("mean of a rank", ("mean", "unit"), amount_text),
        Column("most", ("most", "unit"), amount_text),
        Column("rank", "most_rank", words.count),
    ]


def _usage_note(job: Job) -> str:
    """Returns a note about the source of the numbers, and about a sum that is not known."""
    said = (
        "From getrusage over the whole life of each process, including time before an exec; for a killed process, "
        "until it last wrote its spool."
    )
    if job.nprocs == 1:
        return said
    return (
        f"{said} Largest resident set of all ranks together: n/a, because ranks reach their largest at different times."
    )


RANK_BALANCE: Exhibit[Job] = Exhibit(
    name="rank_balance",
    title="Balance of the ranks",
    metric=balance.rank_balance,
    columns=[
        Column("bytes", "what"),
        Column("least", "least", words.size),
        Column("rank", "least_rank"),
        Column("median", "median", words.size),
        Column("most", "most", words.size),
        Column("rank", "most_rank"),
        Column("most / mean", "imbalance", lambda ratio: f"{ratio:,.2f}"),
    ],
    draw=_rank_figure,
)

PROCESSES: Exhibit[Job] = Exhibit(
    name="processes",
    title="Memory and processor use of the processes",
    metric=private_counts.usage,
    columns=_usage_columns,
    note=_usage_note,
    draw=_usage_figures,
)


def _pat_file_columns(what: str) -> Sequence[Column]:
    """Returns pat_report's columns of files that were read or written."""
    who = "reader" if what == "read" else "writer"
    return [
        Column("file", "name"),
        FAMILY_SIZE,
        Column(f"avg {what} time per {who} rank, s", "seconds", words.seconds),
        Column(f"avg MiB per {who} rank", "mib", words.ratio),
        Column("MiB/s", "rate", words.ratio),
        Column(f"{who} ranks", "ranks", words.count),
        Column(f"avg {what}s per {who} rank", "calls", words.ratio),
        Column("bytes/call", "bytes_per_call", words.ratio),
    ]


_FILE_NOTE = (
    "Averages over the ranks that read or wrote the file, at the layers below MPI-IO; MiB/s: all bytes over all time "
    "in the calls. n/a: the log merged the ranks of this file. Files of /proc and /sys are left out."
)

FILE_INPUT: Exhibit[Job] = Exhibit(
    name="file_input",
    title="File input by file",
    metric=ranks.file_input,
    columns=_pat_file_columns("read"),
    note=_FILE_NOTE,
    asked=True,
    apart=True,
)

FILE_OUTPUT: Exhibit[Job] = Exhibit(
    name="file_output",
    title="File output by file",
    metric=ranks.file_output,
    columns=_pat_file_columns("write"),
    note=_FILE_NOTE,
    asked=True,
    apart=True,
)

MEMORY: Exhibit[Job] = Exhibit(
    name="memory",
    title="Largest resident set of each rank",
    metric=usage.memory,
    columns=[NAME, Column("HiMem", "max_rss", words.size), *share_columns("HiMem", "max_rss", "B")[2:]],
    note="Values of an average rank, and of the ranks with the largest, median and smallest value.",
    asked=True,
    drilled=True,
    apart=True,
    source="a log of iolens with every rank's row (IOLENS_FILE_RANKS)",
)

MEMORY_NODES: Exhibit[Job] = Exhibit(
    name="memory_nodes",
    title="Memory of the ranks by NUMA node",
    metric=ranks.memory_nodes,
    columns=[
        Column("rank", "rank", lambda rank: "other ranks, together" if rank < 0 else str(rank)),
        Column("NUMA node", "memory_node", lambda node: "others" if node < 0 else str(node)),
        Column("largest", "high_bytes", words.size),
        Column("at the end", "bytes", words.size),
        Column("share", "share", words.points),
    ],
    note="Resident memory, shared libraries included. Largest: the largest value that the profiler read; it reads "
    "at most once a second, and when recording ends. Share: part of the rank's memory at the end.",
    apart=True,
    source="a process of at least half a second on a machine where several NUMA nodes have memory",
)

PROGRAM_TIME: Exhibit[Job] = Exhibit(
    name="program_time",
    title="Processor time of the ranks",
    metric=usage.program_time,
    columns=[
        NAME,
        *share_columns("Time", "time")[1:],
        Column("program, s", "user_time", guarded_seconds),
        Column("kernel, s", "system_time", guarded_seconds),
        Column("major faults", "major_faults", words.guarded),
        Column("core taken or yielded", "involuntary_switches", words.guarded),
    ],
    note="Values of an average rank, and of the ranks with the largest, median and smallest value. Core taken or "
    "yielded: Linux's involuntary switches, which include sched_yield; MPI calls sched_yield while it waits "
    "if cores are few.",
    asked=True,
    drilled=True,
    apart=True,
    source="a log of iolens",
)


def _balance_note(job: Job) -> str:
    """Returns the note on the table of load balance: the definition of its columns and of its rows."""
    said = (
        f"Means over all ranks. Imb. Time: slowest rank minus mean; Imb. Time%: {IMBALANCE_PERCENT}. "
        "MPI-IO: time of its calls without the POSIX time inside them; exchange includes waiting for other ranks."
    )
    if functions.inclusive_rows(job) is None:
        return said
    return f"{said} {functions.INSIDE}: inclusive times, which overlap one another and the rows above."


LOAD_BALANCE: Exhibit[Job] = Exhibit(
    name="load_balance",
    title="Time in calls by the ranks that took most, median and least",
    metric=load_balance,
    columns=[NAME, *share_columns("Time", "time"), Column("Calls", "calls", words.guarded)],
    note=_balance_note,
    asked=True,
    drilled=True,
    levels=LEVELS.known,
    apart=True,
)
