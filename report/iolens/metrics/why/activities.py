"""The work of each rank at each moment: computing, a call of the file system on a file, or MPI without its waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iolens.metrics.why.calls.program import CORE, FAULT, LOCK, MPI, SLEEP, Program
from iolens.metrics.why.waits import Waits

_MOST_FILES = 60
"""Maximum number of pairs of a function and a file with an activity of their own; others share one for each kind."""


class Activity(NamedTuple):
    """A kind of work: `computing`, `I/O`, `lock` (waiting for a file's lock), `core` (ready to run without a core),
    `fault` (waiting for pages of files), `sleep` or `MPI`; its function; the record id of its file (0: none or
    several), or of the file that stands for its family.
    """

    kind: str
    function: str
    file: int


COMPUTING = Activity("computing", "", 0)


@dataclass(frozen=True)
class Activities:
    """Spans of time, ordered by rank and begin: arrays rank, start, end and `what`, an index into `kinds`. No span
    includes waits.
    """

    kinds: tuple[Activity, ...]
    rank: np.ndarray
    start: np.ndarray
    end: np.ndarray
    what: np.ndarray
    sums: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]

    def seconds(self, rank: int, since: np.ndarray, until: np.ndarray) -> np.ndarray:
        """Returns the seconds of a rank in spans of time: a row for each span, a column for each of `kinds`."""
        found = np.zeros((len(since), len(self.kinds)))
        for what in range(len(self.kinds)):
            times = self.sums.get((rank, what))
            if times is not None:
                found[:, what] = np.interp(until, *times) - np.interp(np.minimum(since, until), *times)
        return found


def activities_of(program: Program, waits: Waits, alike: Mapping[int, int] | None = None) -> Activities:
    """Returns the spans of work of all ranks. `alike` has, for files that count as one, the file that stands for them,
    by record ids.
    """
    kinds, of_call, of_inner = _kinds(program, alike or {})
    waited = np.zeros(len(program))
    waited[waits.call] = waits.waited
    before = np.concatenate([[0.0], program.end[:-1]]) if len(program) else np.zeros(0)
    before[program.first[:-1][program.first[:-1] < program.first[1:]]] = 0.0
    gaps = program.start > before
    body = np.minimum(program.start + waited, program.end)
    inner = _inner_spans(program, body)
    own_end = program.end.copy()
    np.minimum.at(own_end, program.inner_call, inner[0])
    rank = np.concatenate([program.rank[gaps], program.rank, program.rank[program.inner_call]])
    start = np.concatenate([before[gaps], body, inner[0]])
    end = np.concatenate([program.start[gaps], own_end, inner[1]])
    what = np.concatenate([np.zeros(int(gaps.sum()), np.int64), of_call, of_inner])
    order = np.lexsort((end, start, rank))
    rank, start, end, what = rank[order], start[order], end[order], what[order]
    return Activities(kinds, rank, start, end, what, _sums(rank, start, end, what))


def _kinds(program: Program, alike: Mapping[int, int]) -> tuple[tuple[Activity, ...], np.ndarray, np.ndarray]:
    """Returns the activities, and the index of the activity of each call, and of each file system call inside an MPI
    call.
    """
    is_file = program.kind != MPI
    files = _standing(np.concatenate([program.file[is_file], program.inner_file]), alike)
    functions = np.concatenate([program.function[is_file], program.inner_function])
    seconds = np.concatenate([(program.end - program.start)[is_file], program.inner_seconds])
    pairs = np.stack([functions.astype(np.uint64), files.astype(np.uint64)], axis=1)
    unique, which = np.unique(pairs, axis=0, return_inverse=True) if len(pairs) else (pairs, np.zeros(0, np.int64))
    which = which.reshape(-1)
    largest = np.argsort(-np.bincount(which, weights=seconds, minlength=len(unique)), kind="stable")[:_MOST_FILES]
    kinds = [COMPUTING]
    named = {LOCK: "lock", CORE: "core", FAULT: "fault", SLEEP: "sleep"}
    others = {at: word for kind, word in named.items() for at in np.unique(program.function[program.kind == kind])}
    place = np.full(len(unique), -1)
    for pair in largest.tolist():
        place[pair] = len(kinds)
        function = int(unique[pair, 0])
        kinds.append(Activity(others.get(function, "I/O"), program.functions[function], int(unique[pair, 1])))
    word = np.array([others.get(function, "I/O") for function in unique[:, 0].tolist()], object)
    for rest in sorted(set(word[place < 0].tolist())):
        place[(place < 0) & (word == rest)] = len(kinds)
        kinds.append(Activity(rest, "", 0))
    of_files = place[which]
    of_call = np.zeros(len(program), np.int64)
    of_call[is_file] = of_files[: int(is_file.sum())]
    for function in np.unique(program.function[~is_file]).tolist():
        of_call[~is_file & (program.function == function)] = len(kinds)
        kinds.append(Activity("MPI", program.functions[function], 0))
    return tuple(kinds), of_call, of_files[int(is_file.sum()) :]


def _standing(files: np.ndarray, alike: Mapping[int, int]) -> np.ndarray:
    """Returns the files; each file of `alike` is replaced by the file that stands for its family."""
    if not alike:
        return files
    known = np.array(sorted(alike), files.dtype)
    standing = np.array([alike[file] for file in sorted(alike)], files.dtype)
    place = np.minimum(np.searchsorted(known, files), len(known) - 1)
    return np.where(known[place] == files, standing[place], files)


def _inner_spans(program: Program, body: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns start and end of each file system call inside an MPI call. These calls are placed one after another at
    the end of the MPI call, and shortened if they exceed the part of it that is not waiting.
    """
    call, seconds = program.inner_call, program.inner_seconds
    total = np.bincount(call, weights=seconds, minlength=len(program))
    left = program.end - body
    fit = np.minimum(1.0, np.divide(left, total, out=np.ones(len(program)), where=total > 0))
    taken = seconds * fit[call]
    running = np.cumsum(taken)
    heads = np.searchsorted(call, call, side="left")
    since = running - taken - np.where(heads > 0, running[np.maximum(heads - 1, 0)], 0.0)
    start = program.end[call] - (total * fit)[call] + since
    return start, start + taken


def _sums(
    rank: np.ndarray, start: np.ndarray, end: np.ndarray, what: np.ndarray
) -> dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]:
    """Returns, by rank and activity, moments and the seconds of the activity up to each moment, for interpolation."""
    order = np.lexsort((start, what, rank))
    rank, start, end, what = rank[order], start[order], end[order], what[order]
    found: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    if not len(rank):
        return found
    begins = np.flatnonzero(np.append(True, (rank[1:] != rank[:-1]) | (what[1:] != what[:-1])))
    for first, last in zip(begins, np.append(begins[1:], len(rank)), strict=True):
        spent = np.cumsum(end[first:last] - start[first:last])
        times = np.stack([start[first:last], end[first:last]], axis=1).reshape(-1)
        totals = np.stack([spent - (end[first:last] - start[first:last]), spent], axis=1).reshape(-1)
        found[int(rank[first]), int(what[first])] = (times, totals)
    return found
