"""Why the job took so long: who waited for whom, the critical path, and replays with parts of the work left out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.why import answers
from iolens.metrics.why.time_lines import limits, time_lines
from iolens.missing import is_nan
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.exhibit import Column, Exhibit

_MOST_ROWS, _BINS = 250, 600
"""Maximum number of rows in the picture of all ranks, and its number of bins of time. With more ranks, neighbours share
a row.
"""

_SOURCE = "iolens run --why"

_BALANCED_INSIDE = "Computing is balanced between MPI_Init and MPI_Finalize. "
_FOLLOWED = "Only the first thread of each rank is followed; other jobs are not seen."


def _rank(value: int) -> str:
    """Returns a rank as text; `all` if the number is negative."""
    return "all" if value < 0 else str(value)


def _saved(seconds: float) -> str:
    """Returns seconds in words: 0 if a change makes the job longer, n/a if only a bound is known."""
    return words.NONE if is_nan(seconds) else words.seconds(max(seconds, 0.0))


def waits_note(job: Job) -> str:
    """Returns the meaning of the table, and how much of the waiting it explains."""
    found = answers.waiting(job)
    if found is None:
        return ""
    return (
        f"Waits in MPI add up to {words.seconds(found.waited)} s over all ranks; this work of late ranks explains "
        f"{words.seconds(found.waited - found.unexplained)} s of them. Direct: seconds that others waited for this "
        f"rank; through chains: seconds that ranks waited for those. {_FOLLOWED} {_limits_words(job)}"
    )


def _limits_words(job: Job) -> str:
    """Returns what the events of the job cannot tell."""
    return " ".join(limits(job))


def what_if_note(job: Job) -> str:
    """Returns the sentence on storage, and how sure the savings are."""
    return (
        f"{storage_note(job)} What is saved lies between the least and the most: these differ by the error of the "
        "replay, and because the events do not show all that calls may have waited for. "
        f"{_bound_only(job)}{_BALANCED_INSIDE if job.nprocs > 1 else ''}{_FOLLOWED} {_limits_words(job)}"
    ).strip()


def _bound_only(job: Job) -> str:
    """Returns why some answers are only bounds; empty if no answer is."""
    only = [each for each in answers.answers(job) or () if is_nan(each.saved)]
    return "n/a: no replay knows how long collective calls take (iolens predict tries their settings). " if only else ""


def path_note(job: Job) -> str:
    """Returns the meaning of the critical path."""
    path, events = answers.path_by_activity(job), answers.why(job)
    if path is None or events is None:
        return ""
    of_io, idle = float(path["share"][path["kind"] == "I/O"].sum()), float(path["lost_cores"].sum())
    of_all = f"{words.guarded(idle)} of {words.count(events.program.ranks)}"
    lost = (
        f"Lost cores, {of_all}: ranks that wait, on average over the run, because this work takes longer on the path "
        "than on them. "
    )
    return (
        f"The chain of work that the end of the job depended on. I/O is {words.share(of_io)} of it: the most that "
        f"faster storage could save if no other chain took over; “What if” says what is saved. "
        f"{lost if idle > 0 else ''}{_limits_words(job)}"
    )


def storage_note(job: Job) -> str:
    """Returns a sentence on the time that infinitely fast storage would save. It names the rank whose I/O held up
    others if that explains most of the saving.
    """
    found, events = answers.storage_saving(job), answers.why(job)
    if events is None:
        return ""
    span = "this job" if events.until is None else f"the first {words.seconds(events.until)} s of this job"
    unseen = ["waits for pages of mapped files"] if found is not None and found.mapped else []
    unseen += ["the I/O of processes that its ranks started"] if answers.starts_processes(job) else []
    beside = f", beside {' and '.join(unseen)}" if unseen else ""
    if found is None:
        return f"Infinitely fast storage would save {span} nothing{beside}: the events have no call of the file system."
    sentence = f"With infinitely fast storage {span} would take at most {words.seconds(found.seconds)} s less{beside}"
    if found.for_strangers:
        sentence += ", if its ranks waited for I/O of the programs that they started or connected to"
    if found.culprit is None:
        return f"{sentence}."
    one = found.culprit
    where = f" of {one.file}" if one.file else ""
    others = words.plural(one.held_up, "other rank")
    return f"{sentence}, mostly for rank {one.rank}: its {one.function or 'I/O'}{where} held up {others}."


def _critical_path_figure(job: Job, _: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of what each rank did over time, with the critical path."""
    from iolens.figures.job_ranks import path_over_time

    found, pieces = answers.why(job), answers.path_pieces(job)
    if found is None or pieces is None:
        return
    lines = time_lines(found, pieces, _MOST_ROWS, _BINS)
    spent = np.bincount(pieces["rank"], weights=pieces["end"] - pieces["start"])
    ranks = zip([f"rank {rank}" for rank in range(len(spent))], spent.tolist(), strict=True)
    yield FigureBlock(
        path_over_time(lines, found.program.ranks),
        "The line is the chain of work that the end of the job depended on. Where it goes on to another rank, that "
        "rank had waited for the one before. The strip on top says what was done on the line: look for I/O in it, "
        "since only faster work there lets the job end sooner.",
        title="Ranks over time, and the critical path",
        says=f"the critical path lies on {columns.largest(ranks, words.duration)}",
    )


def nobody_waited(job: Job) -> str:
    """Returns a sentence that no rank waited, if the events of the log show that; empty if a rank waited or there are
    no events.
    """
    found = answers.why(job)
    return "" if found is None or len(found.waits.call) else "No rank waited for another one."


WAITS_BY_CAUSE: Exhibit[Job] = Exhibit(
    name="waits_by_cause",
    title="Work that other ranks waited for",
    metric=answers.largest_waits,
    whole=answers.all_waits,
    columns=[
        Column("rank", "rank", words.count),
        Column("did", "kind"),
        Column("function", "function", optional=True),
        Column("file", "file", optional=True),
        Column("waits, s", "seconds", words.seconds),
        Column("direct, s", "direct", words.seconds),
        Column("through chains, s", "indirect", words.seconds),
        Column("ranks held up", "held_up", words.count),
        Column("place", "place", optional=True),
    ],
    note=waits_note,
    absent=nobody_waited,
    source=_SOURCE,
)

WAIT_STATES: Exhibit[Job] = Exhibit(
    name="wait_states",
    title="Waits between ranks",
    metric=answers.wait_states,
    columns=[
        Column("pattern", "pattern"),
        Column("waits", "waits", words.count),
        Column("ranks", "ranks", words.count),
        Column("seconds", "seconds", words.seconds),
        Column("longest, s", "longest", words.seconds),
        Column("computing, s", "computing", words.seconds),
        Column("I/O, s", "io", words.seconds),
        Column("locks, s", "locks", words.seconds, optional=True),
        Column("cores, s", "cores", words.seconds, optional=True),
        Column("faults, s", "faults", words.seconds, optional=True),
        Column("asleep, s", "sleep", words.seconds, optional=True),
        Column("MPI, s", "mpi", words.seconds),
    ],
    note="Seconds: over all ranks. The columns after “longest” divide these seconds by what the late rank did "
    "meanwhile; in the rest of the time it waited itself, or no work explains the wait.",
    absent=nobody_waited,
    source=_SOURCE,
)

CRITICAL_PATH: Exhibit[Job] = Exhibit(
    name="critical_path",
    title="The critical path",
    metric=answers.largest_path_parts,
    whole=answers.all_path_parts,
    columns=[
        Column("rank", "rank", words.count),
        Column("did", "kind"),
        Column("function", "function", optional=True),
        Column("file", "file", optional=True),
        Column("region", "region", optional=True),
        Column("seconds", "seconds", words.seconds),
        Column("share", "share", words.share),
        Column("lost cores", "lost_cores", words.ratio, optional=True),
        Column("place", "place", optional=True),
    ],
    note=path_note,
    source=_SOURCE,
    draw=_critical_path_figure,
)

WHAT_IF: Exhibit[Job] = Exhibit(
    name="what_if",
    title="What if",
    metric=answers.replays,
    columns=[
        Column("question", "question"),
        Column("rank", "rank", _rank),
        Column("file", "file", optional=True),
        Column("run time, s", "run_time", _saved),
        Column("saved, s", "saved", _saved),
        Column("least, s", "least", words.seconds),
        Column("most, s", "most", words.seconds),
    ],
    note=what_if_note,
    source=_SOURCE,
)

WHY_EXHIBITS = (WAIT_STATES, WAITS_BY_CAUSE, CRITICAL_PATH, WHAT_IF)
