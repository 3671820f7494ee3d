"""Replays of a job: the same calls in the same dependencies, with parts of the work shorter.

The dependencies: a rank makes its calls in their order; a receive is complete after its message's send has begun, a
send that does not return before its message is taken after the receive was posted, a collective call after those ranks
have entered that it waits for (`joins`), and a call on a window after those that it waits for (`windows`). The rest of
a call's time, measured from the moment when all of that was there, is its own cost. A replay without any change gives
the measured run time back, except where clocks disagree; the difference is the replay's error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iolens.metrics.why.joins import ALL, LOWER_FIRST, ROOT_FIRST, ROOT_LAST, Joins
from iolens.metrics.why.program import Program
from iolens.metrics.why.rendezvous import is_rendezvous


@dataclass(frozen=True)
class Graph:
    """Dependencies. edge_from, edge_to: the call that must have begun, and the one that cannot end before. group_of:
    the group that a call's begin is a part of (-1: none). waiter_call, waiter_group: calls that cannot end before all
    of a group have begun. order: places of calls, twice each: 2n for the start of call n, 2n + 1 for its end, each
    after what it depends on. gap: seconds between a call and the one before it on its rank. cost: seconds that a call
    takes after what it waits for. broken: dependencies that contradict one another and were left out.
    """

    edge_from: np.ndarray
    edge_to: np.ndarray
    group_of: np.ndarray
    waiter_call: np.ndarray
    waiter_group: np.ndarray
    groups: int
    order: np.ndarray
    gap: np.ndarray
    cost: np.ndarray
    broken: int


def graph_of(program: Program, joins: Joins) -> Graph:
    """Returns the dependencies between the calls of a job."""
    edge_from, edge_to = _message_edges(program, joins)
    group_of = np.full(len(program), -1)
    group_of[joins.entered] = joins.group
    groups = int(joins.group.max(initial=-1)) + 1
    known = joins.completed >= 0
    waits = known & ((joins.shape == ALL) | ((joins.shape == ROOT_LAST) & joins.is_root))
    roots = np.full(groups, -1)
    roots[joins.group[joins.is_root]] = joins.entered[joins.is_root]
    behind = known & (joins.shape == ROOT_FIRST) & ~joins.is_root
    behind &= (roots[joins.group] >= 0) if groups else behind
    from_lower, to_higher = _scan_edges(program, joins)
    inside = joins.behind >= 0
    windows = joins.windows
    edge_from = np.concatenate([edge_from, roots[joins.group[behind]], joins.behind[inside], from_lower, windows.late])
    edge_to = np.concatenate([edge_to, joins.completed[behind], joins.completed[inside], to_higher, windows.waiting])
    waiter_call, waiter_group = joins.completed[waits], joins.group[waits]
    own = edge_from == edge_to
    edge_from, edge_to = edge_from[~own], edge_to[~own]
    walk = _Walk(program, (edge_from, edge_to), group_of, (waiter_call, waiter_group), groups)
    broken = walk.run()
    before = np.concatenate([[0.0], program.end[:-1]]) if len(program) else np.zeros(0)
    heads = program.first[:-1][program.first[:-1] < program.first[1:]]
    before[heads] = 0.0
    ready = program.start.copy()
    np.maximum.at(ready, edge_to, np.minimum(program.start[edge_from], program.end[edge_to]))
    latest = np.full(groups, -np.inf)
    np.maximum.at(latest, joins.group, program.start[joins.entered])
    np.maximum.at(ready, waiter_call, np.minimum(latest[waiter_group], program.end[waiter_call]))
    return Graph(
        edge_from=edge_from,
        edge_to=edge_to,
        group_of=group_of,
        waiter_call=waiter_call,
        waiter_group=waiter_group,
        groups=groups,
        order=np.array(walk.order, np.int64),
        gap=np.maximum(program.start - before, 0.0),
        cost=np.maximum(program.end - ready, 0.0),
        broken=broken,
    )


def _message_edges(program: Program, joins: Joins) -> tuple[np.ndarray, np.ndarray]:
    """Returns the edges of messages: to the completion of each receive, and to that of sends that wait for it."""
    known = joins.receive_done >= 0
    rendezvous = is_rendezvous(program, joins)
    return (
        np.concatenate([joins.send[known], joins.receive[rendezvous]]),
        np.concatenate([joins.receive_done[known], joins.send_done[rendezvous]]),
    )


def _scan_edges(program: Program, joins: Joins) -> tuple[np.ndarray, np.ndarray]:
    """Returns edges from each rank's start of a scan to the ends of all higher ranks."""
    rows = np.flatnonzero((joins.shape == LOWER_FIRST) & (joins.completed >= 0))
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    rank = program.rank[joins.entered]
    begins, ends = [], []
    for group in np.unique(joins.group[rows]).tolist():
        members = rows[joins.group[rows] == group]
        members = members[np.argsort(rank[members], kind="stable")]
        for place, member in enumerate(members.tolist()):
            begins.append(joins.entered[members[:place]])
            ends.append(np.full(place, joins.completed[member]))
    return np.concatenate(begins), np.concatenate(ends)


def _lists(keys: np.ndarray, values: np.ndarray, size: int) -> list[list[int]]:
    """Returns the values of each key from 0 to size."""
    found: list[list[int]] = [[] for _ in range(size)]
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        found[key].append(value)
    return found


class _Walk:
    """The walk of all ranks through their calls, each as far as the calls of others let it."""

    def __init__(
        self,
        program: Program,
        edges: tuple[np.ndarray, np.ndarray],
        group_of: np.ndarray,
        waiters: tuple[np.ndarray, np.ndarray],
        groups: int,
    ) -> None:
        size = len(program)
        self.program = program
        self.leads_to, self.frees = _lists(*edges, size), _lists(waiters[1], waiters[0], groups)
        self.missing = (np.bincount(edges[1], minlength=size) + np.bincount(waiters[0], minlength=size)).tolist()
        self.absent = np.bincount(group_of[group_of >= 0], minlength=groups).tolist()
        self.member, self.rank = group_of.tolist(), program.rank.tolist()
        self.next, self.last = program.first[:-1].tolist(), program.first[1:].tolist()
        self.begun = [False] * size
        self.order: list[int] = []
        self.ready = list(range(program.ranks))[::-1]

    def _begin(self, call: int) -> None:
        """Begins a call once, and frees those that wait for that."""
        if self.begun[call]:
            return
        self.begun[call] = True
        self.order.append(2 * call)
        self._free(self.leads_to[call])
        group = self.member[call]
        if group >= 0:
            self.absent[group] -= 1
            if self.absent[group] == 0:
                self._free(self.frees[group])

    def _free(self, calls: list[int]) -> None:
        for call in calls:
            self.missing[call] -= 1
            if self.missing[call] == 0 and self.begun[call]:
                self.ready.append(self.rank[call])

    def run(self) -> int:
        """Walks to the end; returns the number of calls at which dependencies contradicted one another."""
        broken = 0
        while True:
            while self.ready:
                self._advance(self.ready.pop())
            stuck = [call for call, last in zip(self.next, self.last, strict=True) if call < last]
            if not stuck:
                return broken
            first = min(stuck, key=lambda call: float(self.program.start[call]))
            self.missing[first] = 0
            self.ready.append(self.rank[first])
            broken += 1

    def _advance(self, rank: int) -> None:
        """Takes a rank to the first call that must wait, or to its end."""
        while self.next[rank] < self.last[rank]:
            call = self.next[rank]
            self._begin(call)
            if self.missing[call] > 0:
                return
            self.order.append(2 * call + 1)
            self.next[rank] += 1


@dataclass(frozen=True)
class _Course:
    """The points of a replay at which ranks touch one another, in an order that holds for all replays.

    points: 2n for the start of call n that others wait for, 2n + 1 for the end of call n that waits. sources: the calls
    that each of those ends waits for, and groups: its groups. All other calls only add to their rank's time.
    """

    points: list[int]
    sources: dict[int, list[int]]
    groups: dict[int, list[int]]


def _course_of(program: Program, graph: Graph) -> _Course:
    matters = np.zeros(2 * len(program), bool)
    matters[2 * graph.edge_from] = True
    matters[2 * np.flatnonzero(graph.group_of >= 0)] = True
    matters[2 * graph.edge_to + 1] = True
    matters[2 * graph.waiter_call + 1] = True
    return _Course(
        graph.order[matters[graph.order]].tolist(),
        _by_call(graph.edge_to, graph.edge_from),
        _by_call(graph.waiter_call, graph.waiter_group),
    )


def _by_call(calls: np.ndarray, values: np.ndarray) -> dict[int, list[int]]:
    """Returns the values of each call that has any."""
    found: dict[int, list[int]] = {}
    for call, value in zip(calls.tolist(), values.tolist(), strict=True):
        found.setdefault(call, []).append(value)
    return found


def _replay(program: Program, graph: Graph, course: _Course, gap: np.ndarray, cost: np.ndarray) -> float:
    """Returns when the last call ends if calls take `cost` after what they wait for, and `gap` lies before each.

    alone: when each call would begin if its rank waited for nobody. delay: by how much each rank is later than that.
    """
    if not len(program):
        return 0.0
    heads = program.first[:-1][program.first[:-1] < program.first[1:]]
    spent = np.cumsum(gap + cost)
    before = np.concatenate([[0.0], spent[:-1]])
    alone = before + gap - before[heads][np.searchsorted(heads, np.arange(len(program)), side="right") - 1]
    begins, rank, member = alone.tolist(), program.rank.tolist(), graph.group_of.tolist()
    delay, latest = [0.0] * program.ranks, [0.0] * graph.groups
    begun: dict[int, float] = {}
    nothing: list[int] = []
    for point in course.points:
        call = point >> 1
        own = begins[call] + delay[rank[call]]
        if point & 1:
            time = own
            for other in course.sources.get(call, nothing):
                time = max(time, begun.get(other, 0.0))
            for group in course.groups.get(call, nothing):
                time = max(time, latest[group])
            delay[rank[call]] += time - own
        else:
            begun[call] = own
            group = member[call]
            if group >= 0 and own > latest[group]:
                latest[group] = own
    lasts = program.first[1:][program.first[1:] > program.first[:-1]] - 1
    return float((alone[lasts] + cost[lasts] + np.array(delay)[program.rank[lasts]]).max())


def run_times(program: Program, graph: Graph, changes: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[float]:
    """Returns the run time of each replay: pairs of gaps and costs."""
    course = _course_of(program, graph)
    return [_replay(program, graph, course, gap, cost) for gap, cost in changes]
