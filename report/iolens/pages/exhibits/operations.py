"""The number of calls of each operation, their sizes, the order of their offsets, and their alignment."""

from __future__ import annotations

from collections.abc import Iterable

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.job.interfaces import operations
from iolens.missing import is_nan
from iolens.pages import words
from iolens.pages.blocks import FigureBlock
from iolens.pages.exhibit import EVERY, Column, Exhibit
from iolens.pages.exhibits import finding

_ORDER = (
    "Sequential: at a higher offset than the process's last access to the file. Consecutive: exactly where the last "
    "access ended; only consecutive accesses make full use of read-ahead and write-behind."
)


def _operations_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields one bar per operation, without standard streams, whose calls would dwarf those on files."""
    from iolens.figures.job_times import operation_bars

    caption = "Look for opens, stats and seeks that outnumber reads and writes."
    if job.nprocs > 1:
        caption = f"Summed over all ranks. {caption}"
    printed = int(found["on_streams"].sum())
    if printed:
        caption += f" Without {words.plural(printed, 'call')} on standard input, output and error."
    in_files = found.assign(count=found["count"] - found["on_streams"])
    if not (in_files["count"] > 0).any():
        return
    names = in_files["module"] + " " + in_files["operation"]
    says = finding.largest(zip(names, in_files["count"], strict=True), words.count)
    yield FigureBlock(operation_bars(in_files), caption, title="Operations", says=says)


def _uncounted(job: Job) -> str:
    """Returns a note about operations that have no counter."""
    missing = any(count is None or is_nan(count) for count in operations.operations_called(job)["count"].tolist())
    return "n/a: this version of the log does not count it." if missing else ""


def _size_figures(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of the access sizes of each layer, as bars."""
    from iolens.figures.job_transfers import size_bars

    for name in dict.fromkeys(found["module"]):
        caption = "Look for many accesses on the left: each access has a cost, even if it is small."
        if name != "POSIX":
            caption = "Each access counts once, even if it has several pieces."
        sizes = operations.access_sizes(job, name).frame()
        named = [_size_range(bucket) for bucket in sizes["bucket"]]
        says = ". ".join(
            f"{kind} by bytes: {finding.largest(zip(named, sizes[kind], strict=True), words.count)}"
            for kind in ("reads", "writes")
        )
        yield FigureBlock(size_bars(sizes), caption, title=f"Access sizes: {name}", says=says)


def _pattern_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a bar of shares for reads and one for writes."""
    from iolens.figures.job_transfers import pattern_bars

    says = "; ".join(
        f"{row.kind}s: {words.share(row.sequential_share)} sequential, {words.share(row.consecutive_share)} consecutive"
        for row in found.itertuples()
        if row.total
    )
    yield FigureBlock(pattern_bars(found), _ORDER, title="Order of POSIX accesses", says=says)


def _size_range(bucket: str) -> str:
    """Returns a range of access sizes in words."""
    return bucket.replace("_PLUS", " and more").replace("_", " to ")


OPERATIONS: Exhibit[Job] = Exhibit(
    name="operations",
    title="Operations",
    metric=operations.operations_called,
    columns=[
        Column("layer", "module"),
        Column("operation", "operation"),
        Column("calls", "count", words.count),
        Column("on standard streams", "on_streams", words.count, optional=True),
    ],
    note=_uncounted,
    draw=_operations_figure,
)

ACCESS_SIZES: Exhibit[Job] = Exhibit(
    name="access_sizes",
    title="Access sizes",
    metric=operations.all_access_sizes,
    columns=[
        Column("layer", "module"),
        Column("bytes", "bucket", _size_range),
        Column("reads", "reads", words.count),
        Column("writes", "writes", words.count),
    ],
    draw=_size_figures,
)

COMMON_SIZES: Exhibit[Job] = Exhibit(
    name="common_sizes",
    title="Most common access sizes",
    metric=operations.all_common_sizes,
    whole=lambda job: operations.all_common_sizes(job, EVERY),
    columns=[
        Column("layer", "module"),
        Column("size", "size", words.exact_size),
        Column("accesses", "count", words.count),
    ],
    note="From the four most frequent sizes of each record, reads and writes together.",
)

PATTERN: Exhibit[Job] = Exhibit(
    name="pattern",
    title="Order of POSIX accesses",
    metric=operations.access_pattern,
    needs="total",
    columns=[
        Column("", "kind", lambda kind: f"{kind}s"),
        Column("total", "total", words.count),
        Column("sequential", "sequential_share", words.share),
        Column("consecutive", "consecutive_share", words.share),
    ],
    note=_ORDER,
    draw=_pattern_figure,
)

ALIGNMENT: Exhibit[Job] = Exhibit(
    name="alignment",
    title="Alignment and switches",
    metric=operations.alignment,
    columns=[
        Column("POSIX accesses", "what"),
        Column("count", "count", words.count),
        Column("of all", "share", words.share),
    ],
)
