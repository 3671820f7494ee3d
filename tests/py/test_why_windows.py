"""Tests waits of one-sided communication, from made-up events, as report/WHY.md defines them."""

from __future__ import annotations

import pytest
from iolens.metrics.why.answers import Why, why_of
from iolens.metrics.why.calls.program import program_of
from iolens.metrics.why.causes import causes_of
from iolens.metrics.why.waits import PATTERNS
from iolens.metrics.why.what_if import STORAGE, what_if
from why_programs import RankLine, events_of


def solved(*lines: RankLine) -> Why:
    return why_of(program_of(events_of(*lines), len(lines)))


def waits(found: Why) -> list[tuple[int, str, str, float]]:
    """Returns rank, function, pattern and seconds of all waits, ordered by rank."""
    calls, program = found.waits.call.tolist(), found.program
    rows = zip(calls, found.waits.pattern.tolist(), found.waits.waited.tolist(), strict=True)
    named = [
        (int(program.rank[call]), program.functions[program.function[call]], PATTERNS[pattern], pytest.approx(seconds))
        for call, pattern, seconds in rows
    ]
    return sorted(named, key=lambda row: row[:3])


def faster(found: Why) -> float:
    """Returns the run time with infinitely fast storage, and checks that the unchanged replay is exact."""
    times = {each.change.question: each.run_time for each in what_if(found.program, found.joins, found.graph)}
    assert times["nothing changed"] == pytest.approx(found.program.run_time)
    return times[STORAGE]


def put(line: RankLine, start: float, end: float) -> RankLine:
    return line.add("call", "MPI_Put", start, end)


def target(written: float) -> RankLine:
    """Returns a rank that writes a file, exposes its memory to rank 1 and waits for it."""
    return RankLine().file(0, written).epoch("post", written, written + 0.1, 1).epoch("wait", written + 0.1, 6)


@pytest.mark.parametrize(
    ("start", "access", "complete", "function"),
    [
        ((1, 5.2), (5.2, 5.3), (5.3, 5.4), "MPI_Win_start"),
        ((1, 1.1), (1.2, 5.2), (5.3, 5.4), "MPI_Put"),
        ((1, 1.1), (1.1, 1.2), (1.3, 5.2), "MPI_Win_complete"),
    ],
)
def test_the_origin_waits_in_the_call_that_blocks(
    start: tuple[float, float], access: tuple[float, float], complete: tuple[float, float], function: str
) -> None:
    origin = put(RankLine().epoch("start", *start, 0), *access).epoch("complete", *complete)
    found = solved(target(5.0), origin)
    begin = {"MPI_Win_start": start, "MPI_Put": access, "MPI_Win_complete": complete}[function][0]
    assert (1, function, "late post", pytest.approx(5.0 - begin)) in waits(found)
    causes = causes_of(found.program, found.joins, found.waits, found.activities)
    assert found.activities.kinds[causes.short[0].argmax()].function == "write"


def test_nobody_waits_for_memory_that_is_exposed() -> None:
    origin = put(RankLine().epoch("start", 1, 1.1, 0), 2, 2.1).epoch("complete", 3, 3.1)
    assert waits(solved(target(0.5), origin)) == [(0, "MPI_Win_wait", "early wait", pytest.approx(2.4))]


def test_the_target_waits_for_the_last_origin() -> None:
    owner = RankLine().epoch("post", 0, 0.1, 1, 2).epoch("wait", 0.2, 6)
    early = RankLine().epoch("start", 0.3, 0.4, 0).epoch("complete", 1, 1.1)
    late = RankLine().epoch("start", 0.3, 0.4, 0).file(0.4, 5).epoch("complete", 5, 5.1)
    found = solved(owner, early, late)
    assert waits(found) == [(0, "MPI_Win_wait", "early wait", pytest.approx(4.8))]
    assert faster(found) == pytest.approx(2.0)  # The other origin comes at 1 s, and the wait ends 1 s later.


def test_epochs_of_a_pair_are_joined_in_their_order() -> None:
    owner, origin = RankLine(), RankLine()
    for begin in (0.0, 10.0):
        owner.epoch("post", begin, begin + 0.1, 1).epoch("wait", begin + 0.2, begin + 4.1)
        origin.epoch("start", begin + 1, begin + 1.1, 0).epoch("complete", begin + 4, begin + 4.1)
    owner.epoch("post", 20, 20.1, 1)
    assert waits(solved(owner, origin)) == 2 * [(0, "MPI_Win_wait", "early wait", pytest.approx(3.8))]


def locks(*, exclusive: bool, other: int = 0) -> Why:
    """Returns a job in which rank 1 writes a file while it holds the window's lock of rank 0, and rank 2 takes the lock
    of rank `other`.
    """
    holder = RankLine().epoch("lock", 0, 0.1, 0, exclusive=exclusive).file(0.1, 5).epoch("unlock", 5, 5.1, 0)
    second = put(RankLine().epoch("lock", 1, 1.1, other, exclusive=True), 1.2, 1.3).epoch("unlock", 1.3, 5.2, other)
    return solved(RankLine().file(0, 0.1), holder, second)


@pytest.mark.parametrize("exclusive", [True, False])
def test_a_rank_waits_for_a_lock_where_it_runs_when_the_lock_is_free(exclusive: bool) -> None:
    found = locks(exclusive=exclusive)
    assert waits(found) == [(2, "MPI_Win_unlock", "wait for a window's lock", pytest.approx(3.7))]
    assert faster(found) == pytest.approx(1.5)


def test_locks_of_other_targets_do_not_wait() -> None:
    assert waits(locks(exclusive=True, other=1)) == []


def test_shared_locks_do_not_wait() -> None:
    holder = RankLine().epoch("lock_all", 0, 0.1).epoch("unlock_all", 5, 5.1)
    second = RankLine().epoch("lock", 1, 1.1, 0).epoch("unlock", 1.3, 5.2, 0)
    assert waits(solved(holder, second)) == []


def test_an_exclusive_lock_waits_for_one_of_all_targets() -> None:
    holder = RankLine().epoch("lock_all", 0, 0.1).epoch("unlock_all", 5, 5.1)
    second = RankLine().epoch("lock", 1, 5.2, 1, exclusive=True).epoch("unlock", 5.3, 5.4, 1)
    assert waits(solved(holder, second)) == [(1, "MPI_Win_lock", "wait for a window's lock", pytest.approx(4.0))]


def test_a_rank_that_flushed_had_the_lock_before_the_one_whose_call_returned_first() -> None:
    holder = RankLine().epoch("lock", 0, 0, 0, exclusive=True).add("call", "MPI_Win_flush", 0.1, 0.2).file(0.2, 5)
    second = RankLine().epoch("lock", 1, 1, 0, exclusive=True).add("call", "MPI_Win_flush", 1, 5.02)
    lines = holder.epoch("unlock", 5, 5.1, 0), second.epoch("unlock", 5.03, 5.05, 0)
    found = solved(RankLine().file(0, 0.1), *lines)
    assert waits(found) == [(2, "MPI_Win_flush", "wait for a window's lock", pytest.approx(4.0))]


def test_ranks_wait_at_a_fence() -> None:
    lines = [
        RankLine().file(0, 5).together("MPI_Win_fence", 5, 5.1, 2),
        RankLine().together("MPI_Win_fence", 1, 5.1, 2),
    ]
    assert waits(solved(*lines)) == [(1, "MPI_Win_fence", "wait at fence", pytest.approx(4.0))]


def test_a_loop_of_tests_is_a_wait_for_the_origin() -> None:
    owner = RankLine().epoch("post", 0, 0.1, 1)
    owner.add("call", "MPI_Win_test", 1, 5, size=1000).epoch("test", 5.00001, 5.00002)
    origin = RankLine().epoch("start", 0.3, 0.4, 0).file(0.4, 5).epoch("complete", 5, 5.1)
    assert waits(solved(owner, origin)) == [(0, "MPI_Win_test, repeated", "early wait", pytest.approx(4.0))]
