"""Facts that follow from single transfers, if they were traced (DXT)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.files.overview import paths
from iolens.metrics.job.interfaces.layers import LAYERS
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    from iolens.log.records import Records

PIECE = 1 << 20
"""Number of rows that are processed at once, in frames with perhaps millions of rows."""

TRACES = {"DXT_MPIIO": "MPI-IO", "DXT_POSIX": "POSIX"}
"""Modules of single transfers, and the layer of each."""

_COUNTED = [
    (layer, f"{LAYERS[layer].prefix}_{counter}")
    for layer in TRACES.values()
    for operation, counters in LAYERS[layer].operations.items()
    if operation.endswith(("read", "write"))
    for counter in counters
]
"""Layer and counter of every kind of read and write."""


_SHORT = 0.2
"""If the calls on a file cover less than this share of the run, the time axis of its map covers only these calls."""


@dataclass(frozen=True)
class AccessedPlaces:
    """The places in one file at which bytes moved, over time: arrays (rows of offsets, columns of time) of bool."""

    path: str
    written: np.ndarray
    read: np.ndarray
    end: int
    """Bytes from the start of the file to the upper edge of the last row."""
    begin: float
    """Seconds from the start of the job to the left edge of the first column."""
    seconds: float
    """Seconds from the start of the job to the right edge of the last column."""
    calls: int
    """Calls on the file that were traced, with those that moved no bytes."""
    made: int
    """Calls on the file that the layer's own records count: more than `calls` where tracing ended early."""


@once_per_job
def busiest_files(job: Job) -> pd.DataFrame | None:
    """Returns, for each traced layer, the file that moved most bytes: module, layer, path, calls (traced), end (bytes).

    Returns None if nothing was traced.
    """
    found = [(module, layer, transfer_places(job, module)) for module, layer in TRACES.items()]
    rows = [(module, layer, one.path, one.calls, one.end) for module, layer, one in found if one is not None]
    return pd.DataFrame(rows, columns=["module", "layer", "path", "calls", "end"]) if rows else None


@once_per_job
def threads(job: Job) -> pd.DataFrame | None:
    """Returns the bytes that each thread of each rank moved, if traces distinguish threads.

    Columns: layer, rank, thread (numbered within the rank by its first access, from 0), calls, read, written (bytes),
    seconds (sum of its calls' times). Logs of Darshan after 3.5.0 distinguish threads; returns None if no rank has two.
    """
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
def transfer_places(job: Job, module: str, rows: int = 64, columns: int = 200) -> AccessedPlaces | None:
    """Returns the traced file of `module` (DXT_POSIX or DXT_MPIIO) that moved most bytes; None if none was traced.

    A cell is true when a call moved bytes of its offsets in its time; calls of unknown offset are left out. Columns
    cover the whole run, or the time from the first to the last call if that is less than _SHORT of the run.
    """
    frame = job.frames.get(module)
    if frame is None:
        return None
    known = (frame["offset"] >= 0) & (frame["length"] > 0)
    if not known.any():
        return None
    busiest = int(frame["length"].where(known, 0).groupby(frame["id"]).sum().idxmax())
    known &= frame["id"] == busiest
    end = max(int((part["offset"] + part["length"]).max()) for part in _in_pieces(frame, known))
    first_call = min(float(part["start"].min()) for part in _in_pieces(frame, known))
    last_call = max(float(part["end"].max()) for part in _in_pieces(frame, known))
    begin, seconds = 0.0, max(job.run_time, last_call)
    if 0 < last_call - first_call < _SHORT * seconds:
        begin, seconds = first_call, last_call
    corners = {op: np.zeros((rows + 1, columns + 1), dtype=np.int64) for op in ("write", "read")}
    for part in _in_pieces(frame, known):
        for op, counts in corners.items():
            mine = part[part["op"] == op]
            first = mine["offset"].to_numpy(dtype=np.int64)
            last = first + mine["length"].to_numpy(dtype=np.int64) - 1
            at = [(mine[name].to_numpy(dtype=float) - begin) / (seconds - begin) * columns for name in ("start", "end")]
            low, high = (_cells(value / end * rows, rows) for value in (first, last))
            _count_corners(counts, low, high, _cells(at[0], columns), _cells(at[1], columns))
    calls = int((frame["id"] == busiest).sum())
    made = calls_made(job, TRACES[module], calls, busiest)
    path, written, read = paths(job, [busiest])[0], covered(corners["write"]), covered(corners["read"])
    return AccessedPlaces(path, written, read, end, begin, seconds, calls, made)


def _in_pieces(frame: pd.DataFrame, mask: pd.Series[bool]) -> Iterator[pd.DataFrame]:
    """Yields the rows of a mask in portions that need little memory; no portion is empty."""
    for at in range(0, len(frame), PIECE):
        part = frame.iloc[at : at + PIECE][mask.iloc[at : at + PIECE]]
        if len(part):
            yield part


def record_slices(traced: pd.DataFrame | Records) -> dict[tuple[int, int], list[slice]]:
    """Returns where the rows of each file and rank are, by id and rank in the order of their first row.

    A log has them side by side, so this is faster than a groupby and needs no copy of the rows.
    """
    ids, ranks = (np.asarray(traced[name]) for name in ("id", "rank"))
    begins = run_begins(ids, ranks)
    found: dict[tuple[int, int], list[slice]] = {}
    for begin, end in pairwise([*begins.tolist(), len(traced)]):
        found.setdefault((int(ids[begin]), int(ranks[begin])), []).append(slice(begin, end))
    return found


def run_begins(*columns: np.ndarray) -> np.ndarray:
    """Returns the positions at which the value of any of some columns differs from the one before."""
    if not len(columns[0]):
        return np.zeros(0, dtype=np.int64)
    changed = np.zeros(len(columns[0]), dtype=bool)
    changed[0] = True
    for values in columns:
        changed[1:] |= values[1:] != values[:-1]
    return np.flatnonzero(changed)


def calls_made(job: Job, layer: str, least: int, key: int | None = None) -> int:
    """Returns the number of reads and writes that a layer's own records count, for one file or all files; `least` if
    that is larger.
    """
    frame, names = job.frames.get(layer), [name for kind, name in _COUNTED if kind == layer]
    if frame is None:
        return least
    rows = frame if key is None else frame[frame["id"] == key]
    return max(least, int(rows[names].clip(lower=0).to_numpy().sum()))


def _cells(values: np.ndarray, count: int) -> np.ndarray:
    """Returns the cells in which values from 0 to `count` lie; an impossible value goes to the nearest cell."""
    return np.asarray(np.clip(np.nan_to_num(values), 0, count - 1), dtype=np.int64)


def _count_corners(counts: np.ndarray, low: np.ndarray, high: np.ndarray, begin: np.ndarray, stop: np.ndarray) -> None:
    """Adds rectangles to the counts of their corners, from which `covered` finds the cells under them."""
    for row, column, sign in ((low, begin, 1), (high + 1, stop + 1, 1), (low, stop + 1, -1), (high + 1, begin, -1)):
        np.add.at(counts, (row, column), sign)


def covered(counts: np.ndarray) -> np.ndarray:
    """Returns True for each cell under any of the rectangles whose corners `_count_corners` added to `counts`."""
    return np.asarray(counts.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0)
