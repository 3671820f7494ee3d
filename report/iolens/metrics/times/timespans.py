"""Bytes over time by rank and file, and the times of I/O from the first to the last access."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest, path_column, paths
from iolens.metrics.files.use import among
from iolens.metrics.grouping import Groups, empty, labelled, ordered, stacked
from iolens.metrics.job.interfaces.operations import stream_ids
from iolens.metrics.once import once_per_job
from iolens.metrics.times.traces import TRACES, calls_made


class Spread:
    """Sums over calls in bins of time, for each line of a figure: bytes, calls, and the seconds in calls. Bins are
    `width` seconds wide.
    """

    def __init__(self, lines: int, bins: int, width: float) -> None:
        self.shape, self.width = (lines, bins), width
        self.moved, self.busy, self.calls = (np.zeros(lines * bins) for _ in range(3))
        # These arrays hold differences: a call raises the running sum at the first bin that it fills and lowers it
        # after the last.
        self.moved_steps, self.busy_steps = (np.zeros(lines * bins) for _ in range(2))

    def add(self, line: np.ndarray, moved: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
        """Adds calls: arrays of one length, with the bytes and the span in seconds of each."""
        bins = self.shape[1]
        first, last = (np.clip(time / self.width, 0, bins - 1).astype(np.int64) for time in (start, end))
        base = line * bins
        taken = np.maximum(end - start, 0.0)
        self.calls += np.bincount(base + first, minlength=self.calls.size)
        within = first >= last
        for sums, amount in ((self.moved, moved), (self.busy, taken)):
            sums += np.bincount((base + first)[within], weights=amount[within], minlength=sums.size)
        if not within.all():
            across = ~within
            self.add_across(base[across], moved[across], start[across], taken[across], first[across], last[across])

    def add_across(
        self,
        base: np.ndarray,
        moved: np.ndarray,
        start: np.ndarray,
        taken: np.ndarray,
        first: np.ndarray,
        last: np.ndarray,
    ) -> None:
        """Adds calls that end in another bin than they began in: one part to the first bin, the rest to the last, and
        the same amount to each bin between them.
        """
        head = np.clip(((first + 1) * self.width - start) / taken, 0.0, 1.0)
        full = np.clip(self.width / taken, 0.0, 1.0)
        between = last - first - 1
        tail = np.maximum(1.0 - head - between * full, 0.0)
        size = self.moved.size
        several = between > 0
        for sums, steps, amount in ((self.moved, self.moved_steps, moved), (self.busy, self.busy_steps, taken)):
            sums += np.bincount(base + first, weights=amount * head, minlength=size)
            sums += np.bincount(base + last, weights=amount * tail, minlength=size)
            each = (amount * full)[several]
            steps += np.bincount((base + first + 1)[several], weights=each, minlength=size)
            steps -= np.bincount((base + last)[several], weights=each, minlength=size)

    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Returns the cells that are not empty, arrays of one length: line, bin, moved (whole bytes), calls (that began
        there), busy (seconds).
        """
        moved = self.moved + np.cumsum(self.moved_steps.reshape(self.shape), axis=1).ravel()
        busy = self.busy + np.cumsum(self.busy_steps.reshape(self.shape), axis=1).ravel()
        moved = np.rint(moved)
        found = np.flatnonzero((moved > 0) | (self.calls > 0))
        line, bin_ = np.divmod(found, self.shape[1])
        return line, bin_, moved[found], self.calls[found], np.maximum(busy[found], 0.0)


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


FEWEST_SPAN_BINS = 3
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
