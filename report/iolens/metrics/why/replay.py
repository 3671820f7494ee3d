"""Replays of a job: the same calls in the same dependencies, with parts of the work shorter.

The dependencies: a rank makes its calls in their order; a receive ends after the send of its message has begun; an
unbuffered send ends after its receive was posted; a collective call ends after the ranks that it waits for have entered
(`joins`); a call on a window ends after the calls that it waits for (`windows`). The rest of a call's time, after all
these conditions hold, is the call's own cost. A replay without any change returns the measured run time, except where
clocks disagree; the difference is the replay's error. profiler/replay/replay.c does the replay. If its library was not
built, Python does the same, some 40 times slower.
"""

from __future__ import annotations

import ctypes
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from iolens.errors import IolensError
from iolens.metrics.why.calls.joins import ALL, LOWER_FIRST, ROOT_FIRST, ROOT_LAST, Joins, latest_lower
from iolens.metrics.why.calls.program import Program
from iolens.metrics.why.calls.progress import NO_MORE, More, Pairs, is_rendezvous
from iolens.places import folders_of_libraries

_LAYOUT = 3
"""The number of `iolens_replay_layout` in replay.c, which changes with the arrays that `_in_c` hands over."""


class Lists(NamedTuple):
    """Numbers by key: those of key k are values[first[k]:first[k + 1]]."""

    first: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Graph:
    """Dependencies. waiter: the calls that wait for others, in their order; the lists below name such a call by its
    place in this list. leads: pairs of a call and a waiter that cannot end before the call has begun. parts: pairs of a
    call and a group that its begin is a part of. frees: by group, the waiters that cannot end before all of the group
    have begun. gap: seconds between a call and the one before it on its rank. cost: seconds that a call takes after
    what it waits for. larger: for the first groups, a group that contains all calls of this group; -1: none. broken:
    number of calls at which dependencies contradicted one another; a replay leaves them out there.
    """

    waiter: np.ndarray
    leads: Pairs
    parts: Pairs
    frees: Lists
    gap: np.ndarray
    cost: np.ndarray
    larger: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    broken: int = 0


def graph_of(program: Program, joins: Joins, more: More = NO_MORE) -> Graph:
    """Returns the dependencies between the calls of a job; `more`: further ones."""
    groups = int(joins.group.max(initial=-1)) + 1
    edge_from, edge_to = _edges(program, joins, groups)
    edge_from, edge_to = np.concatenate([edge_from, more.late]), np.concatenate([edge_to, more.waiting])
    waits = (joins.completed >= 0) & ((joins.shape == ALL) | ((joins.shape == ROOT_LAST) & joins.is_root))
    scans = _scans_of(program, joins, groups)
    completing = np.concatenate([joins.completed[waits], scans.completing])
    awaited = np.concatenate([joins.group[waits], scans.awaited])
    ready = program.start.copy()
    np.maximum.at(ready, edge_to, np.minimum(program.start[edge_from], program.end[edge_to]))
    latest = np.full(groups, -np.inf)
    np.maximum.at(latest, joins.group, program.start[joins.entered])
    latest = np.concatenate([latest, scans.latest])
    beyond, latest = len(latest), np.concatenate([latest, np.full(more.groups, -np.inf)])
    np.maximum.at(latest, beyond + more.parts.to, program.start[more.parts.call])
    completing, awaited = (
        np.concatenate([completing, more.waits.call]),
        np.concatenate([awaited, beyond + more.waits.to]),
    )
    np.maximum.at(ready, completing, np.minimum(latest[awaited], program.end[completing]))
    before = np.concatenate([[0.0], program.end[:-1]]) if len(program) else np.zeros(0)
    before[program.first[:-1][program.first[:-1] < program.first[1:]]] = 0.0
    is_waiter = np.zeros(len(program), bool)
    is_waiter[edge_to] = is_waiter[completing] = True
    place = np.cumsum(is_waiter, dtype=np.int32) - 1
    graph = Graph(
        waiter=np.flatnonzero(is_waiter).astype(np.int32),
        leads=_in_order(edge_from, place[edge_to]),
        parts=_in_order(
            np.concatenate([joins.entered, scans.entered, more.parts.call]),
            np.concatenate([joins.group, scans.part_of, beyond + more.parts.to]),
        ),
        frees=_by_key(awaited, place[completing], len(latest)),
        gap=np.maximum(program.start - before, 0.0),
        cost=np.maximum(program.end - ready, 0.0),
        larger=scans.larger,
    )
    return replace(graph, broken=_replay(program, graph, graph.gap, graph.cost)[1])


def _edges(program: Program, joins: Joins, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns pairs of calls: the second cannot end before the first has begun."""
    message_from, message_to = _message_edges(program, joins)
    roots = np.full(groups, -1)
    roots[joins.group[joins.is_root]] = joins.entered[joins.is_root]
    behind = (joins.completed >= 0) & (joins.shape == ROOT_FIRST) & ~joins.is_root
    behind &= (roots[joins.group] >= 0) if groups else behind
    inside, windows = joins.behind >= 0, joins.windows
    root, data = roots[joins.group[behind]], joins.behind[inside]
    near = joins.near
    edge_from = np.concatenate([message_from, root, data, windows.late, near.other[near.gets]])
    edge_to = np.concatenate(
        [
            message_to,
            joins.completed[behind],
            joins.completed[inside],
            windows.waiting,
            near.completed[near.gets],
        ]
    )
    others = edge_from != edge_to
    return edge_from[others], edge_to[others]


def _message_edges(program: Program, joins: Joins) -> tuple[np.ndarray, np.ndarray]:
    """Returns the edges of messages: from the send to the completion of the receive, and from the receive to the
    completion of sends that wait for it.
    """
    known = joins.receive_done >= 0
    rendezvous = is_rendezvous(program, joins)
    return (
        np.concatenate([joins.send[known], joins.receive[rendezvous]]),
        np.concatenate([joins.receive_done[known], joins.send_done[rendezvous]]),
    )


class _Scans(NamedTuple):
    """Groups for scans: for each rank of a scan but the first, a group of the calls of all lower ranks.

    entered, part_of: pairs of the call of the rank before, and the group to which this call is added. larger: for each
    group of the job, the group of the next rank, which contains all calls of this group; -1: none; empty without scans.
    completing, awaited: the calls that wait for a group. latest: by group, the latest begin of its calls.
    """

    entered: np.ndarray
    part_of: np.ndarray
    larger: np.ndarray
    completing: np.ndarray
    awaited: np.ndarray
    latest: np.ndarray


def _scans_of(program: Program, joins: Joins, groups: int) -> _Scans:
    """Returns the groups for scans, numbered from `groups` on. Edges between all pairs of ranks would not fit into
    memory in a job of many ranks.
    """
    rows = np.flatnonzero(joins.shape == LOWER_FIRST)
    entered = joins.entered[rows]
    order = np.lexsort((program.rank[entered], joins.group[rows]))
    rows, entered = rows[order], entered[order]
    if not len(rows):
        nothing, none = np.zeros(0, np.int64), np.zeros(0)
        return _Scans(nothing, nothing, np.zeros(0, np.int32), nothing, nothing, none)
    instance = joins.group[rows]
    has_lower = np.append(False, instance[1:] == instance[:-1])
    number = groups + np.cumsum(has_lower) - 1
    at = np.flatnonzero(has_lower)
    larger = np.full(groups + len(at), -1, np.int32)
    follows = has_lower[at - 1]
    larger[number[at[follows] - 1]] = number[at[follows]]
    lower = latest_lower(instance, program.rank[entered], program.start[entered])
    completed = joins.completed[rows[at]]
    waits = completed >= 0
    return _Scans(
        entered=entered[at - 1],
        part_of=number[at],
        larger=larger,
        completing=completed[waits],
        awaited=number[at[waits]],
        latest=program.start[entered[lower[at - 1]]],
    )


def _in_order(calls: np.ndarray, to: np.ndarray) -> Pairs:
    """Returns pairs of a call and a number in the order of calls."""
    order = np.argsort(calls, kind="stable")
    return Pairs(calls[order].astype(np.int32), to[order].astype(np.int32))


def _by_key(keys: np.ndarray, values: np.ndarray, size: int) -> Lists:
    """Returns the values of each key from 0 to size, in their order."""
    first = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=size))])
    return Lists(first.astype(np.int32), values[np.argsort(keys, kind="stable")].astype(np.int32))


def replayed_run_time(program: Program, graph: Graph, gap: np.ndarray, cost: np.ndarray) -> float:
    """Returns the run time of a replay in seconds: `gap` seconds lie before each call, and calls take `cost` seconds
    after the calls that they wait for have begun.
    """
    ends, _ = _replay(program, graph, gap, cost)
    return float(ends[program.first[:-1] < program.first[1:]].max(initial=0.0))


def _replay(program: Program, graph: Graph, gap: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, int]:
    """Returns the ends of the ranks' last calls, and the number of calls at which dependencies contradicted one
    another.
    """
    library = _library()
    return _in_python(program, graph, gap, cost) if library is None else _in_c(library, program, graph, gap, cost)


def _library() -> ctypes.CDLL | None:
    """Returns the library that replays; None if it is not built. Raises an error if it is of another version, since it
    would read the arrays wrongly.
    """
    paths = (folder / "libiolens-replay.so" for folder in folders_of_libraries())
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        return None
    library = ctypes.CDLL(str(found))
    try:
        layout = ctypes.c_int32.in_dll(library, "iolens_replay_layout").value
    except ValueError:  # Libraries of earlier versions have no number of their layout.
        layout = 0
    if layout != _LAYOUT:
        raise IolensError(f"{found} belongs to another version of iolens: run make build, or reinstall both")
    return library


def _in_c(
    library: ctypes.CDLL, program: Program, graph: Graph, gap: np.ndarray, cost: np.ndarray
) -> tuple[np.ndarray, int]:
    on = [program.first.astype(np.int64), *graph.leads, graph.waiter, *graph.parts, *graph.frees, graph.larger]
    ends = np.zeros(program.ranks)
    # This is the structure `dependencies` of replay.c: six numbers, then addresses of arrays.
    lists = graph.leads.call, graph.waiter, graph.parts.call, graph.frees.first[1:], graph.larger
    numbers = program.ranks, *map(len, lists)
    dependencies = np.array([*numbers, *(array.ctypes.data for array in on)], np.int64)
    library.iolens_replay.restype = ctypes.c_int64
    arrays = dependencies, np.ascontiguousarray(gap, float), np.ascontiguousarray(cost, float), ends
    broken = int(library.iolens_replay(*(ctypes.c_void_p(array.ctypes.data) for array in arrays)))
    if broken < 0:
        raise MemoryError("no memory for a replay of the job's calls")
    return ends, broken


def _in_python(program: Program, graph: Graph, gap: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, int]:
    walk = _Walk(program, graph, gap, cost)
    broken = 0
    while True:
        while walk.ready:
            walk.advance(walk.ready.pop())
        stuck = [rank for rank in range(program.ranks) if walk.next[rank] < walk.last[rank]]
        if not stuck:
            return np.array(walk.time), broken
        first = min(stuck, key=lambda rank: walk.time[rank])
        walk.missing[walk.next[first]] = 0
        walk.ready.append(first)
        broken += 1


class _Walk:
    """Advances each rank through its calls as far as the calls of others allow. Does in Python what replay.c does
    in C.
    """

    def __init__(self, program: Program, graph: Graph, gap: np.ndarray, cost: np.ndarray) -> None:
        self.gap, self.cost, self.rank = gap.tolist(), cost.tolist(), program.rank.tolist()
        self.next, self.last = program.first[:-1].tolist(), program.first[1:].tolist()
        self.begun, self.time = [False] * program.ranks, [0.0] * program.ranks
        waiter = graph.waiter.tolist()
        self.leads, self.parts = _grouped_by_call(graph.leads, waiter), _grouped_by_call(graph.parts)
        freed, first = [waiter[at] for at in graph.frees.values.tolist()], graph.frees.first.tolist()
        self.frees = [freed[low:high] for low, high in pairwise(first)]
        self.missing = Counter([*freed, *(call for calls in self.leads.values() for call in calls)])
        self.larger = graph.larger.tolist()
        self.absent = Counter([*graph.parts.to.tolist(), *self.larger])
        self.earliest: defaultdict[int, float] = defaultdict(float)
        self.latest = [0.0] * len(self.frees)
        self.ready = list(range(program.ranks))[::-1]

    def advance(self, rank: int) -> None:
        """Advances a rank to the next call that must wait, or to its end."""
        while self.next[rank] < self.last[rank]:
            call = self.next[rank]
            if not self.begun[rank]:
                self.time[rank] += self.gap[call]
                self._begin(call, self.time[rank])
                self.begun[rank] = True
            if self.missing[call] > 0:
                return
            self.time[rank] = max(self.time[rank], self.earliest[call]) + self.cost[call]
            self.begun[rank] = False
            self.next[rank] += 1

    def _begin(self, call: int, time: float) -> None:
        self._release(self.leads[call], time)
        for group in self.parts[call]:
            self._note_part(group, time)

    def _note_part(self, group: int, time: float) -> None:
        """Notes that a part of a group began, which may be the last one of a larger group as well."""
        while group >= 0:
            self.latest[group] = time = max(self.latest[group], time)
            self.absent[group] -= 1
            if self.absent[group] > 0:
                return
            self._release(self.frees[group], time)
            group = self.larger[group] if group < len(self.larger) else -1

    def _release(self, calls: list[int], time: float) -> None:
        """Notes that one of the calls or groups that these calls wait for began at `time`."""
        for call in calls:
            self.earliest[call] = max(self.earliest[call], time)
            self.missing[call] -= 1
            rank = self.rank[call]
            if self.missing[call] == 0 and self.next[rank] == call and self.begun[rank]:
                self.ready.append(rank)


def _grouped_by_call(pairs: Pairs, names: list[int] | None = None) -> defaultdict[int, list[int]]:
    """Returns the numbers of each call, or, with `names`, the value of `names` for each number."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for call, to in zip(pairs.call.tolist(), pairs.to.tolist(), strict=True):
        found[call].append(to if names is None else names[to])
    return found
