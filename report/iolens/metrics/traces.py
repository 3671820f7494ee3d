"""What single transfers say, where they were traced (DXT)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.files import paths
from iolens.metrics.layers import LAYERS
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

TRACES = {"DXT_MPIIO": "MPI-IO", "DXT_POSIX": "POSIX"}
"""Modules of single transfers, and the layer of each."""

COUNTED = [
    (layer, f"{LAYERS[layer].prefix}_{counter}")
    for layer in TRACES.values()
    for operation, counters in LAYERS[layer].operations.items()
    if operation.endswith(("read", "write"))
    for counter in counters
]
"""Layer and counter of every kind of read and write."""


SHORT = 0.2
"""Part of the run below which the time of the calls on a file is shown alone."""


@dataclass(frozen=True)
class Places:
    """Where in one file and when bytes moved: arrays (rows of offsets, columns of time) of bool."""

    path: str
    written: np.ndarray
    read: np.ndarray
    end: int
    """Bytes from the start of the file to the upper edge of the last row."""
    begin: float
    """Seconds from the start of the job to the left edge of the first column."""
    seconds: float
    """From the start of the job to the right edge of the last column."""
    calls: int
    made: int
    """Calls on the file that the layer's own records count: more than `calls` where tracing ended early."""


@once_per_job
def busiest_files(job: Job) -> pd.DataFrame | None:
    """Of each traced layer the file that moved most bytes (`places`): module, layer, path, calls (traced), end (bytes).

    None where nothing was traced.
    """
    import pandas as pd

    found = [(module, layer, places(job, module)) for module, layer in TRACES.items()]
    rows = [(module, layer, one.path, one.calls, one.end) for module, layer, one in found if one is not None]
    return pd.DataFrame(rows, columns=["module", "layer", "path", "calls", "end"]) if rows else None


@once_per_job
def threads(job: Job) -> pd.DataFrame | None:
    """What each thread of each rank moved, where traces tell threads apart.

    Columns: layer, rank, thread (numbered within the rank by its first access, from 0), calls, read, written (bytes),
    seconds (sum of its calls' times). Logs of Darshan after 3.5.0 tell threads; None where no rank has two.
    """
    import pandas as pd

    found = []
    for module, layer in TRACES.items():
        frame = job.frames.get(module)
        if frame is None or "thread" not in frame or frame.empty:
            continue
        part = frame[["rank", "thread"]].assign(
            calls=1,
            read=frame["length"].where(frame["op"] == "read", 0),
            written=frame["length"].where(frame["op"] == "write", 0),
            seconds=frame["end"] - frame["start"],
        )
        found.append(part.groupby(["rank", "thread"], as_index=False).sum().assign(layer=layer))
    table = pd.concat(found, ignore_index=True) if found else None
    if table is None or not (table["thread"] > 0).any():
        return None
    return table[["layer", "rank", "thread", "calls", "read", "written", "seconds"]]


@once_per_job
def places(job: Job, module: str, rows: int = 64, columns: int = 200) -> Places | None:
    """The traced file of `module` (DXT_POSIX or DXT_MPIIO) that moved most bytes; None where none was traced.

    A cell is true when a call moved bytes of its offsets in its time; calls of unknown offset are left out. Columns
    are of the whole run, or of the time from the first to the last call where that is less than SHORT of it.
    """
    frame = job.frames.get(module)
    frame = None if frame is None else frame[(frame["offset"] >= 0) & (frame["length"] > 0)]
    if frame is None or frame.empty:
        return None
    busiest = int(frame.groupby("id")["length"].sum().idxmax())
    frame = frame[frame["id"] == busiest]
    end = int((frame["offset"] + frame["length"]).max())
    begin, seconds = 0.0, max(job.run_time, float(frame["end"].max()))
    first_call, last_call = float(frame["start"].min()), float(frame["end"].max())
    if 0 < last_call - first_call < SHORT * seconds:
        begin, seconds = first_call, last_call
    grids = {}
    for op in ("write", "read"):
        part = frame[frame["op"] == op]
        first = part["offset"].to_numpy(dtype=np.int64)
        last = first + part["length"].to_numpy(dtype=np.int64) - 1
        at = [(part[name].to_numpy(dtype=float) - begin) / (seconds - begin) * columns for name in ("start", "end")]
        low, high = (value / end * rows for value in (first, last))
        grids[op] = covered(
            cells(low, rows), cells(high, rows), cells(at[0], columns), cells(at[1], columns), rows, columns
        )
    made = calls_made(job, TRACES[module], len(frame), busiest)
    return Places(paths(job, [busiest])[0], grids["write"], grids["read"], end, begin, seconds, len(frame), made)


def calls_made(job: Job, layer: str, least: int, key: int | None = None) -> int:
    """Reads and writes that a layer counted, of one file or of all; `least` where it has no record, or fewer."""
    frame, names = job.frames.get(layer), [name for kind, name in COUNTED if kind == layer]
    if frame is None:
        return least
    rows = frame if key is None else frame[frame["id"] == key]
    return max(least, int(rows[names].clip(lower=0).to_numpy().sum()))


def cells(values: np.ndarray, count: int) -> np.ndarray:
    """Numbers of the cells that values from 0 to `count` lie in; what cannot be is put into the nearest one."""
    return np.asarray(np.clip(np.nan_to_num(values), 0, count - 1), dtype=np.int64)


def covered(
    low: np.ndarray, high: np.ndarray, begin: np.ndarray, stop: np.ndarray, rows: int, columns: int
) -> np.ndarray:
    """The cells under any of the rectangles: corners are counted, and summed along both axes."""
    corners = np.zeros((rows + 1, columns + 1), dtype=np.int64)
    np.add.at(corners, (low, begin), 1)
    np.add.at(corners, (high + 1, stop + 1), 1)
    np.add.at(corners, (low, stop + 1), -1)
    np.add.at(corners, (high + 1, begin), -1)
    return np.asarray(corners.cumsum(axis=0).cumsum(axis=1)[:rows, :columns] > 0)
