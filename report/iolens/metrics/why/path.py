"""The critical path and the work of each rank at each moment, with its places in the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.processor.sampled.call_chains import Chain, chains
from iolens.metrics.processor.sampled.groups import USER, group_of
from iolens.metrics.processor.sampled.samples import place_of
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


def critical_path(program: Program, waits: Waits) -> Records:
    """Returns the pieces of the path, the last one first: rank, start and end in seconds."""
    by_rank: list[list[tuple[float, float, int]]] = [[] for _ in range(program.ranks)]
    for call, late, waited in zip(waits.call.tolist(), waits.late.tolist(), waits.waited.tolist(), strict=True):
        begin = float(program.start[call])
        by_rank[int(program.rank[call])].append((begin + waited, begin, late))
    for each in by_rank:
        each.sort()
    pieces: list[tuple[int, float, float]] = []
    if not len(program):
        return Records.of(("rank", "start", "end"), pieces)
    lasts = program.first[1:][program.first[1:] > program.first[:-1]] - 1
    call = int(lasts[np.argmax(program.start[lasts])])
    rank, time = int(program.rank[call]), float(program.end[lasts].max())
    while time > 0:
        own = by_rank[rank]
        while own and own[-1][0] > time:
            own.pop()
        if not own:
            pieces.append((rank, 0.0, time))
            break
        until, _, late = own.pop()
        pieces.append((rank, max(until, 0.0), time))
        rank, time = int(program.rank[late]), min(float(program.start[late]), until)
    return Records.of(("rank", "start", "end"), [piece for piece in pieces if piece[2] > piece[1]])


def lost_cores(activities: Activities, ranks: int, what: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Returns for each part of the path (its activity, and seconds) the number of cores that are idle on average over
    the run because this work takes longer on the path than on other ranks.

    This is the critical imbalance impact of Böhme and others (IPDPS 2012), divided by the length of the path. A rank
    has less work than the path, by the time in which it waits. This time is charged to the kinds of work (functions, on
    any file) of which the path has more than the rank, in proportion to the difference. Within a kind, it is charged to
    the parts of the path in proportion to their length. In total, the parts lose as many cores as ranks wait on
    average.
    """
    same = {(kind.kind, kind.function): place for place, kind in enumerate(activities.kinds)}
    place = np.array([same[kind.kind, kind.function] for kind in activities.kinds])
    on_path = np.bincount(place[what], weights=seconds, minlength=len(place))
    of_rank = np.zeros((ranks, len(place)))
    for (rank, each), (_, totals) in activities.sums.items():
        of_rank[rank, place[each]] += totals[-1]
    more = np.maximum(on_path - of_rank, 0.0)
    waited = np.maximum(on_path.sum() - of_rank.sum(axis=1), 0.0)
    all_more = more.sum(axis=1)
    scale = np.divide(waited, all_more, out=np.zeros(ranks), where=all_more > 0)
    idle = scale @ more / max(float(on_path.sum()), 1e-300)
    lost: np.ndarray = idle[place[what]] * seconds / np.maximum(on_path[place[what]], 1e-300)
    return lost


_Work = tuple[int, str, str]
"""Rank, function and file name of a piece of work. Computing has neither function nor file name (empty texts), and
calls of MPI have no file name.
"""


def with_places(job: Job, rows: Records, labels: Mapping[int, str]) -> Records:
    """Returns rows of work (rank, function, file) with a column `place`: the function and line of the program in which
    the rank spent most time with such work; an empty text where no place is recorded. labels: the names of files that
    are not shown by their paths, by record id.

    `why_events` has the callers of each call of the file system of at least 1 ms, `mpi_sites` those of calls of MPI.
    Computing has a place if the run was sampled.
    """
    known = _places(job, labels)
    work = zip(*(rows[name].tolist() for name in ("rank", "function", "file")), strict=True)
    return rows.beside({"place": np.array([known.get(each, "") for each in work], object)})


def _places(job: Job, labels: Mapping[int, str]) -> dict[_Work, str]:
    """Returns the place with most time for each rank and its work."""
    known = chains(job)
    spent: dict[tuple[_Work, str], float] = {}
    for work, node, seconds in (*_of_files(job, labels), *_of_mpi(job), *_of_samples(job)):
        text = _text(known.get((work[0], node), ()))
        spent[work, text] = spent.get((work, text), 0.0) + seconds
    return {work: text for (work, text), _ in sorted(spent.items(), key=lambda each: each[1]) if text}


def _of_files(job: Job, labels: Mapping[int, str]) -> Iterator[tuple[_Work, int, float]]:
    """Yields calls of the file system with the node of their place and their seconds."""
    events = job.tables.get("why_events")
    if events is None or "node" not in events:
        return
    rows = events.where((events["node"] >= 0) & (events["thread"] == 0))
    for rank, function, file, node, start, end in rows.rows("rank", "function", "file", "node", "start", "end"):
        yield (rank, function, labels.get(file) or job.names.get(file, "")), node, end - start


def _of_mpi(job: Job) -> Iterator[tuple[_Work, int, float]]:
    """Yields the places that called functions of MPI, with their seconds."""
    sites = job.tables.get("mpi_sites")
    for rank, function, node, seconds in () if sites is None else sites.rows("rank", "function", "node", "time"):
        yield (rank, function, ""), node, seconds


def _of_samples(job: Job) -> Iterator[tuple[_Work, int, float]]:
    """Yields the places in the program's own functions at which the first thread was sampled, with the samples."""
    samples = job.tables.get("samples")
    if samples is None:
        return
    known = chains(job)
    first = samples.where((samples["thread"] == 0) & (samples["kind"] == 0))
    for rank, node, count in first.rows("rank", "node", "count"):
        if place_of(known.get((rank, node), ()), waits=False).group == USER:
            yield (rank, "", ""), node, float(count)


def _text(chain: Chain) -> str:
    """Returns the innermost function of the program itself, with its line."""
    own = [frame for frame in chain if group_of(frame.function, frame.object) == USER]
    return own[-1].text if own else ""
