"""Bytes over time: by rank, in the busiest file, and from the first to the last access."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.job import cost
from iolens.metrics.job.interfaces import operations
from iolens.metrics.once import once_per_job
from iolens.metrics.times import clocks, periods, timespans, traces
from iolens.metrics.times.timespans import timelines
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import Block, Cells, FigureBlock
from iolens.pages.base.exhibit import EVERY, Column, Exhibit

if TYPE_CHECKING:
    import numpy as np


_LEAST_PART = 0.001
"""Minimum share of the bytes of the busiest layer for which a layer has its own map."""


def _activity_figures(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a map of bytes over time and ranks for each layer."""
    yield from (activity_figure(job, module) for module in mapped_layers(job))


def activity_figure(job: Job, module: str) -> FigureBlock:
    """Returns the timeline of a layer, if it has one."""
    from iolens.figures.job_times import activity_map

    grids = timespans.activity(job, module)
    assert grids is not None
    written, read, width = grids
    each = -(-job.nprocs // len(written))
    caption = _map_caption(job, each, width)
    if not timespans.has_heatmap(job, module):
        caption += " From traced calls (DXT); the bytes of a call are spread evenly over its time."
    figure = activity_map(written, read, width, job.nprocs)
    firsts = range(0, job.nprocs, each)
    rows = [f"rank {n}" if each == 1 else f"ranks {n} to {min(n + each, job.nprocs) - 1}" for n in firsts]
    cells = Cells({"written": written, "read": read}, rows, width)
    return FigureBlock(
        figure,
        caption,
        title=f"{module}: bytes over time",
        says=_busiest(written + read, width, rows),
        about=ACTIVITY.about,
        cells=cells,
        timelines=lambda: timelines(job, module),
    )


def _map_caption(job: Job, each: int, width: float) -> str:
    """Returns the caption of a map whose rows have `each` ranks, and whose bins are `width` seconds wide."""
    bins = f"in bins of {words.duration(width)}; a bin without bytes is blank."
    if job.nprocs < 2:
        return f"Bytes {bins} Look for pauses."
    row = "each rank" if each == 1 else f"{each} neighbouring ranks"
    look = "Look for ranks that move more than others, and for pauses."
    return f"Bytes of {row} {bins} Above: the sum over all ranks. {look}{_clock_words(job)}"


def _busiest(moved: np.ndarray, width: float, rows: list[str]) -> str:
    """Returns the time and the ranks in which most bytes moved, and the share of the time in which none did."""
    bins = moved.sum(axis=0)
    first = int(bins.argmax())
    idle = float((bins == 0).sum()) / len(bins)
    ranks = columns.extremes(zip(rows, moved.sum(axis=1).tolist(), strict=True), words.size)
    return (
        f"most bytes between {words.duration(first * width)} and {words.duration((first + 1) * width)}: "
        f"{words.size(float(bins[first]))}; none in {words.share(idle)} of the time. By rank: {ranks}"
    )


def _with_spread(mean: float, deviation: float) -> str:
    """Returns a mean and its standard deviation as text, for example "2 s ± 0.1 s"."""
    return f"{words.seconds(mean)} ± {words.seconds(deviation)}"


def _clock_words(job: Job) -> str:
    """Returns a note if ranks of nodes with different clocks share a time axis."""
    known = clocks.common_clock(job)
    return f" {known.said}" if known.uncertainty else ""


def activity_maps(job: Job) -> list[Block]:
    """Returns a map of bytes over time for each layer, the layer that moved most bytes first."""
    return [activity_figure(job, module) for module in mapped_layers(job)]


@once_per_job
def mapped_layers(job: Job) -> list[str]:
    """Returns the layers whose bytes over time are worth a map, the layer that moved most bytes first. Left out are
    standard streams, layers with too few bins or without bytes, and layers that moved a negligible part of the bytes of
    the busiest layer.
    """
    moved = cost.moved_once(job)
    found: dict[str, float] = {}
    for module in sorted(timespans.mapped(job), key=lambda name: -moved.get(name, 0)):
        grids = timespans.activity(job, module)
        streams = module == "STDIO" and "STDIO" in job.frames and not operations.file_bytes(job, module)
        if (
            grids is not None
            and grids[0].shape[1] >= timespans.FEWEST_SPAN_BINS
            and (grids[0].any() or grids[1].any())
            and not streams
        ):
            found[module] = float(grids[0].sum() + grids[1].sum())
    return [module for module, bytes_moved in found.items() if bytes_moved >= _LEAST_PART * max(found.values())]


def _place_figures(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a map of the places in the busiest file over time for each traced layer."""
    from iolens.figures.job_times import place_map

    for module, layer in zip(found["module"], found["layer"], strict=True):
        one = traces.transfer_places(job, module)
        if one is None:
            continue
        count = f"{one.calls:,}" + (f" of {one.made:,}" if one.made != one.calls else "")
        whose = " of all ranks" if job.nprocs > 1 else ""
        caption = f"{one.path}: {count} calls{whose} were traced. This is the file with the most bytes."
        if layer == "MPI-IO":
            caption += " Accesses through a view are drawn in one piece from their first byte on."
        if one.begin > 0:
            caption += " Only the time of these calls is shown."
        caption += " Look for jumps back, and for places that are moved again."
        figure = place_map(one.written, one.read, one.end, one.begin, one.seconds)
        kinds = [kind for kind, seen in (("written", one.written), ("read", one.read)) if seen.any()]
        says = (
            f"{words.plural(one.calls, 'call')} on {one.path}, {' and '.join(kinds) or 'moving nothing'}, in the first "
            f"{words.size(one.end)}, from {words.duration(one.begin)} to {words.duration(one.seconds)}"
        )
        yield FigureBlock(figure, caption, title=f"{layer}: places in the busiest file over time", says=says)


_RANK_SPAN_NOTE = "Files for which the log has each rank separately, without standard streams."
_ONE_SPAN_NOTE = "Without standard streams."


def _rank_span_figures(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields, for reads and for writes, a figure of the time from the first to the last access of each rank."""
    from iolens.figures.job_times import rank_spans_figure

    whose, note = (" of each rank", _RANK_SPAN_NOTE) if job.nprocs > 1 else ("", _ONE_SPAN_NOTE)
    for kind in ("read", "write"):
        part = found[found["kind"] == kind]
        if len(part):
            figure = rank_spans_figure(found, kind, job.nprocs, job.run_time)
            begin, end = part.loc[part["start"].idxmin()], part.loc[part["end"].idxmax()]
            yield FigureBlock(
                figure,
                f"{note}{_which_ranks(job, part, kind)}{_beyond_the_end(job, part)}",
                title=f"First to last {kind}{whose}",
                says=f"the first at {words.duration(begin['start'])} on rank {begin['rank']}, the last until "
                f"{words.duration(end['end'])} on rank {end['rank']}; {words.plural(part['rank'].nunique(), 'rank')}",
            )


def _which_ranks(job: Job, spans: pd.DataFrame, kind: str) -> str:
    """Returns a note on how many ranks read or wrote, and on what to look for in the figure; empty for a job of one
    process.
    """
    if job.nprocs < 2:
        return ""
    seen = spans["rank"].nunique()
    if seen == 1:
        return f" Only rank {spans['rank'].iloc[0]} has such {kind}s."
    look = " Look for ranks that begin or end late."
    return look if seen == job.nprocs else f" {seen:,} of {job.nprocs:,} ranks have such {kind}s.{look}"


def _beyond_the_end(job: Job, spans: pd.DataFrame) -> str:
    """Returns a note if an access ends after the run time, since a log's clocks do not agree more closely."""
    late = float(spans["end"].max()) - job.run_time
    if late <= 0:
        return ""
    return (
        f" The last access ends {words.seconds(late)} s after the end of the job in this log: times in this log are "
        f"no more precise than that."
    )


def _shared_span_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of the first to the last read and write of each file that all ranks share."""
    from iolens.figures.job_times import shared_spans_figure

    caption = "From the start of the first rank to the end of the last rank. Look for overlaps of reading and writing."
    caption += _beyond_the_end(job, found)
    figure = shared_spans_figure(found, job.run_time)
    lengths = zip(found["path"] + ", " + found["kind"], found["end"] - found["start"], strict=True)
    says = columns.largest(lengths, words.duration)
    yield FigureBlock(figure, caption, title="First to last access of files shared by all ranks", says=says)


ACTIVITY: Exhibit[Job] = Exhibit("activity", "Bytes over time", timespans.heatmap, draw=_activity_figures)

PERIODS: Exhibit[Job] = Exhibit(
    name="periods",
    title="Bursts that repeat",
    metric=periods.periods,
    columns=[
        Column("bytes", "kind"),
        Column("layer", "module"),
        Column("bursts", "bursts", words.count),
        Column("every, s", ("period", "period_spread"), _with_spread),
        Column("each takes, s", "burst", words.seconds),
        Column("of the run", "share", words.share),
        Column("moved in all", "bytes", words.size),
        Column("by chance", "chance", words.share),
    ],
    note="A burst is time in which more bytes move than on average. By chance: the share of maps with pauses "
    "of random lengths that look at least as regular as this one. iolens advise --mtbf says how often checkpoints "
    "are worth it.",
)

PLACES: Exhibit[Job] = Exhibit(
    "places", "Places in the busiest file over time", traces.busiest_files, draw=_place_figures
)

THREADS: Exhibit[Job] = Exhibit("threads", "Traced accesses of each thread", traces.threads)
"""Exhibit for the exports only, because a job has as many rows as threads."""

RANK_SPANS: Exhibit[Job] = Exhibit(
    name="rank_spans",
    title="First and last access of each rank",
    metric=timespans.rank_spans,
    columns=[
        Column("", "kind"),
        Column("rank", "rank"),
        Column("first, s", "start", words.seconds),
        Column("last, s", "end", words.seconds),
    ],
    draw=_rank_span_figures,
)

SHARED_SPANS: Exhibit[Job] = Exhibit(
    "shared_spans",
    "First to last access of files shared by all ranks",
    timespans.shared_spans,
    whole=lambda job: timespans.shared_spans(job, EVERY),
    draw=_shared_span_figure,
)
