"""Chrome's trace events, as JSON: samples, MPI calls and transfers on one time line, for Perfetto and chrome://tracing.

The format is "Trace Event Format" (Google, 2016): `ph` X is an event with a duration, C values from their time on, M
names processes and threads, s and f are the ends of an arrow; times are microseconds. A rank is a process; what a
thread did stands in a row of samples, one of MPI calls and one of transfers, because events in a row must be nested.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from iolens.exports.sampled_stacks import Threads, chains_of, samples_per_second
from iolens.lazy import pd
from iolens.log import Job
from iolens.missing import is_nan
from iolens.symbols.chains import Frame, of_a_wait

_MOST_EVENTS = 1_000_000
"""Largest number of events that viewers of traces open."""

_LONGEST_RUN = 1e9
"""Time in seconds that no job takes."""

_ROWS = ("samples", "MPI", "I/O", "critical path")
_LAYERS = {"DXT_POSIX": "POSIX", "DXT_MPIIO": "MPI-IO"}

_HEAT = ("module", "rank", "width", "bin", "written", "read")

Event = dict[str, Any]

Piece = tuple[int, float, float]
"""A part of the critical path: rank, begin and end in seconds."""


def chrome(
    job: Job, search: Sequence[Path] = (), without: Threads = frozenset(), path: Sequence[Piece] = ()
) -> tuple[str, int]:
    """Returns the file's text, and the number of events that it leaves out: the shortest ones, beyond `_MOST_EVENTS`.
    `without`: threads whose samples are left out. `path`: the critical path in the order of time.
    """
    rates = list(_heat(job))
    events = [*_samples(job, search, without), *_mpi_calls(job), *_transfer_events(job), *_path(path)]
    left_out = max(0, len(events) - _MOST_EVENTS)
    if left_out:
        events = sorted(events, key=lambda event: -event["dur"])[:_MOST_EVENTS]
    # Among calls with equal times the outer one is found later, but viewers need it first.
    events.reverse()
    events.sort(key=lambda event: (event["pid"], event["tid"], event["ts"], -event["dur"]))
    trace = {
        "traceEvents": [*name_events([*events, *rates]), *events, *_arrows(events), *rates],
        "displayTimeUnit": "ms",
        "otherData": {"clocks": _clocks(job)},
    }
    return json.dumps(trace), left_out


def _clocks(job: Job) -> list[dict[str, Any]]:
    """Returns the rows of the log's table `clocks`, one for each clock that ranks read; empty if there was only one
    clock.
    """
    rows: pd.DataFrame | None = job.private.get("clocks")
    if rows is None:
        return []
    return [{key: None if is_nan(value) else value for key, value in row.items()} for row in rows.to_dict("records")]


def event(rank: int, thread: int, row: str, name: str, begin: float, end: float, **said: object) -> Event:
    """Returns an event with a duration; times are seconds since the start of the job.

    Begin and end are rounded to nanoseconds before they are subtracted, so that one event ends where the next begins.
    """
    number = thread * len(_ROWS) + _ROWS.index(row)
    first, last = round(begin * 1e9), round(end * 1e9)
    times = {"ts": first / 1000, "dur": (last - first) / 1000}
    return {"ph": "X", "pid": rank, "tid": number, "name": name, "cat": row, **times, "args": said}


def _path(pieces: Sequence[Piece]) -> Iterator[Event]:
    """Yields the pieces of the critical path."""
    for rank, begin, end in pieces:
        yield event(rank, 0, "critical path", "critical path", begin, end)


def _arrows(events: Sequence[Event]) -> Iterator[Event]:
    """Yields arrows from the end of each piece of the critical path among these events to the next one's start."""
    pieces = sorted((one for one in events if one["cat"] == "critical path"), key=lambda one: one["ts"])
    for number, (one, other) in enumerate(pairwise(pieces)):
        common = {"id": number, "name": "held up", "cat": "critical path", "args": {}}
        # A viewer ties an arrow to the event around its end, and the last nanosecond is still inside.
        yield {"ph": "s", "pid": one["pid"], "tid": one["tid"], "ts": one["ts"] + max(one["dur"] - 0.001, 0), **common}
        yield {"ph": "f", "bp": "e", "pid": other["pid"], "tid": other["tid"], "ts": other["ts"], **common}


def name_events(events: Sequence[Event]) -> Iterator[Event]:
    """Yields the names of ranks and rows."""
    for rank in sorted({event["pid"] for event in events}):
        yield {"ph": "M", "pid": rank, "tid": 0, "name": "process_name", "args": {"name": f"rank {rank}"}}
    for rank, number in sorted({(event["pid"], event["tid"]) for event in events if event["ph"] == "X"}):
        name = f"thread {number // len(_ROWS)}, {_ROWS[number % len(_ROWS)]}"
        yield {"ph": "M", "pid": rank, "tid": number, "name": "thread_name", "args": {"name": name}}


def _heat(job: Job) -> Iterator[Event]:
    """Yields bytes per second of each rank and layer, in the bins of the log's heat map: the values where
    they change.
    """
    found: pd.DataFrame | None = job.frames.get("HEATMAP")
    if found is None:
        return
    found = found.sort_values(["module", "rank", "bin"])
    for (layer, rank), rows in groupby(
        zip(*(found[name].tolist() for name in _HEAT), strict=True), lambda row: row[:2]
    ):
        before = (0, 0)
        for _, _, width, number, written, read in rows:
            if (written, read) != before and width * number <= job.run_time:
                each = {"written": round(written / width), "read": round(read / width)}
                at = round(width * number * 1e6, 3)
                yield {"ph": "C", "pid": rank, "tid": 0, "name": f"{layer}, bytes/s", "ts": at, "args": each}
            before = (written, read)


def _timed(rows: pd.DataFrame, *times: str) -> pd.DataFrame:
    """Returns the rows in which all these times are possible, because those of a damaged log may be any number."""
    return rows[(rows[list(times)].abs() < _LONGEST_RUN).all(axis=1)]


def _samples(job: Job, search: Sequence[Path], without: Threads) -> Iterator[Event]:
    """Yields calls as the samples suggest them: a call continues as long as the samples of its thread contain it at the
    same place.
    """
    times: pd.DataFrame | None = job.private.get("sample_times")
    if times is None or times.empty:
        return
    chains, period = chains_of(job, search), 1.0 / samples_per_second(job)
    ordered = _timed(times, "time").sort_values(["rank", "thread", "time"])
    columns = ("rank", "thread", "time", "node", "periods", "kind")
    rows = zip(*(ordered[name].tolist() for name in columns), strict=True)
    for (rank, thread), group in groupby(rows, lambda row: (row[0], row[1])):
        if (rank, thread) not in without:
            yield from _slices(rank, thread, group, chains, period)


def _slices(
    rank: int,
    thread: int,
    rows: Iterator[tuple[Any, ...]],
    chains: Mapping[tuple[int, int], tuple[Frame, ...]],
    period: float,
) -> Iterator[Event]:
    """Yields the calls of one thread, from its samples in the order of time."""
    open_calls: list[tuple[Frame, float]] = []
    last = 0.0
    for _, _, time, node, periods, kind in rows:
        begin = max(last, time - periods * period)
        chain = chains.get((rank, node), ())
        frames = of_a_wait(chain) if kind else chain
        same = 0
        if begin - last < 2 * period:
            while same < min(len(frames), len(open_calls)) and frames[same].function == open_calls[same][0].function:
                same += 1
        yield from _closed(rank, thread, open_calls, same, last)
        open_calls += [(frame, begin) for frame in frames[same:]]
        last = time
    yield from _closed(rank, thread, open_calls, 0, last)


def _closed(rank: int, thread: int, calls: list[tuple[Frame, float]], kept: int, end: float) -> Iterator[Event]:
    """Yields the innermost calls, which end now; the first `kept` calls continue."""
    while len(calls) > kept:
        frame, begin = calls.pop()
        place = f"{frame.source}:{frame.line}" if frame.line else frame.source or frame.module
        yield event(rank, thread, "samples", frame.function, begin, end, place=place)


def _mpi_calls(job: Job) -> Iterator[Event]:
    """Yields the calls of MPI, if they were traced."""
    rows: pd.DataFrame | None = job.private.get("mpi_events")
    if rows is None or rows.empty:
        return
    rows = _timed(rows, "start", "end")
    columns = ("rank", "thread", "function", "start", "end", "bytes", "peer")
    for rank, thread, function, start, end, size, peer in zip(*(rows[name].tolist() for name in columns), strict=True):
        yield event(rank, thread, "MPI", function, start, end, bytes=size, peer=peer)


def _transfer_events(job: Job) -> Iterator[Event]:
    """Yields reads and writes, if they were traced (DXT)."""
    for module, layer in _LAYERS.items():
        frame = job.frames.get(module)
        if frame is None or frame.empty:
            continue
        frame = _timed(frame, "start", "end")
        threads = frame["thread"].tolist() if "thread" in frame else [0] * len(frame)
        numbers = {thread: number for number, thread in enumerate(dict.fromkeys(threads))}
        columns = ("id", "rank", "op", "offset", "length", "start", "end")
        rows = zip(*(frame[name].tolist() for name in columns), threads, strict=True)
        for record, rank, operation, offset, length, start, end, thread in rows:
            said = {"file": job.names.get(record, str(record)), "offset": offset, "bytes": length}
            yield event(rank, numbers[thread], "I/O", f"{layer} {operation}", start, end, **said)
