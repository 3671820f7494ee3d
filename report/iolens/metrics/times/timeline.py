"""Bytes over time by rank and file, in so few cells that a page can show them, for any number of calls.

Times are seconds since the start of the job, amounts are bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.files.overview import paths
from iolens.metrics.once import once_per_job
from iolens.metrics.times.spread import Spread
from iolens.metrics.times.traces import TRACES, calls_made

KINDS = ("write", "read")

_MOST_ROWS = 512
"""Largest number of rows of a timeline; with more ranks, neighbours share a row."""

MOST_FILES = (100, 10, 0)
"""Largest number of files with lines of their own (those with the most bytes); if that gives too many lines or cells,
the next smaller number is tried.
"""

_MOST_LINES = 16_384
"""Maximum number of lines of a timeline: each is one kind of operation on one file by one row. Lines that moved nothing
are not counted.
"""

_HELD_CELLS = 2_000_000
"""Maximum number of cells in memory while calls are added up, empty cells included."""

MOST_CELLS = 300_000
"""Largest number of cells. Beyond it bins are widened until FEWEST_BINS are left, and then fewer files are shown
separately.
"""

FEWEST_BINS, _MOST_BINS = 256, 8192

MOST_SINGLE = 10_000
"""Largest number of single calls that are kept: the longest ones."""

_CHUNK = 1 << 20
"""Number of calls that are added up at once, so that the memory needed does not grow with the number of all calls."""


@dataclass(frozen=True, eq=False)
class TimelineCalls:
    """Single calls in order of their start, arrays of one length: kind (of KINDS), file (number), rank, offset (-1:
    unknown), length, start, end.
    """

    kind: np.ndarray
    file: np.ndarray
    rank: np.ndarray
    offset: np.ndarray
    length: np.ndarray
    start: np.ndarray
    end: np.ndarray


@dataclass(frozen=True, eq=False)
class Timeline:
    """A layer's cells with bytes, arrays of one length: kind (of KINDS), file (number), row, bin, moved (bytes), calls
    (that began there), busy (seconds that ranks spent in calls).

    `width` is that of a bin, `end` where the last one ends. A row stands for `each` neighbouring ranks. `files` names
    the files; it is empty if the log does not distinguish files, and then neither calls nor busy are known. `single`
    are the longest of the `traced` calls; `made` is the number of calls in the layer's own records.
    """

    layer: str
    ranks: int
    each: int
    width: float
    bins: int
    end: float
    files: tuple[str, ...]
    kind: np.ndarray
    file: np.ndarray
    row: np.ndarray
    bin: np.ndarray
    moved: np.ndarray
    calls: np.ndarray
    busy: np.ndarray
    file_count: int = 0
    traced: int = 0
    made: int = 0
    single: TimelineCalls | None = None


@once_per_job
def timelines(job: Job, layer: str) -> list[Timeline]:
    """Returns the timelines of a layer: of its HEATMAP, which has all bytes, and of its DXT, which may have only some
    calls.
    """
    cells = heatmap_timeline(job, layer)
    return ([] if cells is None else [cells]) + traced(job, layer)


def heatmap_timeline(job: Job, layer: str) -> Timeline | None:
    """Returns the bytes of a layer's HEATMAP in the log's own bins; None if it has none."""
    frame = job.frames.get("HEATMAP")
    if frame is None or not (frame["width"] > 0).all():
        return None
    rows = [frame.loc[(frame["module"] == layer) & (frame[name] > 0)] for name in ("written", "read")]
    ranks, each = _row_counts(job, [int(part["rank"].max()) for part in rows if len(part)])
    if not sum(map(len, rows)):
        return None
    kind = np.repeat(np.arange(len(KINDS)), [len(part) for part in rows])
    row = np.concatenate([part["rank"].to_numpy() // each for part in rows])
    bins = np.concatenate([part["bin"].to_numpy() for part in rows]).astype(np.int64)
    moved = np.concatenate([part[name].to_numpy() for part, name in zip(rows, ("written", "read"), strict=True)])
    width, count, none = float(frame["width"].iloc[0]), int(bins.max()) + 1, np.zeros(len(kind))
    end = count * width
    cells = Timeline(layer, ranks, each, width, count, end, (), kind, kind * 0, row, bins, moved, none, none)
    return _bounded_cells(_merged_bins(cells, 1))


@once_per_job
def traced(job: Job, layer: str) -> list[Timeline]:
    """Returns timelines of a layer's traced calls, with the bytes of each call spread evenly over its time; none if no
    call was traced.

    If one timeline cannot show both all ranks and all files, the first timeline is by rank and the second by file.
    """
    cells = _traced_cells(job, layer)
    if cells is None:
        return []
    by_rank = _bounded_cells(cells)
    if len(by_rank.files) == len(cells.files):
        return [by_rank]
    return [by_rank, _bounded_cells(_merged_bins(replace(cells, each=cells.ranks, row=cells.row * 0), 1))]


def _traced_cells(job: Job, layer: str) -> Timeline | None:
    """Returns all cells of the traced calls of a layer; None if none was traced."""
    frame = job.frames.get(next((name for name, one in TRACES.items() if one == layer), ""))
    if frame is None or frame.empty:
        return None
    ranks, each = _row_counts(job, [int(frame["rank"].max())])
    file, ids, names = _told_apart(job, frame)
    used = _used_lines(frame, file, names, each, -(-ranks // each))
    for most in MOST_FILES[1:]:
        if used.sum() > _MOST_LINES and most + 1 < len(names):
            names = (*names[:most], _others(ids, most))
            file = np.minimum(file, most)
            used = np.concatenate([used[:, :most], used[:, most:].any(axis=1, keepdims=True)], axis=1)
    number, last = int(used.sum()), max(job.run_time, float(frame["end"].max()))
    bins = int(np.clip(4 * len(frame) // number, FEWEST_BINS, min(_MOST_BINS, max(FEWEST_BINS, _HELD_CELLS // number))))
    last = last if last > 0 else 1.0  # If the run and all calls end at time 0, any width of a bin will do.
    spread = Spread(number, bins, last / bins)
    lines = np.cumsum(used.ravel()) - 1
    columns = [frame[name].to_numpy() for name in ("length", "start", "end")]
    for part in _parts_of_calls(len(frame)):
        spread.add(lines[_line_places(frame, file, part, each, used.shape)], *(column[part] for column in columns))
    where, bin_, moved, calls, busy = spread.cells()
    kind, of, row = (index[where] for index in np.nonzero(used))
    return Timeline(
        layer=layer,
        ranks=ranks,
        each=each,
        width=spread.width,
        bins=bins,
        end=last,
        files=names,
        kind=kind,
        file=of,
        row=row,
        bin=bin_,
        moved=moved,
        calls=calls,
        busy=busy,
        file_count=ids,
        traced=len(frame),
        made=calls_made(job, layer, len(frame)),
        single=_longest_calls(frame, file),
    )


def _row_counts(job: Job, last: list[int]) -> tuple[int, int]:
    """Returns the number of ranks, including ranks that only a damaged log has, and the number of ranks that share a
    row.
    """
    ranks = max([job.nprocs, *(one + 1 for one in last)])
    return ranks, -(-ranks // _MOST_ROWS)


def _parts_of_calls(count: int) -> Iterator[slice]:
    """Splits a number of calls into parts of a given size, one after the other."""
    return (slice(at, at + _CHUNK) for at in range(0, count, _CHUNK))


def _told_apart(job: Job, frame: pd.DataFrame) -> tuple[np.ndarray, int, tuple[str, ...]]:
    """Returns the number of each traced call's file, the number of files, and the names of the files that have their
    own lines, in the order of their numbers.
    """
    ids, key = np.sort(frame["id"].unique()), frame["id"].to_numpy()
    moved = np.zeros(len(ids))
    for part in _parts_of_calls(len(key)):
        length = frame["length"].to_numpy()[part]
        moved += np.bincount(np.searchsorted(ids, key[part]), weights=length, minlength=len(ids))
    most = MOST_FILES[0]
    kept = np.argsort(-moved, kind="stable")[: most if len(ids) > most else len(ids)]
    number = np.full(len(ids), len(kept), dtype=np.uint8)
    number[kept] = np.arange(len(kept))
    file = np.concatenate([number[np.searchsorted(ids, key[part])] for part in _parts_of_calls(len(key))])
    names = tuple(paths(job, ids[kept]))
    return file, len(ids), names if len(kept) == len(ids) else (*names, _others(len(ids), most))


def _line_places(frame: pd.DataFrame, file: np.ndarray, part: slice, each: int, shape: tuple[int, ...]) -> np.ndarray:
    """Returns the place of each call's line in a flattened array of (kind, file, row)."""
    row = frame["rank"].to_numpy()[part].clip(min=0).astype(np.int64) // each
    kind = (frame["op"].iloc[part] == "read").to_numpy()
    return np.asarray((kind * shape[1] + file[part]) * shape[2] + row)


def _used_lines(frame: pd.DataFrame, file: np.ndarray, names: tuple[str, ...], each: int, rows: int) -> np.ndarray:
    """Returns an array (kind, file, row) of bool: True if this kind of operation moved any bytes of this file by this
    row.
    """
    used = np.zeros((len(KINDS), len(names), rows), dtype=bool)
    for part in _parts_of_calls(len(frame)):
        used.ravel()[_line_places(frame, file, part, each, used.shape)] = True
    return used


def _longest_calls(frame: pd.DataFrame, file: np.ndarray) -> TimelineCalls:
    """Returns the calls that took longest, in order of their start."""
    start, end = frame["start"].to_numpy(), frame["end"].to_numpy()
    kept: np.ndarray = np.zeros(0, dtype=np.int64)
    for part in _parts_of_calls(len(start)):
        kept = np.concatenate([kept, np.arange(part.start, min(part.stop, len(start)))])
        if len(kept) > MOST_SINGLE:
            kept = kept[np.argpartition(end[kept] - start[kept], -MOST_SINGLE)[-MOST_SINGLE:]]
    kept = kept[np.argsort(start[kept], kind="stable")]
    found = frame.iloc[kept]
    rank, offset, length, begin, stop = (
        found[name].to_numpy() for name in ("rank", "offset", "length", "start", "end")
    )
    return TimelineCalls(
        (found["op"] == "read").to_numpy().astype(np.int64), file[kept], rank.clip(min=0), offset, length, begin, stop
    )


def _bounded_cells(cells: Timeline) -> Timeline:
    """Returns the timeline with no more than MOST_CELLS cells: first bins are merged, then fewer files are shown
    separately.
    """
    while len(cells.bin) > MOST_CELLS and cells.bins > 1:
        fewer = [most for most in MOST_FILES if most + 1 < len(cells.files)]
        if cells.bins >= 2 * FEWEST_BINS or not fewer:
            cells = _merged_bins(cells, 2)
        else:
            cells = _merged_bins(_with_files(cells, fewer[0]), 1)
    return cells


def _with_files(cells: Timeline, most: int) -> Timeline:
    """Returns the timeline with `most` files shown separately; `cells.files` has one more entry for all others."""
    single = cells.single
    return replace(
        cells,
        files=(*cells.files[:most], _others(cells.file_count, most)),
        file=cells.file.clip(max=most),
        single=None if single is None else replace(single, file=single.file.clip(max=most)),
    )


def _others(count: int, most: int) -> str:
    """Returns the common label of all files except the `most` that have their own lines."""
    return f"{count - most:,} other files" if most else f"{count:,} files"


def _merged_bins(cells: Timeline, group: int) -> Timeline:
    """Returns the timeline with each `group` of neighbouring bins added up, in order of kind, file, row and bin."""
    bins = -(-cells.bins // group)
    shape = (len(KINDS), max(1, len(cells.files)), -(-cells.ranks // cells.each), bins)
    place = np.ravel_multi_index((cells.kind, cells.file, cells.row, cells.bin // group), shape)
    found, cell = np.unique(place, return_inverse=True)
    kind, file, row, bin_ = np.unravel_index(found, shape)
    moved, calls, busy = (np.bincount(cell, weights=values) for values in (cells.moved, cells.calls, cells.busy))
    return replace(
        cells,
        width=cells.width * group,
        bins=bins,
        kind=kind,
        file=file,
        row=row,
        bin=bin_,
        moved=moved,
        calls=calls,
        busy=busy,
    )
