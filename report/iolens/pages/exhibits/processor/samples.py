"""The time of the processors by samples: groups, functions, lines, chains of callers, regions."""

from __future__ import annotations

from collections.abc import Iterable

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.processor import regions
from iolens.metrics.processor.sampled import samples
from iolens.pages import words
from iolens.pages.blocks import FigureBlock
from iolens.pages.exhibit import EVERY, Column, Exhibit
from iolens.pages.exhibits import finding
from iolens.pages.exhibits.processor.drilled import IMBALANCE_PERCENT, NAME, guarded_seconds, share_columns
from iolens.pages.exhibits.processor.time import PROFILE_TIME

_SOURCE = "iolens run --sample"
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

    groups = found["name"].where(found["level"] == "group").ffill()
    functions = found.assign(group=groups)[found["level"] == "function"]
    if len(functions):
        says = finding.largest(zip(functions["name"], functions["share"], strict=True), words.points)
        title = "Functions with most samples"
        yield FigureBlock(profile_bars(functions), "Share of all samples.", title=title, says=says)


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
    source=_SOURCE,
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
    source=_SOURCE,
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
    source=f"{_SOURCE}, of a program compiled with -g",
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
    source=_SOURCE,
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
    source=_SOURCE,
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
    source=_SOURCE,
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
