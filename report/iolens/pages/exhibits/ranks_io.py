"""The resources and I/O of single ranks: memory, processor time, time in calls, and files with the ranks that
used them.
"""

from __future__ import annotations

from collections.abc import Sequence

from iolens.log import Job
from iolens.metrics.processor import balance, memory_nodes, process
from iolens.metrics.processor.io import files
from iolens.metrics.processor.sampled import inclusive
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit
from iolens.pages.exhibits.processor.drilled import IMBALANCE_PERCENT, NAME, guarded_seconds, share_columns
from iolens.pages.exhibits.storage.families import FAMILY_SIZE


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
    metric=files.file_input,
    columns=_pat_file_columns("read"),
    note=_FILE_NOTE,
    asked=True,
    apart=True,
)

FILE_OUTPUT: Exhibit[Job] = Exhibit(
    name="file_output",
    title="File output by file",
    metric=files.file_output,
    columns=_pat_file_columns("write"),
    note=_FILE_NOTE,
    asked=True,
    apart=True,
)

MEMORY: Exhibit[Job] = Exhibit(
    name="memory",
    title="Largest resident set of each rank",
    metric=process.memory,
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
    metric=memory_nodes.memory_nodes,
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
    metric=process.program_time,
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
    if inclusive.inclusive_rows(job) is None:
        return said
    return f"{said} {inclusive.INSIDE}: inclusive times, which overlap one another and the rows above."


LOAD_BALANCE: Exhibit[Job] = Exhibit(
    name="load_balance",
    title="Time in calls by the ranks that took most, median and least",
    metric=balance.load_balance,
    columns=[NAME, *share_columns("Time", "time"), Column("Calls", "calls", words.guarded)],
    note=_balance_note,
    asked=True,
    drilled=True,
    levels=balance.LEVELS.known,
    apart=True,
)
