"""Convert recorded calls into the steps of a replay at other settings."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iolens.errors import IolensError
from iolens.lab.predict.extents import NOTHING, Extents, union
from iolens.lab.predict.recorded import CLOSE, COLLECTIVE, FLUSH, OPEN, Recorded, RecordedCall
from iolens.lab.predict.settings import ChangedSettings, collective, uses_two_phases
from iolens.lab.predict.steps import RankSteps
from iolens.lab.predict.turns import ahead
from iolens.lab.predict.two_phase import is_interleaved, rounds
from iolens.lab.storage.layout import Layout

_TOGETHER = (COLLECTIVE, OPEN, CLOSE)
"""Kinds of calls that all ranks of a file make together."""

_BEFORE, _BEHIND = 0, 1
"""Tags of the marks before and after a call."""

_ALIGNED = 0.5
"""Ranks are assumed to have waited for each other if the spread of their next calls' beginnings is below this share of
the spread of their previous calls' ends.
"""


@dataclass(frozen=True)
class CollectiveOperation:
    """One operation that the ranks of a file perform together: their calls, in the order of ranks."""

    calls: tuple[RecordedCall, ...]

    @property
    def ranks(self) -> list[int]:
        """Returns the ranks that take part."""
        return [call.rank for call in self.calls]

    @property
    def wanted(self) -> Extents:
        """Returns the bytes that all ranks together move; raises if a view is unknown."""
        parts = [call.wanted for call in self.calls]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            raise IolensError(
                "n/a: the log does not record the bytes that a collective call moves, because the file view is "
                "missing or the call uses a shared file pointer; record the run with --dxt and this version"
            )
        return union(known)

    @property
    def bytes(self) -> int:
        """Returns the sum of bytes over all ranks; bytes that two ranks move count twice."""
        return sum(call.wanted.bytes for call in self.calls if call.wanted is not None)

    @property
    def interleaved(self) -> bool:
        """Returns True if the range of some rank overlaps that of the next rank with bytes."""
        pieces = [call.wanted for call in self.calls if call.wanted is not None and len(call.wanted.begin)]
        return is_interleaved([(int(part.begin[0]), int(part.end[-1]) - 1) for part in pieces])


def _groups_of(recorded: Recorded) -> dict[tuple[int, str, int], CollectiveOperation]:
    """Returns the calls that ranks make together, by file, kind and number; raises if collective calls do not match."""
    found: dict[tuple[int, str, int], list[RecordedCall]] = defaultdict(list)
    for rank in sorted(recorded.ranks):
        for call in recorded.ranks[rank]:
            if call.kind in _TOGETHER:
                found[call.file, call.kind, call.number].append(call)
    sizes: dict[int, set[int]] = defaultdict(set)
    for (file, kind, _), calls in found.items():
        if kind == COLLECTIVE:
            sizes[file].add(len(calls))
            if len({call.writing for call in calls}) > 1:
                raise IolensError("n/a: the ranks made different collective calls on a file")
    if any(len(each) > 1 for each in sizes.values()):
        raise IolensError("n/a: the ranks made different numbers of collective calls on a file")
    return {key: CollectiveOperation(tuple(calls)) for key, calls in found.items()}


def exchange_bandwidth(recorded: Recorded) -> float | None:
    """Returns the bytes per second that ranks and aggregators exchanged in collective calls: all bytes of the calls
    over the time in which every rank was in the call and none accessed the file. Returns None without collective calls.
    """
    moved, seconds = 0, 0.0
    for (_, kind, _), group in _groups_of(recorded).items():
        begin, end = max(call.start for call in group.calls), max(call.end for call in group.calls)
        if kind != COLLECTIVE or end <= begin:
            continue
        accesses = [access for call in group.calls for access in call.inner]
        moved += group.bytes
        seconds += end - begin - _covered_seconds([(access.start, access.end) for access in accesses], begin, end)
    return moved / seconds if moved and seconds > 0 else None


def _covered_seconds(spans: Sequence[tuple[float, float]], begin: float, end: float) -> float:
    """Returns the seconds of [begin, end] that lie in any of the spans."""
    total, reach = 0.0, begin
    for start, stop in sorted(spans):
        total += max(0.0, min(stop, end) - max(start, reach))
        reach = max(reach, min(stop, end))
    return total


@dataclass(frozen=True)
class ReplayPlan:
    """The parameters of a replay, in addition to the recorded calls."""

    settings: ChangedSettings
    layouts: Mapping[int, Layout]
    exchange: float | None
    """Bandwidth of the exchange of data in collective calls, in bytes per second; None if it takes no time."""


def steps_of(recorded: Recorded, plan: ReplayPlan) -> RankSteps:
    """Returns the steps of all ranks. A mark 0 precedes and a mark 1 follows each call of a rank except collective
    opens, which no predicted setting changes.
    """
    program = RankSteps(plan.layouts)
    groups = _groups_of(recorded)
    meetings = _waits_for_all(recorded)
    ended = dict.fromkeys(recorded.ranks, 0.0)
    left = {rank: deque(calls) for rank, calls in recorded.ranks.items()}
    while any(left.values()):
        if meetings and all(not calls or calls[0].start >= meetings[0] for calls in left.values()):
            program.meet(recorded.ranks)
            reached = meetings.popleft()
            ended = {rank: max(end, reached) for rank, end in ended.items()}
        together = _next_calls(left, groups)
        for one in together:
            left[one.rank].popleft()
            program.wait(one.rank, one.start - ended[one.rank])
            if one.kind != OPEN:
                program.mark(one.rank, _BEFORE)
        if together[0].kind in _TOGETHER:
            _add_together(program, recorded, plan, CollectiveOperation(together))
        else:
            _add_alone(program, together[0])
        for one in together:
            if one.kind != OPEN:
                program.mark(one.rank, _BEHIND)
            ended[one.rank] = one.end
    return program


def _next_calls(
    left: Mapping[int, deque[RecordedCall]], groups: Mapping[tuple[int, str, int], CollectiveOperation]
) -> tuple[RecordedCall, ...]:
    """Returns the earliest call that can be replayed next. A call of several ranks is returned as the calls of all
    these ranks, and only if each of them is the next call of its rank.
    """
    for call in sorted((calls[0] for calls in left.values() if calls), key=lambda call: call.start):
        if call.kind not in _TOGETHER:
            return (call,)
        calls = groups[call.file, call.kind, call.number].calls
        if all(left[one.rank] and left[one.rank][0] is one for one in calls):
            return calls
    raise IolensError("n/a: the ranks made their collective calls on several files in different orders")


def _waits_for_all(recorded: Recorded) -> deque[float]:
    """Returns the ends of calls after which all ranks waited for each other outside of I/O: times at which no rank is
    in a call and after which all ranks begin closer together than they had ended.
    """
    ranks = [calls for calls in recorded.ranks.values() if calls]
    if len(ranks) < 2:
        return deque()
    begins = [np.array([call.start for call in calls]) for calls in ranks]
    ends = [np.maximum.accumulate([call.end for call in calls]) for calls in ranks]
    spans = sorted((call.start, call.end) for calls in ranks for call in calls)
    found: deque[float] = deque()
    reach = spans[0][1]
    for start, end in spans:
        if start > reach:
            after = [int(np.searchsorted(begin, reach, side="left")) for begin in begins]
            if all(0 < at < len(begin) for at, begin in zip(after, begins, strict=True)):
                first = [float(begin[at]) for at, begin in zip(after, begins, strict=True)]
                last = [float(each[at - 1]) for at, each in zip(after, ends, strict=True)]
                if max(first) - min(first) < _ALIGNED * (max(last) - min(last)):
                    found.append(reach)
        reach = max(reach, end)
    return found


def _add_alone(program: RankSteps, call: RecordedCall) -> None:
    """Adds a call of one rank: the accesses below it, and the time between them."""
    if not call.inner:
        if call.kind == FLUSH:
            program.flush(call.rank, call.file)
        elif call.wanted is not None and len(call.wanted.begin):
            for begin, length in zip(call.wanted.begin.tolist(), call.wanted.length.tolist(), strict=True):
                program.move(call.rank, call.file, call.writing, begin, length)
        else:
            program.wait(call.rank, call.end - call.start)
        return
    _add_inner(program, call)


def _add_inner(program: RankSteps, call: RecordedCall) -> None:
    """Adds the recorded accesses below a call, with the time between them."""
    at = call.start
    for access in call.inner:
        program.wait(call.rank, access.start - at)
        if access.flush:
            program.flush(call.rank, call.file)
        elif access.length > 0:
            program.move(call.rank, call.file, access.writing, access.offset, access.length)
        else:
            program.wait(call.rank, access.end - access.start)
        at = max(at, access.end)
    program.wait(call.rank, call.end - at)


def _add_together(program: RankSteps, recorded: Recorded, plan: ReplayPlan, group: CollectiveOperation) -> None:
    """Adds a call that ranks make together: an open, a close, or a collective transfer, with or without aggregators."""
    first = group.calls[0]
    program.meet(group.ranks)
    if first.kind == OPEN:
        shortest = min(call.end - call.start for call in group.calls)
        for rank in group.ranks:
            program.wait(rank, shortest)
    elif first.kind == CLOSE:
        for rank in group.ranks:
            program.flush(rank, first.file)
    elif uses_two_phases(recorded, first.file, first.writing, group.interleaved):
        _add_two_phases(program, recorded, plan, group)
    else:
        _add_apart(program, group)


def _add_apart(program: RankSteps, group: CollectiveOperation) -> None:
    """Adds a collective call in which every rank moves its own bytes, with the recorded accesses below MPI-IO, which
    depend on no setting.
    """
    for call in group.calls:
        for access in call.inner:
            program.move(call.rank, call.file, access.writing, access.offset, access.length)


def _add_two_phases(program: RankSteps, recorded: Recorded, plan: ReplayPlan, group: CollectiveOperation) -> None:
    """Adds a collective call through aggregators: in every round all ranks exchange data, and aggregators access the
    file; a part with holes is read before it is written. Aggregators write in any order, except that a sender writes
    after its receiver.
    """
    first = group.calls[0]
    how = collective(recorded, plan.settings, first.file, plan.layouts[first.file])
    wanted = {call.rank: call.wanted or NOTHING for call in group.calls}
    for one in rounds(how, group.wanted, first.writing):
        seconds = one.bytes / plan.exchange if plan.exchange else 0.0
        program.meet(group.ranks)
        if first.writing:
            _wait_all(program, group, seconds)
        turns = program.in_turn(ahead(one.moves, wanted)) if first.writing and len(one.moves) > 1 else {}
        for move in one.moves:
            if move.rank in turns:
                program.begin(move.rank, turns[move.rank])
            if move.holes and first.writing:
                program.move(move.rank, first.file, writing=False, offset=move.begin, length=move.end - move.begin)
            program.move(move.rank, first.file, first.writing, move.begin, move.end - move.begin)
        if not first.writing:
            program.meet(group.ranks)
            _wait_all(program, group, seconds)
    program.meet(group.ranks)


def _wait_all(program: RankSteps, group: CollectiveOperation, seconds: float) -> None:
    """Adds the same waiting time to all ranks of the group."""
    for rank in group.ranks:
        program.wait(rank, seconds)
