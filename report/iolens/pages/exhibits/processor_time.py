"""The time of the processors: computing, MPI and I/O, how efficient they are, and samples by function, line, caller
and region.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.processor import regions, steps, time, usage
from iolens.metrics.processor.sampled import groups, profile_time, samples
from iolens.metrics.processor.traced import functions
from iolens.metrics.processor.usage import core_use
from iolens.missing import is_nan
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.columns import IMBALANCE_PERCENT, NAME, guarded_seconds, share_columns
from iolens.pages.base.exhibit import EVERY, Column, Exhibit

_SOURCE = "iolens run"


def _time_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure with the time of each rank, unless there is only one rank: the first page has the time of an
    average rank.
    """
    from iolens.figures.job_times import rank_time_bars

    times = time.rank_time(job)
    if times is not None and len(times) > 1:
        uneven = found.loc[(found["most"] - found["least"]).idxmax()]
        says = (
            f"ranks differ most in {uneven['part']}: {words.duration(uneven['least'])} on rank "
            f"{uneven['least_rank']:.0f}, {words.duration(uneven['most'])} on rank {uneven['most_rank']:.0f}"
        )
        each = times.frame().set_index("rank")
        yield FigureBlock(
            rank_time_bars(each),
            "The colours and their order, from bottom to top, are those of the bar for an average rank.",
            title="Where the time of each rank went",
            says=says,
        )


def time_note(job: Job) -> str:
    """Returns a note about the source of the numbers and the content of each part."""
    each = time.rank_time(job)
    if each is None:
        return ""
    said, whose = [], "each rank's" if job.nprocs > 1 else "its"
    outside = groups.beyond(bool(each[groups.UNTRACED].any()))
    if any(each[part].any() for part in groups.OUTSIDE if part != groups.UNKNOWN):
        said = [
            f"On a core, waiting for a core and asleep: as the kernel counts them, of {whose} busiest thread, "
            f"{outside}. Processor time inside these calls belongs to them."
        ]
    if samples.is_sampled(job) and not time.is_traced(job):
        said = [f"From samples of {whose} busiest thread: shares of the run time."]
    elif time.summed_mpi(job) is not None and core_use(job) is None:
        less = ", less the calls that may lie in MPI-IO" if each[groups.ANY_MPI].any() else ""
        said = [f"I/O: the time in the records of files. MPI: as Darshan's module APMPI timed it{less}."]
    if time.has_timed_barriers(job):
        said.append("MPI synchronisation: with the timed barriers before collectives.")
    said += [meaning for part, meaning in _MEANINGS.items() if each[part].any()]
    if each[groups.UNKNOWN].any():
        why = _COUNTED_TOGETHER if core_use(job) is not None else _NOT_COUNTED
        said.append(f"Not attributed: {outside}; {why}")
        if job.is_recovered:
            said.append(_UNCOUNTED)
    if time.is_traced(job):
        said.append("Simultaneous calls of several threads are added, up to the run time.")
    return " ".join(said)


_MEANINGS = {
    groups.UNTRACED: "Computing or MPI: on a core, MPI calls were not timed (iolens run --trace mpi).",
    groups.ASLEEP: "Asleep or blocked: in sleeps, locks, pipes, waits for children.",
    groups.OPENMP: "In OpenMP's library: barriers, locks, idle workers and starts of parallel regions, from samples.",
    groups.POINT: "MPI point-to-point: with waits for requests.",
    groups.OFF_CORE: "Not on a core: asleep, or waiting for a core.",
    groups.START: "Start and end: MPI_Init and MPI_Finalize.",
    groups.PROFILER: "The profiler: time that it added to MPI_Init, and samples in its own code.",
}
"""The meaning of each part, shown for a part that has any time."""

_COUNTED_TOGETHER = "the kernel counts only the whole run, so this time may have been on a core or not."
_UNCOUNTED = "Time after the processor time of a process was last recorded is not attributed either."
_NOT_COUNTED = "the log does not show if the rank was on a core."


def _part_columns(job: Job) -> list[Column]:
    """Returns the columns of the parts of the time; a single rank has neither average nor extremes."""
    first = [Column("", "part"), Column("share", "share", words.points)]
    if job.nprocs == 1:
        return [*first, Column("s", "seconds", words.seconds)]
    return [
        *first,
        Column("average rank, s", "seconds", words.seconds),
        Column("least, s", "least", words.seconds),
        Column("rank", "least_rank", words.count),
        Column("most, s", "most", words.seconds),
        Column("rank", "most_rank", words.count),
    ]


TIME_PARTS: Exhibit[Job] = Exhibit(
    name="time_parts",
    title="Parts of the time",
    metric=time.time_parts,
    columns=_part_columns,
    note=time_note,
    draw=_time_figure,
    source=_SOURCE,
)


def _value(number: float, unknown: str) -> str:
    """Returns an efficiency, n/a if it is not known."""
    return words.NONE if unknown or is_nan(number) else f"{number:.3f}"


def _efficiency_note(job: Job) -> str:
    """Returns a note on the letters in the definitions, with the time that the efficiencies are about."""
    each = time.rank_time(job)
    much = "" if each is None or job.coarse else f", {words.duration(time.working_seconds(each))} here"
    return (
        "c: computing, w: waiting outside I/O and MPI, o: I/O, of a rank; T: the run time without MPI_Init, "
        f"MPI_Finalize and the profiler's own time{much}. 1 is best. Waiting and I/O are separate factors here; POP "
        "counts them as computing."
    )


EFFICIENCIES: Exhibit[Job] = Exhibit(
    name="efficiencies",
    title="Efficiencies after POP",
    metric=time.efficiencies,
    columns=[
        Column("", "name"),
        Column("value", ("value", "unknown"), _value),
        Column("definition", ("definition", "unknown"), lambda said, why: f"{said}; {why}" if why else said),
    ],
    note=_efficiency_note,
    source=_SOURCE,
)


def _thread_note(job: Job) -> str:
    """Returns a note about the rows, and about OpenMP if a column has its time."""
    said = (
        "Means over the threads that worked. Working: on a core, and not in OpenMP's library; without samples (iolens "
        "run --sample) threads that spin there count as working. Imb. Time: working time of the busiest thread minus "
        f"mean; Imb. Time%: {IMBALANCE_PERCENT}, of N threads."
    )
    found = usage.thread_balance(job)
    if found is None or not np.nan_to_num(found["openmp"]).any():
        return said
    return f"{said} OpenMP: time in its library (barriers, locks, idle workers), from samples, with or without a core."


THREAD_BALANCE: Exhibit[Job] = Exhibit(
    name="thread_balance",
    title="Balance among the threads of a rank",
    metric=usage.thread_balance,
    columns=[
        Column("rank", "rank", words.count),
        Column("threads", "threads", words.count),
        Column("on a core, s", "on_core", words.seconds),
        Column("working, s", "working", words.seconds),
        Column("busiest, s", "busiest", words.seconds),
        Column("thread", "busiest_thread", words.count),
        Column("Imb. Time", "imbalance", words.seconds),
        Column("Imb. Time%", "imbalance_percent", words.points),
        Column("waiting for a core, s", "runnable", words.seconds),
        Column("asleep, s", "asleep", words.seconds),
        Column("OpenMP, s", "openmp", words.seconds, optional=True),
        Column("OpenMP%", "openmp_share", words.points, optional=True),
    ],
    note=_thread_note,
    whole=lambda job: usage.thread_balance(job, EVERY),
    source=_SOURCE,
)


def _known_share(share: float) -> str:
    """Returns a step's part of the time; empty if it is not known, which the statement beside it explains."""
    return "" if is_nan(share) else words.points(share)


STEPS: Exhibit[Job] = Exhibit(
    name="steps",
    title="Step by step",
    metric=steps.next_steps,
    columns=[
        Column("step", "step"),
        Column("time", "share", _known_share),
        Column("what this log says", "evidence"),
        Column("table", "look"),
    ],
    note="Follow this order; after each change, compare answers and times. To see a table: iolens table NAME LOG.",
    source=_SOURCE,
)


def _calls_or_empty(calls: float) -> str:
    """Returns the number of calls of an average rank; empty if none were counted."""
    return words.guarded(calls) if calls else ""


def _profile_note(job: Job) -> str:
    """Returns the note on the table of the run time by function: its remainder, inclusive times, and timed barriers."""
    rest = "the rest of the run time" + (
        "" if time.is_traced(job) or job.nprocs < 2 else ", including MPI, because MPI was not traced (--trace mpi)"
    )
    inside = (
        f"{functions.INSIDE}: inclusive times of functions of the program and of libraries, which overlap each other "
        f"and the rows above; Time%: share of the total time of the ranks."
        if functions.inclusive_rows(job) is not None
        else ""
    )
    sync = "MPI_SYNC: the timed barriers before collectives." if time.has_timed_barriers(job) else ""
    said = (
        f"Means over all ranks, from timed calls. Imb. Time: slowest rank minus mean; Imb. Time%: {IMBALANCE_PERCENT}. "
        "MPI-IO: time of its calls without the POSIX time inside them; exchange includes waiting for other ranks.",
        sync,
        f"{profile_time.NOT_TRACED}: {rest}. Calls of several threads are added.",
        inside,
    )
    return " ".join(part for part in said if part)


PROFILE_TIME: Exhibit[Job] = Exhibit(
    name="profile_time",
    title="Time by function group and function",
    metric=profile_time.profile_time,
    columns=[NAME, *share_columns("Time", "time"), Column("Calls", "calls", _calls_or_empty)],
    note=_profile_note,
    asked=True,
    drilled=True,
    levels=profile_time.LEVELS.known,
    apart=True,
)


_SAMPLES_SOURCE = "iolens run --sample"
_COLUMNS = [
    NAME,
    *share_columns("Samp", "samples", ""),
    Column("on a core, s", "on_core", guarded_seconds, optional=True),
]
_NOTE = (
    "Samples of an average rank: periods of the timer. On a core: processor time as the kernel counts it; running "
    "samples are reduced to it. Imb. Samp: largest rank minus mean, or largest thread if threads are the last level; "
    f"Imb. Samp%: {IMBALANCE_PERCENT}. A sample in a library belongs to the MPI, I/O or library call that the program "
    "made."
)


def _profile_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figure with a bar for each function, the busiest first; nothing without functions."""
    from iolens.figures.job_ranks import profile_bars

    group_of_row = found["name"].where(found["level"] == "group").ffill()
    busiest = found.assign(group=group_of_row)[found["level"] == "function"]
    if len(busiest):
        says = columns.largest(zip(busiest["name"], busiest["share"], strict=True), words.points)
        title = "Functions with most samples"
        yield FigureBlock(profile_bars(busiest), "Share of all samples.", title=title, says=says)


def _no_lines(job: Job) -> str:
    """Returns the reason why a sampled job has no lines."""
    why = samples.why_no_lines(job)
    return f"Source lines: n/a; {why}." if why else ""


PROFILE: Exhibit[Job] = Exhibit(
    name="profile",
    title="Profile by function group and function",
    metric=samples.profile,
    columns=_COLUMNS,
    note=_NOTE,
    draw=_profile_figure,
    asked=True,
    drilled=True,
    levels=samples.LEVELS.known,
    source=_SAMPLES_SOURCE,
    instead=PROFILE_TIME,
)

LINES: Exhibit[Job] = Exhibit(
    name="lines",
    title="Profile by source line",
    metric=samples.sampled_lines,
    columns=_COLUMNS,
    note=_NOTE + " Only programs with debug information (-g) have lines.",
    asked=True,
    drilled=True,
    levels=samples.LEVELS.known,
    source=_SAMPLES_SOURCE,
    apart=True,
)

HOT_LINES: Exhibit[Job] = Exhibit(
    name="hot_lines",
    title="Lines of the program with most samples",
    metric=samples.hot_lines,
    whole=lambda job: samples.hot_lines(job, EVERY),
    columns=[
        Column("Samp%", "share", words.points),
        Column("Samp", "samples", words.guarded),
        Column("most", "most", words.count),
        Column("rank", "most_rank", words.count),
        Column("function", "function"),
        Column("source", ("source", "line"), lambda source, line: f"{source}:{line.removeprefix('line ')}"),
    ],
    note="Percentage of all samples, those in libraries included. Most: the largest percentage of one rank.",
    absent=_no_lines,
    source=f"{_SAMPLES_SOURCE}, of a program compiled with -g",
)

SAMPLING: Exhibit[Job] = Exhibit(
    name="sampling",
    title="How well it was sampled",
    metric=samples.sampling,
    columns=[
        Column("timer", "timer"),
        Column("threads", "threads", words.count),
        Column("asked, 1/s", "asked_hz", words.ratio),
        Column("in effect, 1/s", "hz", words.ratio),
        Column("periods lost", "lost", words.points),
        Column("callers cut", "cut", words.points),
        Column("time it took", "cost", words.points),
    ],
    note="Threads of all ranks. In effect: interruptions per second; a late interruption counts for the periods that "
    "it missed.",
    source=_SAMPLES_SOURCE,
)

CALLERS: Exhibit[Job] = Exhibit(
    name="callers",
    title="Functions and who called them",
    metric=samples.callers,
    columns=_COLUMNS,
    note=_NOTE,
    asked=True,
    drilled=True,
    levels=samples.LEVELS.known,
    source=_SAMPLES_SOURCE,
    apart=True,
)

CALLTREE: Exhibit[Job] = Exhibit(
    name="calltree",
    title="Call tree",
    metric=samples.calltree,
    columns=_COLUMNS,
    note="From the caller to the called function; a row counts its own samples and those of all functions that it "
    "called.",
    asked=True,
    drilled=True,
    levels=(*samples.LEVELS.known, "frame"),
    source=_SAMPLES_SOURCE,
    apart=True,
)

REGIONS: Exhibit[Job] = Exhibit(
    name="regions",
    title="Regions that the program marks",
    metric=regions.regions,
    columns=[
        NAME,
        *share_columns("Time", "exclusive_time"),
        Column("with inner ones, s", "time", guarded_seconds),
        Column("Calls", "calls", words.guarded),
        Column("without end", "unended", words.guarded, optional=True),
        Column("shortest, s", "min_time", guarded_seconds),
        Column("longest, s", "max_time", guarded_seconds),
    ],
    note="Values of an average rank, over all of its threads. Time excludes inner regions; the shortest and longest "
    "single visit include them. Sums that include inner regions are left out for regions that contain each other.",
    asked=True,
    drilled=True,
    levels=regions.LEVELS.known,
    source="a program that marks regions (iolens_region_begin, PAT_region_begin)",
)
