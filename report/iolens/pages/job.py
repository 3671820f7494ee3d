"""A job's summary: which exhibits and figures stand on which page. A page with nothing to show is left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iolens.figures.activity import activity_map
from iolens.figures.cost import cost_bars
from iolens.figures.operations import operation_bars
from iolens.figures.pattern import pattern_bars
from iolens.figures.places import place_map
from iolens.figures.sizes import size_bars
from iolens.figures.targets import byte_bars, target_bars
from iolens.figures.timespans import rank_spans, shared_spans
from iolens.log import Job, read_log
from iolens.metrics import cost, mpiio, operations, ost, striping, timespans, traces
from iolens.pages import job_tables as tables
from iolens.pages import job_tables_striping as striping_tables
from iolens.pages import words
from iolens.pages.blocks import Block, FigureBlock, Page, Row, Table, Text
from iolens.pages.document import write_pdf
from iolens.pages.exhibit import Exhibit
from iolens.pages.job_words import facts, labels, subtitle, title, verdicts

if TYPE_CHECKING:
    import pandas as pd

EXHIBITS = (
    tables.performance,
    tables.io_cost,
    tables.operation_counts,
    tables.access_sizes,
    tables.common_sizes,
    tables.pattern,
    tables.alignment,
    tables.file_counts,
    tables.file_systems,
    tables.top_files("seconds", "Files that took most time"),
    tables.top_files("bytes", "Files with the most bytes"),
    tables.average_io,
    tables.spans,
    tables.variance,
    striping_tables.layouts,
    tables.other_calls,
    striping_tables.file_layouts,
    striping_tables.target_bytes,
    striping_tables.stripe_ranks,
    striping_tables.client_counters,
    striping_tables.hints,
    striping_tables.aggregators,
    striping_tables.collectives,
    tables.other_mpiio_calls,
    tables.hosts,
    tables.modules,
)
"""Every table, in the order of the terminal's summary."""

FEWEST_BINS = 3
"""Time bins without which a map over time says nothing."""


def exhibits(job: Job) -> dict[str, Exhibit]:
    """The job's tables by name, without those that have nothing to show."""
    found = (make(job) for make in EXHIBITS)
    return {one.name: one for one in found if one is not None}


def write_job_pdf(log: Path | Job, pdf: Path) -> dict[str, Exhibit]:
    """Write the summary of a job, given as such or as its log; returns the tables."""
    job = read_log(log) if isinstance(log, Path) else log
    shown = exhibits(job)
    write_pdf(pdf, title(job), subtitle(job), job_pages(job, shown), labels(job))
    return shown


def job_pages(job: Job, shown: dict[str, Exhibit]) -> list[Page]:
    """The pages that have something to show; the first one always has."""
    file_tables = ("file_counts", "file_systems", "files_by_seconds", "files_by_bytes", "other_calls")
    pages = [
        Page("Job summary", summary(job, shown)),
        Page("How it was accessed", accesses(job, shown), joined=True),
        Page("Files and file systems", chosen(shown, *file_tables), joined=True),
        Page("When", when(job, shown), joined=True),
        Page("Shared files", chosen(shown, "shared_files"), joined=True),
        Page("Striping and MPI-IO", striped(job, shown), joined=True),
        Page("About this log", chosen(shown, "hosts", "modules"), joined=True),
    ]
    return [page for page in pages if page.blocks]


def chosen(shown: dict[str, Exhibit], *names: str) -> list[Block]:
    """The tables of these names that exist."""
    return [shown[name].table for name in names if name in shown]


def summary(job: Job, shown: dict[str, Exhibit]) -> list[Block]:
    """Facts, speed, cost and operations."""
    blocks: list[Block] = [Row([Table("", ["", ""], part) for part in facts(job)])]
    blocks += [Text(sentence, "lead") for sentence in verdicts(job)]
    blocks += [Text(f"Incomplete. {reason}") for reason in job.partial]
    blocks += [Text(f"Not followed: {reason}") for reason in job.unfollowed]
    blocks += chosen(shown, "performance")
    if "io_cost" in shown:
        blocks.append(cost_row(job))
    return blocks


def cost_row(job: Job) -> Row:
    """The two figures that every summary begins with."""
    bars = FigureBlock(
        cost_bars(cost.io_cost(job), job.run_time),
        "Share of the run time of an average process. MPI-IO contains the POSIX time below it.",
        title="Average I/O cost per process",
    )
    counts = FigureBlock(operation_bars(operations.operation_counts(job)), "Summed over all ranks.", title="Operations")
    return Row([bars, counts])


def accesses(job: Job, shown: dict[str, Exhibit]) -> list[Block]:
    """Sizes, order, alignment."""
    histograms = [
        FigureBlock(size_bars(sizes), caption, title=f"Access sizes: {name}")
        for name, sizes, caption in size_frames(job)
    ]
    blocks: list[Block] = list(pairs(histograms))
    found = operations.access_pattern(job)
    side: list[Block] = []
    if found is not None and "pattern" in shown:
        side.append(FigureBlock(pattern_bars(found), title="Order of POSIX accesses"))
    side += chosen(shown, "common_sizes")
    blocks += pairs(side)
    blocks += pairs(chosen(shown, "pattern", "alignment"))
    return blocks


def size_frames(job: Job) -> list[tuple[str, pd.DataFrame, str]]:
    """The histograms with anything in them."""
    found = []
    for name in tables.sized(job):
        sizes = operations.access_sizes(job, name)
        if sizes["reads"].any() or sizes["writes"].any():
            found.append((name, sizes, "" if name == "POSIX" else "Whole accesses, however many pieces they have."))
    return found


def pairs(blocks: Sequence[Block]) -> list[Block]:
    """Blocks two abreast."""
    return [Row([*blocks[i : i + 2], *([Text("")] if i + 1 == len(blocks) else [])]) for i in range(0, len(blocks), 2)]


def when(job: Job, shown: dict[str, Exhibit]) -> list[Block]:
    """Activity over time and ranks."""
    blocks: list[Block] = []
    for module in ("MPI-IO", "POSIX", "STDIO"):
        found = timespans.activity(job, module)
        if found is not None and found[0].shape[1] >= FEWEST_BINS and (found[0].any() or found[1].any()):
            written, read, width = found
            each = -(-job.nprocs // len(written))
            row = "each rank" if each == 1 else f"{each} neighbouring ranks"
            caption = f"Bytes of {row} in bins of {words.seconds(width)} s; above: all ranks together."
            figure = activity_map(written, read, width, job.nprocs)
            blocks.append(FigureBlock(figure, caption, title=f"{module}: bytes over time"))
    blocks += traced(job)
    own = timespans.rank_spans(job)
    blocks += pairs(
        [
            FigureBlock(
                rank_spans(own, kind, job.nprocs, job.run_time),
                title=f"First to last {kind} of each rank in its own files",
            )
            for kind in ("read", "write")
            if (own["kind"] == kind).any()
        ]
    )
    shared = timespans.shared_spans(job)
    if not shared.empty:
        figure = shared_spans(shared, job.run_time)
        blocks.append(FigureBlock(figure, title="First to last access of files shared by all ranks"))
    return blocks + chosen(shown, "average_io")


def traced(job: Job) -> list[Block]:
    """Where in the busiest file, from single transfers."""
    blocks: list[Block] = []
    in_pieces = " Accesses through a view are drawn in one piece from their first byte on."
    for module, layer, note in (("DXT_MPIIO", "MPI-IO", in_pieces), ("DXT_POSIX", "POSIX", "")):
        found = traces.places(job, module)
        if found is not None:
            caption = f"{found.path}: {found.calls} traced calls of all ranks; the file that moved most bytes.{note}"
            figure = place_map(found.written, found.read, found.end, found.seconds)
            blocks.append(FigureBlock(figure, caption, title=f"{layer}: places in the busiest file over time"))
    return blocks


def per_target(job: Job, shown: dict[str, Exhibit]) -> list[Block]:
    """Bytes per storage target, or why they are not known."""
    found = ost.target_bytes(job)
    if found.table is None:
        return [Text(f"Bytes per target: n/a, {found.reason}.")] if "LUSTRE" in job.frames else []
    bars = FigureBlock(byte_bars(found.table), title="Bytes per target")
    return [*([bars] if len(found.table) > 1 else []), *chosen(shown, "target_bytes", "stripe_ranks")]


def striped(job: Job, shown: dict[str, Exhibit]) -> list[Block]:
    """Layouts, hints, and who wrote."""
    blocks = chosen(shown, "layouts")
    targets = striping.targets(job)
    if targets is not None and len(targets) > 1:
        caption = "Files that have a stripe on each target."
        blocks.append(FigureBlock(target_bars(targets), caption, title="Targets in use"))
    blocks += chosen(shown, "file_layouts") + per_target(job, shown) + chosen(shown, "lustre_client", "hints")
    if "hints" not in shown and "MPI-IO" in job.frames:
        blocks.append(Text("MPI-IO hints: n/a, this log does not record them (Darshan counts them only)."))
    blocks += chosen(shown, "aggregators", "collectives", "other_mpiio_calls")
    said = [
        f"POSIX {verb} {value:.2f} bytes for each byte of MPI-IO."
        for verb, value in zip(("read", "wrote"), mpiio.byte_ratios(job).values(), strict=True)
        if value is not None
    ]
    return blocks + ([Text(" ".join(said))] if said else [])
