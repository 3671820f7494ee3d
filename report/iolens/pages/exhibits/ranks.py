"""The balance of work among the ranks, and the resources that their processes used."""

from __future__ import annotations

from collections.abc import Iterable

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.job import balance, processes
from iolens.missing import is_nan
from iolens.pages import words
from iolens.pages.blocks import FigureBlock
from iolens.pages.exhibit import Column, Exhibit
from iolens.pages.exhibits import finding

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
        says = finding.of_ranks((moved["written"] + moved["read"]).tolist(), words.size)
        yield FigureBlock(rank_bars(moved, width), caption, title="Bytes of each rank", says=says)


def _usage_figures(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of memory and processor time of each rank, if there are several and the log has all of them."""
    from iolens.figures.job_transfers import memory_bars, processor_bars

    apart = processes.rank_usage(job)
    if apart is not None and len(apart) == job.nprocs > 1:
        each = apart.frame().set_index("rank")
        caption = "Look for ranks far above the mean."
        memory = finding.of_ranks(each["max_rss"].tolist(), words.size)
        spent = finding.of_ranks((each["user_time"] + each["system_time"]).tolist(), words.duration)
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
    metric=processes.usage,
    columns=_usage_columns,
    note=_usage_note,
    draw=_usage_figures,
)
