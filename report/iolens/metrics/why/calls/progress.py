"""Waits for ranks that are outside of MPI: a library that works only while a rank calls it, and messages that it does
not buffer.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from iolens.metrics.why.calls.joins import NEIGHBOURS, Joins
from iolens.metrics.why.calls.program import MPI, Program

CERTAINLY_BLOCKED = 100e-6
"""Minimum delay in seconds for a send to count as waiting for its receive."""


def calls_of_one(program: Program) -> np.ndarray:
    """Returns True for each call that is part of at most one message or collective call."""
    alone: np.ndarray = np.bincount(program.links["call"], minlength=len(program)) <= 1
    return alone


def is_rendezvous(program: Program, joins: Joins) -> np.ndarray:
    """Returns, for each message, True if its send cannot complete before the receive is posted.

    These are synchronous sends, and messages at least as large as the smallest one whose send waited for its receive. A
    send that ended before its receive was posted shows that the library buffers messages up to its size. If the call
    that completed the send had several messages, it shows a wait only if the senders of all that it received had begun
    before the receive was posted.
    """
    known = joins.send_done >= 0
    done = np.maximum(joins.send_done, 0)
    posted = program.start[joins.receive]
    synchronous = np.array([name in ("MPI_Ssend", "MPI_Issend") for name in program.functions] or [False])
    buffered = known & (program.end[done] <= posted)
    held = known & (program.end[done] > posted) & (posted - program.start[done] > CERTAINLY_BLOCKED)
    senders = np.full(len(program), -np.inf)
    received = joins.receive_done >= 0
    np.maximum.at(senders, joins.receive_done[received], program.start[joins.send[received]])
    held &= calls_of_one(program)[done] | (posted > senders[done])
    largest_buffered = joins.size[buffered].max(initial=-1)
    held &= joins.size > largest_buffered
    least = joins.size[held].min(initial=np.iinfo(np.int64).max)
    always: np.ndarray = known & (synchronous[program.function[joins.send]] | (joins.size >= least))
    return always


_ABSENT = 100e-6
"""Shortest time outside of MPI, in seconds, for which others are taken to have waited."""

_SOON, _SHORT = 1e-3, 0.1
"""A call that ends within this many seconds after a rank came back into MPI, and this share of the time that it had
waited until then, is taken to have waited for that rank.
"""

_OWN_FILES = re.compile(r"MPI_File_(i?(read|write)(_at|_shared)?(_c)?$|delete$|get_|seek)")
"""Functions of MPI-IO in which a rank works by itself, and does not answer others."""

_MOST_RETURNS = 16
"""Maximum number of returns into MPI, the last ones, of a rank between the posting and the completion of a collective
call that are searched.
"""


class Pairs(NamedTuple):
    """Calls in their order, with a number for each."""

    call: np.ndarray
    to: np.ndarray


class More(NamedTuple):
    """Further dependencies: pairs of calls of which the second cannot end before the first has begun, and groups: pairs
    of a call and a group that its begin is a part of, and of a call and the group that it waits for.
    """

    late: np.ndarray
    waiting: np.ndarray
    parts: Pairs
    waits: Pairs
    groups: int

    @property
    def is_empty(self) -> bool:
        """Returns True if there is no further dependency."""
        return not len(self.late) and self.groups == 0


_NONE = np.zeros(0, np.int64)
NO_MORE = More(_NONE, _NONE, Pairs(_NONE, _NONE), Pairs(_NONE, _NONE), 0)


class Progress(NamedTuple):
    """Waits for ranks outside of MPI. late, waiting: pairs of calls: with the first one a rank came back into MPI while
    the second one, of another rank, lasted. At most one for each waiting call. is_likely: True if the second one ended
    soon afterwards. posted: calls that complete posted collective calls. cautious:
    all dependencies that the events do not contradict.
    """

    late: np.ndarray
    waiting: np.ndarray
    is_likely: np.ndarray
    posted: np.ndarray
    cautious: More

    @property
    def likely(self) -> More:
        """Returns the likely dependencies."""
        return NO_MORE._replace(late=self.late[self.is_likely], waiting=self.waiting[self.is_likely])


NO_PROGRESS = Progress(_NONE, _NONE, np.zeros(0, bool), _NONE, NO_MORE)
"""The waits for ranks outside of MPI if MPI works without being called."""


def progress_of(program: Program, joins: Joins, cost: np.ndarray) -> Progress:
    """Returns the waits for ranks outside of MPI. cost: seconds of each call that no known wait explains."""
    calls = _Calls(program)
    free = program.end - cost
    posted = (joins.completed >= 0) & (joins.completed != joins.entered)
    late, waiting = (
        np.concatenate(each)
        for each in zip(
            _of_messages(program, joins, calls),
            _of_neighbours(program, joins, calls),
            _of_posted(program, joins, calls, posted),
            strict=True,
        )
    )
    kept = (late >= 0) & (program.start[late] > free[waiting] + _ABSENT) & (program.start[late] < program.end[waiting])
    late, waiting = _latest_of_each(program, late[kept], waiting[kept])
    explained, rest = program.start[late] - free[waiting], program.end[waiting] - program.start[late]
    return Progress(
        late=late,
        waiting=waiting,
        is_likely=rest <= _SOON + _SHORT * explained,
        posted=np.unique(joins.completed[posted]),
        cautious=_cautious(program, joins, calls, posted),
    )


class _Calls:
    """The calls in which MPI can answer other ranks, and those of them before which their rank was outside of MPI."""

    def __init__(self, program: Program) -> None:
        alone = np.array([bool(_OWN_FILES.match(name)) for name in program.functions] or [False])
        self.inside = np.flatnonzero((program.kind == MPI) & ~alone[program.function])
        rank, start, end = program.rank[self.inside], program.start[self.inside], program.end[self.inside]
        away = np.append(True, (rank[1:] != rank[:-1]) | (start[1:] - end[:-1] >= _ABSENT))[: len(rank)]
        self.returns = self.inside[away]
        self.program = program

    def latest(self, among: np.ndarray, rank: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Returns the last of the calls `among` that began on these ranks by these times; -1: none."""
        found = np.full(len(rank), -1)
        bounds = np.searchsorted(self.program.rank[among], np.arange(self.program.ranks + 1))
        starts = self.program.start[among]
        for each in np.unique(rank).tolist():
            rows, first, last = rank == each, bounds[each], bounds[each + 1]
            place = first + np.searchsorted(starts[first:last], time[rows], side="right") - 1
            found[rows] = np.where(place >= first, among[np.maximum(place, 0)] if len(among) else -1, -1)
        return found


def _of_messages(program: Program, joins: Joins, calls: _Calls) -> tuple[np.ndarray, np.ndarray]:
    """Returns the last returns of partners in messages, and the calls that completed the messages."""
    done, partner = _ends_of_messages(program, joins)
    return calls.latest(calls.returns, partner, program.end[done]), done


def _ends_of_messages(program: Program, joins: Joins) -> tuple[np.ndarray, np.ndarray]:
    """Returns the calls that completed sends and receives, and the partners' ranks."""
    sent, received = joins.send_done >= 0, joins.receive_done >= 0
    done = np.concatenate([joins.send_done[sent], joins.receive_done[received]])
    partner = program.rank[np.concatenate([joins.receive[sent], joins.send[received]])]
    others = partner != program.rank[done]
    return done[others], partner[others]


def _of_neighbours(program: Program, joins: Joins, calls: _Calls) -> tuple[np.ndarray, np.ndarray]:
    """Returns the last returns of neighbours in collective calls on topologies, and the calls that completed these."""
    near = joins.near
    return calls.latest(calls.returns, program.rank[near.other], program.end[near.completed]), near.completed


def _of_posted(program: Program, joins: Joins, calls: _Calls, posted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the last return of any other rank between its post and its completion of a collective call, and the calls
    that completed it.
    """
    rows = np.flatnonzero(posted & (joins.shape != NEIGHBOURS))
    first = np.searchsorted(calls.returns, joins.entered[rows], side="right")
    last = np.searchsorted(calls.returns, joins.completed[rows], side="right")
    first = np.maximum(first, last - _MOST_RETURNS)
    many = np.maximum(last - first, 0)
    place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first, many)
    back, group = calls.returns[place], np.repeat(joins.group[rows], many)
    done = joins.completed[rows]
    times = np.concatenate([program.start[back], program.end[done]])
    is_end = np.append(np.zeros(len(back), bool), np.ones(len(done), bool))
    groups = np.concatenate([group, joins.group[rows]])
    order = np.lexsort((is_end, times, groups))
    at = np.maximum.accumulate(np.where(is_end[order], -1, np.arange(len(order)))) if len(order) else order
    of_end = np.empty(len(order), np.int64)
    of_end[order] = at
    before = of_end[len(back) :]
    which = order[np.maximum(before, 0)] if len(order) else before
    known = (before >= 0) & (groups[which] == joins.group[rows]) if len(order) else np.zeros(0, bool)
    found = np.where(known, back[np.minimum(which, max(len(back) - 1, 0))], -1) if len(back) else np.full(len(rows), -1)
    return found, done


def _latest_of_each(program: Program, late: np.ndarray, waiting: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the pairs with the latest begin for each waiting call."""
    order = np.lexsort((program.start[late], waiting))
    last = np.append(waiting[order][1:] != waiting[order][:-1], True)[: len(order)]
    return late[order][last], waiting[order][last]


def _cautious(program: Program, joins: Joins, calls: _Calls, posted: np.ndarray) -> More:
    """Returns all dependencies on ranks inside MPI that the events do not contradict: each rank of a posted collective
    call was inside MPI before the first rank completed it, and both ends of a large posted message were so before the
    other end completed it.
    """
    rows = np.flatnonzero(posted)
    groups = int(joins.group.max(initial=-1)) + 1
    first_end = np.full(groups, np.inf)
    np.minimum.at(first_end, joins.group[rows], program.end[joins.completed[rows]])
    inside = calls.latest(calls.inside, program.rank[joins.entered[rows]], first_end[joins.group[rows]])
    kept = inside >= joins.entered[rows]
    has_part = np.zeros(groups, bool)
    has_part[joins.group[rows][kept]] = True
    waits = rows[has_part[joins.group[rows]]]
    large = is_rendezvous(program, joins) & (joins.send_done >= 0) & (joins.receive_done >= 0)
    large &= (joins.send_done != joins.send) | (joins.receive_done != joins.receive)
    of_receiver = calls.latest(calls.inside, program.rank[joins.receive[large]], program.end[joins.send_done[large]])
    of_sender = calls.latest(calls.inside, program.rank[joins.send[large]], program.end[joins.receive_done[large]])
    late = np.concatenate([of_receiver, of_sender])
    waiting = np.concatenate([joins.send_done[large], joins.receive_done[large]])
    pairs = (late >= 0) & (program.rank[late] != program.rank[waiting])
    return More(
        late=late[pairs],
        waiting=waiting[pairs],
        parts=Pairs(inside[kept], joins.group[rows][kept]),
        waits=Pairs(joins.completed[waits], joins.group[waits]),
        groups=groups if len(waits) else 0,
    )
