"""The times of I/O: from the first to the last access of each rank and file, and bytes over time. Seconds."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest, path_column
from iolens.metrics.files.use import among
from iolens.metrics.grouping import Groups, empty, labelled, ordered, stacked
from iolens.metrics.job.interfaces.operations import stream_ids
from iolens.metrics.once import once_per_job
from iolens.metrics.times.timeline import KINDS, Timeline, traced
from iolens.metrics.times.traces import TRACES

FEWEST_BINS = 3
"""Minimum number of time bins for a useful map over time."""


@once_per_job
def spans(job: Job) -> Records:
    """Returns the time from the first access's start to the last one's end of every record.

    Columns: id, rank (-1: all ranks), kind (`read`, `write`), start, end. Only the lowest layers count; records without
    an access of the kind (timestamp 0) are left out.
    """
    parts = [empty({"id": "u8", "rank": "i8", "start": "f8", "end": "f8", "kind": "O"})]
    for name in lowest(job):
        records = job.records[name]
        for kind in ("read", "write"):
            start, end = (records[f"{name}_F_{kind.upper()}_{edge}_TIMESTAMP"] for edge in ("START", "END"))
            rank = records["rank"] if job.nprocs > 1 else np.zeros(len(records), "i8")
            found = Records({"id": records["id"], "rank": rank, "start": start, "end": end})
            parts.append(labelled(found.where(end > 0), "kind", kind))
    return stacked(parts)


@once_per_job
def rank_spans(job: Job) -> Records:
    """Returns per `rank` and `kind`: first start and last end over the records that the rank has for itself in the log.

    Standard streams are left out, because the moments at which a program prints say nothing about its files.
    """
    found = spans(job)
    own = found.where((found["rank"] >= 0) & ~among(found["id"], stream_ids(job)))
    ranks = Groups(own["kind"], own["rank"])
    edges = {"start": ranks.min(own["start"]), "end": ranks.max(own["end"])}
    return ordered(own.take("kind", "rank").where(ranks.first).beside(edges), "kind", "rank")


@once_per_job
def shared_spans(job: Job, limit: int = 20) -> Records:
    """Returns the `limit` longest spans of files that all ranks shared, in order of their start, with `path`. Standard
    streams are left out.
    """
    found = spans(job)
    shared = found.where((found["rank"] < 0) & ~among(found["id"], stream_ids(job)))
    files = Groups(shared["id"])
    length = Records({"id": shared["id"][files.first], "length": files.max(shared["end"] - shared["start"])})
    longest = ordered(length, "-length", "id").where(slice(limit))
    kept = ordered(shared.where(among(shared["id"], longest["id"])), "start", "id")
    return kept.beside({"path": path_column(job, kept["id"])})


@once_per_job
def heatmap(job: Job) -> Records | None:
    """Returns bytes over time as the log has them, one row per rank and bin: module, rank, start and end (of the bin),
    written, read. None without a HEATMAP.
    """
    heat = job.records.get("HEATMAP")
    if heat is None:
        return None
    start = heat["bin"] * heat["width"]
    columns = {"start": start, "end": start + heat["width"]}
    return heat.beside(columns).take("module", "rank", "start", "end", "written", "read")


@once_per_job
def mapped(job: Job) -> list[str]:
    """Returns the layers whose bytes over time are known, from their heat map or from traced calls (DXT), upper ones
    first.
    """
    heat = job.records.get("HEATMAP")
    seen = set() if heat is None else set(heat["module"].tolist())
    seen |= {layer for module, layer in TRACES.items() if module in job.records}
    return [name for name in ("MPI-IO", "POSIX", "STDIO", "DFS", "DAOS") if name in seen]


@once_per_job
def has_heatmap(job: Job, module: str) -> bool:
    """Returns whether the log has a layer's bytes over time, not only traced calls."""
    heat = job.records.get("HEATMAP")
    return heat is not None and bool((heat["module"] == module).any())


@once_per_job
def activity(job: Job, module: str, rows: int = 64, columns: int = 200) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Returns bytes over time: arrays (ranks, bins) of bytes written and read, and the width of a bin in seconds.

    Ranks and bins are added up in groups so that there are at most `rows` and `columns`; bins after the end of the job
    are left out. From the layer's HEATMAP; without one from its traced calls (DXT), the bytes of each spread evenly
    over its time. None if the log has neither.
    """
    if not has_heatmap(job, module):
        cells = traced(job, module)
        return _traced_activity(cells[0], rows, columns) if cells else None
    heat = job.records["HEATMAP"]
    heat = heat.where(heat["module"] == module)
    width = float(heat["width"][0])
    bins = int(heat["bin"].max()) + 1
    used = max(1, min(bins, int(np.ceil(job.run_time / width)))) if width > 0 else bins
    ranks = max(job.nprocs, int(heat["rank"].max()) + 1)  # A rank that moved nothing has no record.
    grids = []
    for column in ("written", "read"):
        grid = np.zeros((ranks, bins))
        np.add.at(grid, (heat["rank"], heat["bin"]), heat[column])
        grids.append(_grouped_neighbours(_grouped_neighbours(grid[:, :used], rows, 0), columns, 1))
    group = -(-used // columns) if used > columns else 1
    return grids[0], grids[1], width * group


def _traced_activity(cells: Timeline, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns `activity` of traced calls: bytes written and read, at most `rows` by `columns`, and the seconds of a
    column.
    """
    grids = np.zeros((len(KINDS), -(-cells.ranks // cells.each), cells.bins))
    np.add.at(grids, (cells.kind, cells.row, cells.bin), cells.moved)
    written, read = (_grouped_neighbours(_grouped_neighbours(grid, rows, 0), columns, 1) for grid in grids)
    return written, read, cells.width * -(-cells.bins // columns)


def _grouped_neighbours(grid: np.ndarray, most: int, axis: int) -> np.ndarray:
    """Returns the grid with equal groups of neighbours added up along an axis, so that at most `most` remain."""
    size = grid.shape[axis]
    group = -(-size // most)
    if group <= 1:
        return grid
    return np.add.reduceat(grid, np.arange(0, size, group), axis=axis)
