"""Why the job took so long: who waited for whom, the critical path, and replays with parts of the work left out."""

from __future__ import annotations

from iolens.log import Job
from iolens.metrics.why import answers
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit

_SOURCE = "iolens run --why records it"


def _rank(value: int) -> str:
    """Returns a rank in words."""
    return "all" if value < 0 else str(value)


def waits_note(job: Job) -> str:
    """Returns the meaning of the table, and how much of the waiting it explains."""
    found = answers.waiting(job)
    if found is None:
        return ""
    return (
        f"Waits in MPI add up to {words.seconds(found.waited)} s over all ranks; this work of late ranks explains "
        f"{words.seconds(found.waited - found.unexplained)} s of them. Direct: seconds that others waited for this "
        f"rank; through chains: seconds that ranks waited for those. {found.limits}"
    )


WAITS_BY_CAUSE: Exhibit[Job] = Exhibit(
    name="waits_by_cause",
    title="Work that other ranks waited for",
    metric=answers.largest_waits,
    whole=answers.waits_by_cause,
    columns=[
        Column("rank", "rank", words.count),
        Column("did", "kind"),
        Column("function", "function", optional=True),
        Column("file", "file", optional=True),
        Column("waits, s", "seconds", words.seconds),
        Column("direct, s", "direct", words.seconds),
        Column("through chains, s", "indirect", words.seconds),
        Column("ranks held up", "held_up", words.count),
    ],
    note=waits_note,
    source=_SOURCE,
)

CRITICAL_PATH: Exhibit[Job] = Exhibit(
    name="critical_path",
    title="The critical path",
    metric=answers.largest_path_parts,
    whole=answers.path_by_activity,
    columns=[
        Column("rank", "rank", words.count),
        Column("did", "kind"),
        Column("function", "function", optional=True),
        Column("file", "file", optional=True),
        Column("seconds", "seconds", words.seconds),
        Column("share", "share", words.share),
    ],
    note="The chain of work that the end of the job depended on. Its share of I/O is the most that faster storage "
    "could save if no other chain took over; `what_if` says what is saved.",
    source=_SOURCE,
)

WHAT_IF: Exhibit[Job] = Exhibit(
    name="what_if",
    title="What if",
    metric=answers.replays,
    columns=[
        Column("question", "question"),
        Column("rank", "rank", _rank),
        Column("file", "file", optional=True),
        Column("run time, s", "run_time", words.seconds),
        Column("saved, s", "saved", words.seconds),
    ],
    note=lambda job: answers.headline(job) or "",
    source=_SOURCE,
)

WHY_EXHIBITS = (WAITS_BY_CAUSE, CRITICAL_PATH, WHAT_IF)
