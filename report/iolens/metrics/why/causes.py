"""The causes of waits: the work that delayed the late rank, through chains of ranks that waited for one another.

The method is that of Böhme, Geimer, Arnold, Voigtlaender and Wolf (ACM TOPC 3(2):11, 2016) as Scalasca 2.5 has it. The
delay is the work by which the late rank did more than the waiting rank since the two were last in step. Each kind of
work is charged with its part of the wait (short-term cost). If the late rank had itself waited, that part of the wait
is charged to the causes of those earlier waits (long-term cost).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from iolens.metrics.why.calls.joins import ALL, Joins
from iolens.metrics.why.calls.program import Program
from iolens.metrics.why.path import Activities
from iolens.metrics.why.waits import PATTERNS, Waits

_ROUNDING = 1e-9
"""Waits of one cause are rounding errors of sums if they are below this number of seconds in all."""

_CHUNK = 20_000
"""Number of a rank's waits that are analysed at once, which bounds the memory needed."""


@dataclass(frozen=True)
class Causes:
    """Delays by cause. short, long: seconds that ranks waited (ranks × activities), by the late rank and the activity
    that delayed it; `long` includes waits through chains of ranks. held: number of ranks that waited for this rank and
    activity. by_pattern: direct seconds by pattern and activity. unexplained: seconds of waits that no recorded work
    explains (network, clocks).
    """

    short: np.ndarray
    long: np.ndarray
    held: np.ndarray
    by_pattern: np.ndarray
    unexplained: float


def causes_of(program: Program, joins: Joins, waits: Waits, activities: Activities) -> Causes:
    """Returns the delays behind all waits."""
    late_since, own_since = _in_step(program, joins, waits)
    late_rank, own_rank = program.rank[waits.late], program.rank[waits.call]
    came = program.start[waits.late]
    delay = np.maximum(
        _seconds(activities, late_rank, late_since, came)
        - _seconds(activities, own_rank, own_since, program.start[waits.call] + waits.waited),
        0.0,
    )
    chains = _own_waits(program, waits, late_rank, late_since, came)
    total = delay.sum(axis=1) + chains.seconds
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = np.where(total > 0, np.minimum(waits.waited / total, 1.0), 0.0)
        further = np.where(total > 0, 1.0 / total, 0.0)
    passed = _passed_on(waits, chains, direct, further)
    cost_short, cost_long = delay * direct[:, None], delay * (passed * further)[:, None]
    shape = (program.ranks, len(activities.kinds))
    short, long, held = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
    np.add.at(short, late_rank, cost_short)
    np.add.at(long, late_rank, cost_long)
    for sums in (short, long):
        sums[sums < _ROUNDING] = 0.0
    for late in np.unique(late_rank).tolist():
        rows = late_rank == late
        for what in np.flatnonzero(cost_short[rows].sum(axis=0) > 0).tolist():
            held[late, what] = len(np.unique(own_rank[rows][cost_short[rows][:, what] > 0]))
    by_pattern = np.zeros((len(PATTERNS), len(activities.kinds)))
    np.add.at(by_pattern, waits.pattern, cost_short)
    explained = float(short.sum() + long.sum())
    return Causes(short, long, held, by_pattern, max(float(waits.waited.sum()) - explained, 0.0))


def _seconds(activities: Activities, rank: np.ndarray, since: np.ndarray, until: np.ndarray) -> np.ndarray:
    """Returns the seconds of each activity in a span of each of these ranks."""
    found = np.zeros((len(rank), len(activities.kinds)))
    for each in np.unique(rank).tolist():
        rows = np.flatnonzero(rank == each)
        for part in range(0, len(rows), _CHUNK):
            at = rows[part : part + _CHUNK]
            found[at] = activities.seconds(each, since[at], until[at])
    return found


class _Groups:
    """The collective calls in which every rank waits for all others; at each of them two ranks are in step.

    A group is one collective call of all its ranks. latest: the moment at which the last rank began each group. left:
    the moments at which each of its ranks left it; if a rank posted the call and had no need to wait when it completed
    it, this is the moment at which the last rank had posted. of_call: the group that a call completes, or -1.
    """

    def __init__(self, program: Program, joins: Joins) -> None:
        together = (joins.completed >= 0) & (joins.shape == ALL)
        self.of_call = np.full(len(program), -1)
        self.of_call[joins.completed[together]] = joins.group[together]
        order = np.lexsort((joins.completed[together], joins.group[together]))
        calls, groups = joins.completed[together][order], joins.group[together][order]
        posts = joins.entered[together][order]
        bounds = np.searchsorted(groups, np.arange(groups.max(initial=-1) + 2))
        self.latest = np.full(len(bounds) - 1, -np.inf)
        np.maximum.at(self.latest, groups, program.start[posts])
        waited = program.start[calls] < self.latest[groups]
        left = np.where(waited, program.end[calls], np.maximum(program.end[posts], self.latest[groups]))
        self.left: list[dict[int, float]] = [
            dict(zip(program.rank[calls[a:b]].tolist(), left[a:b].tolist(), strict=True))
            for a, b in pairwise(bounds.tolist())
        ]
        self.earlier: dict[tuple[int, ...], list[int]] = {}

    def pass_by(self, group: int) -> None:
        """Adds this group to the earlier groups among which later calls of `last_of` search."""
        self.earlier.setdefault(tuple(self.left[group]), []).append(group)

    def last_of(self, ours: int, theirs: int, begin: float, time: float) -> tuple[float, float, float]:
        """Returns the moment at which two ranks were last in step in an earlier group, and the moments at which each
        left it.

        begin: the moment at which the first rank began to wait; a call that it posted before may end later. time: the
        moment at which the other rank arrived.
        """
        best = (-1.0, 0.0, 0.0)
        for groups in self.earlier.values():
            if ours not in self.left[groups[0]] or theirs not in self.left[groups[0]]:
                continue
            for group in reversed(groups):
                if self.latest[group] < time and self.left[group][ours] <= begin:
                    best = max(best, (float(self.latest[group]), self.left[group][ours], self.left[group][theirs]))
                    break
        return best


def _in_step(program: Program, joins: Joins, waits: Waits) -> tuple[np.ndarray, np.ndarray]:
    """Returns, for each wait, the moments at which the late and the waiting rank left the call in which they were last
    in step: the last message between the two with a wait, or the last collective call of both in which all ranks
    wait for all.
    """
    late_since, own_since = np.zeros(len(waits.call)), np.zeros(len(waits.call))
    groups = _Groups(program, joins)
    # A call that sends and receives may wait for a third rank after its message has left.
    left = program.end.copy()
    left[waits.call] = program.start[waits.call]
    pairs: dict[tuple[int, int], tuple[float, float, float]] = {}
    events = sorted(
        [(float(program.start[late]), 1, at) for at, late in enumerate(waits.late.tolist())]
        + [(float(time), 2, group) for group, time in enumerate(groups.latest.tolist()) if np.isfinite(time)]
    )
    for time, what, at in events:
        if what == 2:
            groups.pass_by(at)
            continue
        call, late = int(waits.call[at]), int(waits.late[at])
        ours, theirs = int(program.rank[call]), int(program.rank[late])
        message = pairs.get((ours, theirs), (-1.0, 0.0, 0.0))
        common = groups.last_of(ours, theirs, float(program.start[call]), time)
        _, own_since[at], late_since[at] = common if common[0] > message[0] else message
        if groups.of_call[call] < 0:
            own_end, late_end = float(program.end[call]), float(left[late])
            pairs[ours, theirs], pairs[theirs, ours] = (time, own_end, late_end), (time, late_end, own_end)
    return np.minimum(late_since, program.start[waits.late]), np.minimum(own_since, program.start[waits.call])


@dataclass(frozen=True)
class _Chains:
    """For each wait, the waits of its late rank since the two ranks were in step: the positions first to last (not
    included) in `order`, which lists the waits by rank and time, and their seconds. part: share of the first of them
    that lies after the two ranks were in step. A call that was posted before can bring two ranks in step while one of
    them waits for a third.
    """

    order: np.ndarray
    first: np.ndarray
    last: np.ndarray
    part: np.ndarray
    seconds: np.ndarray


def _own_waits(program: Program, waits: Waits, late_rank: np.ndarray, since: np.ndarray, until: np.ndarray) -> _Chains:
    rank, start = program.rank[waits.call], program.start[waits.call]
    order = np.lexsort((start, rank))
    by_rank = np.searchsorted(rank[order], np.arange(program.ranks + 1))
    first = np.zeros(len(order), np.int64)
    last: np.ndarray = np.zeros(len(order), np.int64)
    begins, seconds = start[order], waits.waited[order]
    ends = begins + seconds
    rows_of = np.argsort(late_rank, kind="stable")
    bounds = np.searchsorted(late_rank[rows_of], np.arange(program.ranks + 1))
    for each in range(program.ranks):
        begin, end = by_rank[each], by_rank[each + 1]
        rows = rows_of[bounds[each] : bounds[each + 1]]
        first[rows] = begin + np.searchsorted(ends[begin:end], since[rows], side="right")
        last[rows] = begin + np.searchsorted(begins[begin:end], until[rows], side="left")
    total = np.concatenate([[0.0], np.cumsum(seconds)])
    last = np.maximum(first, last)
    at = np.minimum(first, max(len(order) - 1, 0))
    before = np.where(last > first, np.maximum(since - begins[at], 0.0), 0.0)
    part = 1.0 - np.divide(before, seconds[at], out=np.zeros(len(order)), where=seconds[at] > 0)
    return _Chains(order, first, last, part, total[last] - total[first] - before)


def _passed_on(waits: Waits, chains: _Chains, direct: np.ndarray, further: np.ndarray) -> np.ndarray:
    """Returns, for each wait, the seconds of later waits that it causes, from the last wait to the first."""
    place = np.empty(len(chains.order), np.int64)
    place[chains.order] = np.arange(len(chains.order))
    share = np.zeros(len(chains.order) + 1)
    passed = np.zeros(len(chains.order))
    first, last, part = chains.first.tolist(), chains.last.tolist(), chains.part.tolist()
    waited, directs, furthers = waits.waited.tolist(), direct.tolist(), further.tolist()
    for at in range(len(passed) - 1, -1, -1):
        # `share` holds the shares of later waits as differences: each value begins and ends at positions of `order`.
        own = _covering(share, int(place[at]))
        passed[at] = waited[at] * own
        if last[at] > first[at]:
            factor = directs[at] + passed[at] * furthers[at]
            _cover(share, first[at], first[at] + 1, factor * part[at])
            _cover(share, first[at] + 1, last[at], factor)
    return passed


def _cover(share: np.ndarray, first: int, last: int, value: float) -> None:
    """Adds a value to all positions from first to last (not included): a Fenwick tree over differences."""
    for place, amount in ((first, value), (last, -value)):
        at = place + 1
        while at < len(share):
            share[at] += amount
            at += at & -at


def _covering(share: np.ndarray, place: int) -> float:
    """Returns the sum of all values that `_cover` added to ranges with this position."""
    at, found = place + 1, 0.0
    while at > 0:
        found += float(share[at])
        at -= at & -at
    return found
