"""Tests waits for ranks that are outside of MPI, for neighbours and for other programs, and times asleep."""

from __future__ import annotations

import numpy as np
import pytest
from iolens.metrics.why.answers import storage_saving, waits_by_cause, why_of
from iolens.metrics.why.calls.program import program_of
from iolens.metrics.why.time_lines import limits
from iolens.metrics.why.unknown import NOTHING_OF_RANKS, OfRanks
from iolens.metrics.why.what_if import BALANCED, STORAGE, Answer, what_if
from iolens.pages.exhibits.waits import storage_note
from test_why import job_with, solved, waits
from test_why_unknown import interval
from why_programs import WORLD, RankLine, events_of


def posted(line: RankLine, start: float, function: str = "MPI_Ibarrier", size: int = 2) -> int:
    """Adds a posted collective call without duration; returns its number."""
    line.add("iall", function, start, start, communicator=WORLD, size=size, bytes=8)
    return len(line.rows) - 1


def absent_after_the_post() -> list[RankLine]:
    """Returns two ranks that post a barrier at 1 s; rank 0 then writes until 5 s, and rank 1 waits until then."""
    late, early = RankLine(), RankLine()
    first, other = posted(late, 1.0), posted(early, 1.0)
    late.file(1.0, 5.0).wait(5.0, 5.001, first, function="MPI_Wait")
    early.wait(1.0, 5.001, other, function="MPI_Wait")
    return [late, early]


def test_a_posted_call_advances_when_the_absent_rank_comes_back() -> None:
    """The likely answer is that the barrier waited; it is not certain, so the interval begins with nothing."""
    lines = absent_after_the_post()
    assert waits(solved(*lines)) == [(1, "wait for progress", 4.0)]
    job = job_with(*lines)
    assert interval(job) == (pytest.approx(4.0), 0.0, pytest.approx(4.0, abs=0.01))
    causes = waits_by_cause(job)
    assert causes is not None
    assert (causes["rank"][0], causes["kind"][0]) == (0, "I/O")


def test_a_wait_that_goes_on_after_the_return_is_open_to_both_sides() -> None:
    """Rank 1 waits for 3 s after rank 0 has come back: for the network, or for something of rank 0."""
    late, early = RankLine(), RankLine()
    first, other = posted(late, 1.0), posted(early, 1.0)
    late.file(1.0, 2.0).wait(2.0, 5.0, first, function="MPI_Wait")
    early.wait(1.0, 5.0, other, function="MPI_Wait")
    assert waits(solved(late, early)) == []
    saved, least, most = interval(job_with(late, early))
    assert (saved, least) == (0.0, 0.0)
    assert most > 0.9


def test_an_absence_that_the_delay_hides_bounds_the_least_saving() -> None:
    """Rank 0 writes for 4 s before it posts. Rank 1 has posted, and computes until 3 s: without the write, the others
    may have to wait for rank 1 until then.
    """
    lines = [RankLine() for _ in range(3)]
    lines[0].file(0.0, 4.0)
    posts = [posted(line, start, size=3) for line, start in zip(lines, (4.0, 0.1, 0.1), strict=True)]
    for line, start, post in zip(lines, (4.0, 3.0, 0.2), posts, strict=True):
        line.wait(start, 4.001, post, function="MPI_Wait")
    saved, least, most = interval(job_with(*lines))
    assert saved == pytest.approx(1.0, abs=0.01)
    assert 0.0 <= least <= saved <= most


def test_a_persistent_send_waits_until_its_receiver_calls_mpi() -> None:
    """A small message, although messages of this size are usually buffered."""
    sender, receiver = RankLine().send(0.1, 0.11, 1, tag=3), RankLine()
    post = sender.add("isend", "MPI_Start", 1.0, 1.0, communicator=WORLD, peer=1, tag=0, bytes=8)
    sender.wait(1.0, 5.0005, len(post.rows) - 1, function="MPI_Wait")
    receiver.file(0.2, 5.0).receive(5.0, 5.01, 0, tag=3).receive(5.01, 5.02, 0)
    assert waits(solved(sender, receiver)) == [(0, "wait for progress", 4.0)]
    saved, least, most = interval(job_with(sender, receiver))
    assert least <= 0.0 < saved == pytest.approx(4.0, abs=0.9)
    assert most >= saved


def test_a_large_message_waits_for_an_absent_receiver() -> None:
    """Both are posted in time; the receiver is outside of MPI while the sender waits."""
    sender, receiver = RankLine(), RankLine()
    there = receiver.post(0.5, 0.5, 0)
    here = sender.post(0.6, 0.6, 1, receives=False)
    sender.wait(0.7, 4.0005, here, function="MPI_Wait")
    receiver.file(0.6, 4.0).wait(4.0, 4.01, there, function="MPI_Wait")
    assert waits(solved(sender, receiver)) == [(0, "wait for progress", pytest.approx(3.3))]


def neighbours(knows: bool) -> list[RankLine]:
    """Returns three ranks in a line of which rank 0 writes for 4 s before a collective call of neighbours."""
    around = ([1], [0, 2], [1])
    lines = [RankLine() for _ in around]
    for line, others in zip(lines, around, strict=True):
        line.together("MPI_Cart_create", 0.1, 0.2, 3)
        for other in others if knows else ():
            for gets in (1, 0):
                line.add("neighbour", "MPI_Cart_create", 0.1, 0.2, communicator=8, peer=other, tag=gets)
    lines[0].file(0.2, 4.2)
    for line, (start, end) in zip(lines, ((4.2, 4.3), (0.3, 4.3), (0.3, 0.35)), strict=True):
        line.add("all", "MPI_Neighbor_allgather", start, end, communicator=8, size=3, bytes=8)
        line.together("MPI_Finalize", end, 4.4, 3)
    return lines


def test_ranks_wait_for_their_neighbours_alone() -> None:
    found = solved(*neighbours(True))
    assert [each for each in waits(found) if each[1] == "wait at n-to-n"] == [(1, "wait at n-to-n", 3.9)]
    (storage,) = (each for each in _answers(*neighbours(True)) if each.change.question == STORAGE)
    assert (storage.least, storage.most) == (pytest.approx(4.0, abs=0.2), pytest.approx(4.0, abs=0.2))


def test_without_known_neighbours_the_saving_is_open() -> None:
    (storage,) = (each for each in _answers(*neighbours(False)) if each.change.question == STORAGE)
    assert storage.least == 0.0
    assert storage.most > 3.9


def test_ranks_beside_the_root_of_an_intercommunicator_wait_for_nobody() -> None:
    """Rank 0 is the root, rank 1 of its group takes no part, and rank 2 gets the data."""
    lines = [RankLine().file(0, 4), RankLine(), RankLine()]
    for line, (start, end, root) in zip(lines, ((4.0, 4.1, 0), (0.1, 0.1, -1), (0.1, 4.1, 0)), strict=True):
        line.together("MPI_Bcast", start, end, 3, root=root)
    assert waits(solved(*lines)) == [(2, "late broadcast", pytest.approx(3.9))]


def test_sleep_is_no_computing() -> None:
    lines = [RankLine().held(0.5, 4.0, "sleep").together("MPI_Barrier", 4.0, 4.1, 2)]
    lines.append(RankLine().together("MPI_Barrier", 0.5, 4.1, 2))
    causes = waits_by_cause(job_with(*lines))
    assert causes is not None
    assert [row[:2] for row in causes.rows("kind", "rank")] == [("sleep", 0)]
    answers = {each.change.question: each for each in _answers(*lines)}
    assert answers[BALANCED].saved == pytest.approx(0.0, abs=1e-6), "balance moves computing alone"


def _answers(*lines: RankLine, of_ranks: OfRanks = NOTHING_OF_RANKS) -> list[Answer]:
    program = program_of(events_of(*lines), len(lines))
    found = why_of(program, of_ranks=of_ranks)
    return what_if(program, found.joins, found.graph, found.unknown, others=found.others)


def asleep(function: str, kind: str) -> list[RankLine]:
    """Returns a rank that writes for 3 s, and one that asks each second and sleeps in between."""
    waiter = RankLine()
    for second in range(4):
        waiter.add(kind, function, second + 0.0, second + 0.001, size=1)
        waiter.held(second + 0.001, second + 1.0, "sleep")
    waiter.add(kind, function, 4.0, 4.001, size=1).together("MPI_Finalize", 4.1, 4.2, 2)
    return [RankLine().file(0.0, 3.9).together("MPI_Finalize", 3.9, 4.2, 2), waiter]


@pytest.mark.parametrize(
    ("function", "kind", "most"),
    [("MPI_Test", "call", 4.0), ("stat", "files", 4.0), ("MPI_Win_sync", "call", 4.0), ("read", "files", 0.0)],
)
def test_a_rank_that_asks_and_sleeps_may_wait_for_io(function: str, kind: str, most: float) -> None:
    (storage,) = (each for each in _answers(*asleep(function, kind)) if each.change.question == STORAGE)
    assert storage.least == pytest.approx(0.0, abs=0.01)
    assert storage.most == pytest.approx(most, abs=0.2)


def test_a_rank_may_sleep_for_a_process_that_it_started() -> None:
    lines = [RankLine().held(0.0, 3.0, "sleep").together("MPI_Barrier", 3.0, 3.1, 2) for _ in "ab"]
    assert not any(each.change.question == STORAGE for each in _answers(*lines))
    (storage,) = (
        each
        for each in _answers(*lines, of_ranks=OfRanks(parents=frozenset([0, 1])))
        if each.change.question == STORAGE
    )
    assert (storage.least, storage.most) == (0.0, pytest.approx(3.0))


def test_a_parent_may_wait_for_io_of_a_spawned_program() -> None:
    """No call of the file system is in the log, but nothing says that storage would save nothing."""
    parent = RankLine().together("MPI_Comm_spawn", 0.1, 0.2, 1)
    parent.add("recv", "MPI_Recv", 0.2, 4.0, communicator=0, peer=-1, tag=0, bytes=8)
    job = job_with(parent)
    assert interval(job) == (0.0, 0.0, pytest.approx(3.9))
    saving = storage_saving(job)
    assert saving is not None
    assert saving.for_strangers
    assert "nothing" not in storage_note(job)
    assert storage_note(job).endswith("if its ranks waited for I/O of the programs that they started or connected to.")
    assert "MPI_Recv" in limits(job)[0]


def test_a_lock_of_a_file_may_be_held_for_io() -> None:
    """Rank 1 waits for a lock while rank 0, which holds it, writes."""
    lines = [RankLine().file(0.0, 4.0).together("MPI_Barrier", 4.0, 5.1, 2)]
    lines.append(RankLine().lock(0.0, 4.0).add("call", "MPI_Wtime", 5.0, 5.0).together("MPI_Barrier", 5.0, 5.1, 2))
    saved, least, most = interval(job_with(*lines))
    assert (saved, least) == (0.0, 0.0)
    assert most == pytest.approx(4.0, abs=0.01)


@pytest.mark.parametrize(("kind", "pause"), [("core", 0.4), ("sleep", 0.0005)])
def test_a_rank_that_polls_waits_also_while_it_has_no_core(kind: str, pause: float) -> None:
    """Rank 1 polls for a message of rank 0, which writes; between two polls it has no core."""
    receiver, time = RankLine(), 0.1
    post = receiver.post(0.1, 0.1, 0)
    while time < 3.5:
        receiver.add("call", "MPI_Test", time, time + 0.5, size=1000).held(time + 0.5, time + 0.5 + pause, kind)
        time += 0.5 + pause
    receiver.wait(time, 4.1, post, function="MPI_Test")
    sender = RankLine().file(0, 4).send(4, 4.05, 1)
    assert waits(solved(sender, receiver)) == [(1, "late sender", pytest.approx(3.9))]


def test_the_interval_of_an_ordinary_job_stays_narrow() -> None:
    lines = [RankLine().file(0, 4), RankLine()]
    for line, start in zip(lines, (4.0, 0.5), strict=True):
        line.together("MPI_Barrier", start, 4.1, 2)
    saved, least, most = interval(job_with(*lines))
    assert np.ptp([saved, least, most]) < 1e-3
