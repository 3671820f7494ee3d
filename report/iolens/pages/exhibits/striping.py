"""The stripes of files, the bytes that each storage target moved, and the ranks that met on a stripe."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iolens.advise.limits import DEFAULTS
from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.files.stripes import ost, striping
from iolens.metrics.job import ranks
from iolens.metrics.job.interfaces import mpiio, private_counts
from iolens.pages.base import columns, words
from iolens.pages.base.blocks import FigureBlock
from iolens.pages.base.columns import FAMILY_SIZE
from iolens.pages.base.exhibit import EVERY, Column, Exhibit

_MUCH = 1 << 20
"""Minimum number of bytes for which a figure shows a target's speed; with fewer, the measured time is that of a few
calls.
"""


def _targets_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields a figure of the number of files on each target, unless there is one target or the bytes of targets are
    known.
    """
    from iolens.figures.job_transfers import target_bars

    if len(found) > 1 and ost.target_rows(job) is None:
        caption = "Files that have a stripe on each target. Look for targets with more than the others, and idle ones."
        says = columns.extremes(_by_target(found, "files"), words.count)
        yield FigureBlock(target_bars(found), caption, title="Targets in use", says=says)


def _target_bytes_figure(job: Job, found: pd.DataFrame) -> Iterable[FigureBlock]:
    """Yields the figures of bytes per target, and of the speed of a process on each target if known; a single target,
    or targets with few bytes, need no figure.
    """
    from iolens.figures.job_transfers import byte_bars, speed_bars

    much = found[found["bytes"] >= _MUCH]
    if len(found) > 1 and len(much):
        caption = "Read and written by all ranks. Look for targets with more than the others, and idle ones."
        says = columns.extremes(_by_target(found, "bytes"), words.size)
        yield FigureBlock(byte_bars(found), caption, title="Bytes per target", says=says)
    if len(much) > 1 and much["bytes_per_second"].notna().all():
        caption = "Bytes divided by the time of all ranks in reads and writes. Look for a target far below the others."
        caption += f" Targets that moved less than {words.size(_MUCH)} are left out." if len(much) < len(found) else ""
        says = columns.extremes(_by_target(much, "bytes_per_second"), words.rate)
        yield FigureBlock(speed_bars(much), caption, title="Speed of a process on each target", says=says)


def _by_target(found: pd.DataFrame, column: str) -> list[tuple[str, float]]:
    """Returns each target's name with its value in a column."""
    return [(f"target {ost}", value) for ost, value in zip(found["ost"], found[column], strict=True)]


def _slowest_target(job: Job) -> tuple[int, float, float] | None:
    """Returns the slowest target that is clearly slow, its speed and the median one's; None if there is none.

    If the advice names a slow target, it is this one.
    """
    alone, speeds = ranks.clearly_slow_targets(job, DEFAULTS["straggler"]), ranks.target_speed(job)
    if alone is not None and speeds is not None:
        worst = alone["overall"].argmin()
        return int(alone["ost"][worst]), float(alone["overall"][worst]), float(np.median(speeds["overall"]))
    slow = ost.slow_targets(job)
    return next(slow.rows("ost", "bytes_per_second", "median"), None) if slow is not None else None


def _target_note(job: Job) -> str:
    """Returns a note about the balance of the targets, and about bytes outside of them."""
    found = ost.target_bytes(job)
    if found.table is None:
        return ""
    times = words.ratio(ost.target_imbalance(found.table))
    compared = "as much as" if float(times) == 1 else f"{times} times"
    note = f"The busiest target moved {compared} the mean of these targets." if len(found.table) > 1 else ""
    slow = _slowest_target(job)
    if slow is not None:
        first, speed, median = slow
        note = (
            f"Target {first} was slow: a process that used it moved {words.rate(speed)}, "
            f"a process on the median target {words.rate(median)}. {note}"
        )
    if found.unplaced:
        note += (
            f" {words.size(found.unplaced)} more have an unknown target, because they are on mirrors or on metadata "
            "targets."
        )
    return note.strip()


def _no_target_bytes(job: Job) -> str:
    """Returns the reason why the bytes of each target are unknown although the layout is known."""
    return f"Bytes per target: n/a, {ost.target_bytes(job).reason}." if "LUSTRE" in job.records else ""


def _sum_in_unit(total: float, unit: str) -> str:
    """Returns a sum of a Lustre counter in its unit; nothing if it has none."""
    if unit == "bytes":
        return words.size(total)
    return f"{words.count(total)} {unit}" if total else ""


_CLIENT_LAYERS = {"llite": "programs", "osc": "storage targets"}

LAYOUTS: Exhibit[Job] = Exhibit(
    name="layouts",
    title="Stripe layouts",
    metric=striping.layouts,
    columns=[
        Column("stripes", "stripe_count"),
        Column("stripe size", "stripe_size", words.exact_size),
        Column("component", "component", lambda value: str(value + 1)),
        Column("up to", "extent_end", lambda value: "end of file" if value == -1 else words.exact_size(value)),
        Column("pool", "pool", lambda value: value or "none"),
        Column("files", "files", words.count),
        Column("transferred", "bytes", words.size),
        Column("for example", "path"),
    ],
)

CEPH_LAYOUTS: Exhibit[Job] = Exhibit(
    name="ceph_layouts",
    title="Layouts of files on CephFS",
    metric=striping.ceph_layouts,
    columns=[
        Column("stripes", "stripe_count"),
        Column("stripe size", "stripe_unit", words.exact_size),
        Column("object size", "object_size", words.exact_size),
        Column("pool", "pool"),
        Column("files", "files", words.count),
        Column("transferred", "bytes", words.size),
        Column("for example", "path"),
    ],
    note="Ceph does not tell a program which targets hold the objects of a file: iolens stripe get FILE lists them.",
)

TARGETS: Exhibit[Job] = Exhibit("targets", "Targets in use", striping.targets, draw=_targets_figure)

FILE_LAYOUTS: Exhibit[Job] = Exhibit(
    name="file_layouts",
    title="Stripes of the files with the most bytes",
    metric=striping.file_layouts,
    whole=lambda job: striping.file_layouts(job, EVERY, by_family=False),
    listed=lambda job: striping.file_layouts(job, EVERY),
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("transferred", "bytes", words.size),
        Column("stripes", "stripe_count"),
        Column("stripe size", "stripe_size", words.exact_size),
        Column("targets (OSTs)", "osts", lambda osts: mpiio.listed_ranks(sorted(osts))),
    ],
    apart=True,
)

TARGET_BYTES: Exhibit[Job] = Exhibit(
    name="target_bytes",
    title="Bytes per object storage target",
    metric=ost.target_rows,
    columns=[
        Column("target (OST)", "ost"),
        Column("ranks", "ranks", words.count),
        Column("files", "files", words.count),
        Column("written", "bytes_written", words.size),
        Column("read", "bytes_read", words.size),
        Column("reads and writes of all ranks, s", "seconds", words.seconds, optional=True),
        Column("speed of a rank", "bytes_per_second", words.rate, optional=True),
    ],
    note=_target_note,
    draw=_target_bytes_figure,
    absent=_no_target_bytes,
)

STRIPE_RANKS: Exhibit[Job] = Exhibit(
    name="stripe_ranks",
    title="Ranks on the stripes of a file",
    metric=ost.stripe_ranks,
    whole=lambda job: ost.stripe_ranks(job, EVERY, by_family=False),
    listed=lambda job: ost.stripe_ranks(job, EVERY),
    columns=[
        Column("file", "path"),
        FAMILY_SIZE,
        Column("transferred", "bytes", words.size),
        Column("ranks", "ranks", words.count),
        Column("stripes used", "stripes", words.count),
        Column("fewest ranks on one", "fewest_ranks", words.count),
        Column("most", "most_ranks", words.count),
        Column("fullest stripe", "fullest", words.ratio),
    ],
    note="Ranks that read or wrote on a stripe: writers of a stripe take its lock from each other. Fullest stripe: "
    "its bytes divided by the mean of the file's used stripes. For a family of files, the row shows the file with "
    "the most bytes.",
)

LUSTRE_CLIENT: Exhibit[Job] = Exhibit(
    name="lustre_client",
    title="Lustre clients of the job's nodes, from its start to its end",
    metric=private_counts.client_counters,
    columns=[
        Column("between client and", "layer", lambda layer: _CLIENT_LAYERS.get(str(layer), str(layer))),
        Column("counter", "counter"),
        Column("samples", "samples", words.count),
        Column("sum", ("sum", "unit"), _sum_in_unit),
        Column("nodes", "nodes", words.count),
    ],
    note="Values of all programs on these nodes, not only of this job. Bytes between client and storage targets "
    "differ from the programs' bytes by the data that the client keeps, reads ahead or has not yet written.",
)
