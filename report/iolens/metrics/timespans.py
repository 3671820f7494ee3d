"""When I/O happened: from the first to the last access of each rank and file, and bytes over time. Seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.files import lowest, paths
from iolens.metrics.once import once_per_job
from iolens.metrics.operations import stream_ids
from iolens.metrics.timeline import KINDS, Timeline, traced
from iolens.metrics.traces import TRACES

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


FEWEST_BINS = 3
"""Time bins without which a map over time says nothing."""


@once_per_job
def spans(job: Job) -> pd.DataFrame:
    """The time from the first access's start to the last one's end of every record.

    Columns: id, rank (-1: all of several), kind (`read`, `write`), start, end; the lowest layers; records without an
    access of the kind (timestamp 0) are left out.
    """
    import pandas as pd

    parts = []
    for name in lowest(job):
        frame = job.frames[name]
        if job.nprocs == 1:
            frame = frame.assign(rank=0)
        for kind in ("read", "write"):
            start, end = (f"{name}_F_{kind.upper()}_{edge}_TIMESTAMP" for edge in ("START", "END"))
            seen = frame.loc[frame[end] > 0, ["id", "rank", start, end]]
            parts.append(seen.set_axis(["id", "rank", "start", "end"], axis=1).assign(kind=kind))
    if not parts:
        columns = {"id": "u8", "rank": "i8", "start": "f8", "end": "f8", "kind": object}
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in columns.items()})
    return pd.concat(parts, ignore_index=True)


@once_per_job
def rank_spans(job: Job) -> pd.DataFrame:
    """Per `rank` and `kind`: first start and last end over the records that the rank has for itself in the log.

    Standard streams are left out: when a program prints says nothing of its files.
    """
    found = spans(job)
    own = found[(found["rank"] >= 0) & ~found["id"].isin(stream_ids(job))]
    return own.groupby(["kind", "rank"], as_index=False).agg(start=("start", "min"), end=("end", "max"))


@once_per_job
def shared_spans(job: Job, limit: int = 20) -> pd.DataFrame:
    """The spans of files that all ranks shared, the longest `limit`, in order of their start, with `path`.

    Standard streams are left out.
    """
    found = spans(job)
    shared = found[(found["rank"] < 0) & ~found["id"].isin(stream_ids(job))]
    length = (shared["end"] - shared["start"]).rename("length")
    longest = shared.assign(length=length).groupby("id")["length"].max().nlargest(limit).index
    kept = shared[shared["id"].isin(longest)].sort_values(["start", "id"], ignore_index=True)
    return kept.assign(path=paths(job, kept["id"]))


@once_per_job
def heatmap(job: Job) -> pd.DataFrame | None:
    """Bytes over time as the log has them, one row a rank and bin: module, rank, start and end (of the bin), written,
    read. None without a HEATMAP.
    """
    frame = job.frames.get("HEATMAP")
    if frame is None:
        return None
    start = frame["bin"] * frame["width"]
    return frame.assign(start=start, end=start + frame["width"])[["module", "rank", "start", "end", "written", "read"]]


@once_per_job
def mapped(job: Job) -> list[str]:
    """The layers whose bytes over time are known, from their heat map or from traced calls (DXT), upper ones first."""
    frame = job.frames.get("HEATMAP")
    seen = set() if frame is None else set(frame["module"].unique())
    seen |= {layer for module, layer in TRACES.items() if module in job.frames}
    return [name for name in ("MPI-IO", "POSIX", "STDIO", "DFS", "DAOS") if name in seen]


@once_per_job
def has_heatmap(job: Job, module: str) -> bool:
    """Whether the log has a layer's bytes over time, not only traced calls."""
    frame = job.frames.get("HEATMAP")
    return frame is not None and bool((frame["module"] == module).any())


@once_per_job
def activity(job: Job, module: str, rows: int = 64, columns: int = 200) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Bytes over time: arrays (ranks, bins) of bytes written and read, and the width of a bin in seconds.

    Ranks and bins are added up in groups so that there are at most `rows` and `columns`; bins after the end of the
    job are left out. From the layer's HEATMAP; without one from its traced calls (DXT), the bytes of each spread evenly
    over its time. None with neither.
    """
    if not has_heatmap(job, module):
        cells = traced(job, module)
        return traced_activity(cells[0], rows, columns) if cells else None
    frame = job.frames["HEATMAP"]
    frame = frame[frame["module"] == module]
    width = float(frame["width"].iloc[0])
    bins = int(frame["bin"].max()) + 1
    used = max(1, min(bins, int(np.ceil(job.run_time / width)))) if width > 0 else bins
    ranks = max(job.nprocs, int(frame["rank"].max()) + 1)  # a rank that moved nothing has no record
    grids = []
    for column in ("written", "read"):
        grid = np.zeros((ranks, bins))
        np.add.at(grid, (frame["rank"].to_numpy(), frame["bin"].to_numpy()), frame[column].to_numpy())
        grids.append(grouped(grouped(grid[:, :used], rows, 0), columns, 1))
    group = -(-used // columns) if used > columns else 1
    return grids[0], grids[1], width * group


def traced_activity(cells: Timeline, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray, float]:
    """`activity` from the cells of traced calls."""
    grids = np.zeros((len(KINDS), -(-cells.ranks // cells.each), cells.bins))
    np.add.at(grids, (cells.kind, cells.row, cells.bin), cells.moved)
    written, read = (grouped(grouped(grid, rows, 0), columns, 1) for grid in grids)
    return written, read, cells.width * -(-cells.bins // columns)


def grouped(grid: np.ndarray, most: int, axis: int) -> np.ndarray:
    """The grid with equal groups of neighbours added up along an axis, so that at most `most` remain."""
    size = grid.shape[axis]
    group = -(-size // most)
    if group <= 1:
        return grid
    return np.add.reduceat(grid, np.arange(0, size, group), axis=axis)
