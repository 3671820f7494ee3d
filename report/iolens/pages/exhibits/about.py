"""The contents of the log itself."""

from __future__ import annotations

from iolens.log import Job
from iolens.metrics.job import about, start_up
from iolens.metrics.job.interfaces import mpiio
from iolens.metrics.times import clocks
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit

FACTS: Exhibit[Job] = Exhibit("job", "The job", about.job_facts, apart=True)
"""Exhibit for the exports only; pages have the facts in words."""

HOSTS: Exhibit[Job] = Exhibit(
    name="hosts",
    title="Hosts",
    metric=about.hosts,
    columns=[
        Column("host", "host"),
        Column("ranks", "count", words.count),
        Column("their numbers", "ranks", mpiio.listed_ranks),
    ],
)

PROGRAMS: Exhibit[Job] = Exhibit(
    name="programs",
    title="Programs of the ranks",
    metric=about.programs,
    columns=[
        Column("program", "program"),
        Column("ranks", "count", words.count),
        Column("their numbers", "ranks", mpiio.listed_ranks),
    ],
)


def _amount(value: float, what: str) -> str:
    """Formats a count or a time; the time before recording is known only to a hundredth of a second."""
    if what == start_up.BEFORE:
        return f"{value:,.2f}"
    return words.seconds(value) if what == start_up.FIRST else words.count(value)


def _start_note(job: Job) -> str:
    """Returns a note about the time before recording, and about LD_LIBRARY_PATH if its entries have rows."""
    said = (
        "Before recording began, the process loaded its libraries; time before an exec counts, too. The calls of the "
        "loader are not recorded."
    )
    found = start_up.start_up(job)
    has_entries = len(found) > 0 and start_up.ENTRIES in found["what"].tolist()
    return said + (" Only rank 0 asks which entries of LD_LIBRARY_PATH are folders." if has_entries else "")


START_UP: Exhibit[Job] = Exhibit(
    name="start_up",
    title="How the processes started",
    metric=start_up.start_up,
    columns=lambda job: [
        Column("what", "what"),
        *([Column("least", ("least", "what"), _amount)] * (job.nprocs > 1)),
        Column("most" if job.nprocs > 1 else "value", ("most", "what"), _amount),
    ],
    note=_start_note,
)

CLOCKS: Exhibit[Job] = Exhibit(
    name="clocks",
    title="Clocks of the nodes",
    metric=clocks.clocks,
    columns=[
        Column("node", "host"),
        Column("first PE", "rank", words.count),
        Column("ahead of PE 0 at the start", "begin_offset", words.offset),
        Column("at the end", "end_offset", words.offset),
        Column("known to", "uncertainty", words.offset),
    ],
    note="All times are on the clock of PE 0: times of other nodes are corrected by an offset interpolated between "
    "its values at the start and at the end.",
)

MODULES: Exhibit[Job] = Exhibit(
    name="modules",
    title="Modules of this log",
    metric=about.modules,
    columns=[
        Column("module", "module"),
        Column("record version", "version"),
        Column("rows", "records", words.count),
        Column("compressed", "bytes", words.size),
        Column("remark", "remark", optional=True),
    ],
)
