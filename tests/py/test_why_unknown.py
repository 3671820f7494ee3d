"""Tests the time that the events of a job do not explain: calls without partner, other threads, damaged and missing
events.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from iolens.cli.main import main
from iolens.log import Job
from iolens.metrics.why.answers import replays, storage_bound, storage_saving, waits_by_cause, why, why_of
from iolens.metrics.why.calls.program import program_of
from iolens.metrics.why.time_lines import limits
from iolens.metrics.why.unknown import OfRanks
from iolens.metrics.why.what_if import STORAGE, what_if
from iolens.pages.exhibits.waits import WAITS_BY_CAUSE, WHAT_IF, WHY_EXHIBITS, storage_note
from iolens.pages.wording.job_words import verdicts
from processor_example import use
from test_why import job_with
from why_programs import WORLD, RankLine, events_of


def interval(job: Job, question: str = STORAGE) -> tuple[float, float, float]:
    """Returns the saved seconds of an answer, and their interval."""
    rows = replays(job)
    assert rows is not None
    (row,) = rows.where(rows["question"] == question).rows("saved", "least", "most")
    return tuple(round(float(each), 6) for each in row)  # type: ignore[return-value]


def with_events(job: Job, **columns: object) -> Job:
    """Returns the job with other values in its events, row by row or for all."""
    frame = job.private["why_events"].assign(**columns)
    return replace(job, private={**job.private, "why_events": frame})


def across() -> Job:
    """Returns a job in which rank 1 waits 4 s in a barrier of an intercommunicator for rank 0, which writes."""
    writer, other = RankLine().file(0, 5), RankLine()
    for line, begin in ((writer, 5.0), (other, 1.0)):
        line.add("all", "MPI_Barrier", begin, 5.1, size=2).together("MPI_Barrier", 5.2, 5.3, 2)
    return job_with(writer, other)


def test_a_call_without_partner_widens_the_interval() -> None:
    job = across()
    assert interval(job) == (0.0, 0.0, pytest.approx(4.1))
    saving = storage_saving(job)
    assert saving is not None
    assert saving.seconds == pytest.approx(4.1)
    assert limits(job) == ["In MPI_Barrier a rank spent up to 4.1 s, and the events do not tell what it waited for."]


@pytest.mark.parametrize("posted", [False, True])
def test_neighbours_may_be_what_a_rank_waited_for(posted: bool) -> None:
    """Rank 1 waits 4 s for its neighbour rank 0, which writes; rank 2 is no neighbour of theirs."""
    lines = [RankLine().file(0, 5), RankLine(), RankLine()]
    for line, begin, end in zip(lines, (5.0, 1.0, 1.0), (5.1, 5.1, 1.1), strict=True):
        if posted:
            line.add("iall", "MPI_Ineighbor_allgather", begin, begin, communicator=WORLD, size=3)
            line.wait(begin, end, len(line.rows) - 1)
        else:
            line.together("MPI_Neighbor_allgather", begin, end, 3)
        line.together("MPI_Barrier", 5.2 if line is not lines[2] else 1.2, 5.3, 3)
    job = job_with(*lines)
    assert interval(job) == (0.0, 0.0, pytest.approx(4.1))
    assert "a rank spent up to 4.1 s" in limits(job)[0]


def test_ranks_that_start_a_program_wait_for_one_another_and_for_that_program() -> None:
    """Rank 1 waits 4 s for rank 0, which writes; then both wait 2 s for the new program, which may write too."""
    lines = [RankLine().file(0, 5), RankLine()]
    for line, begin in zip(lines, (5.0, 1.0), strict=True):
        line.together("MPI_Comm_spawn", begin, 7, 2).together("MPI_Barrier", 7, 7.1, 2)
    job = job_with(*lines)
    assert interval(job) == (4.0, 0.0, pytest.approx(6.0))
    assert "In MPI_Comm_spawn a rank spent up to 2.0 s" in limits(job)[0]


def test_a_rank_that_disconnects_may_wait_for_another_program() -> None:
    first = RankLine().file(0, 1).add("call", "MPI_Comm_disconnect", 1, 4).together("MPI_Barrier", 4, 4.1, 2)
    job = job_with(first, RankLine().together("MPI_Barrier", 1, 4.1, 2))
    assert interval(job) == (1.0, 0.0, pytest.approx(3.0))
    assert "In MPI_Comm_disconnect a rank spent up to 3.0 s" in limits(job)[0]


def test_calls_without_partner_that_take_no_time_are_not_named() -> None:
    lines = [
        RankLine().add("all", "MPI_Barrier", 1.0, 1.0 + 50e-6, size=2).together("MPI_Barrier", 2, 3, 2) for _ in "ab"
    ]
    assert limits(job_with(*lines)) == []


def test_a_first_message_may_wait_for_its_receiver_in_a_call_that_completes_others_too() -> None:
    """Rank 0 sends to rank 1, which writes and receives late; other messages of this size are buffered. Rank 0 returns
    soon after rank 1 has come back into MPI, so that it has probably waited for that.
    """
    first = RankLine().send(0.1, 0.2, 1)
    to, other = first.post(1, 1.1, 1, 5, receives=False), first.post(1.1, 1.2, 2, 5)
    first.wait(1.2, 5.1, to, other).together("MPI_Barrier", 5.2, 5.3, 3)
    late = RankLine().file(1, 5).receive(5, 5.05, 0, 0).receive(5.05, 5.1, 0, 5).together("MPI_Barrier", 5.1, 5.3, 3)
    third = RankLine().send(1, 1.1, 0, 5).together("MPI_Barrier", 1.2, 5.3, 3)
    job = job_with(first, late, third)
    saved, least, most = interval(job)
    assert (saved, least) == (pytest.approx(3.8), 0.0)
    assert most == pytest.approx(3.9)
    assert "In MPI_Waitall a rank spent up to 3.8 s" in limits(job)[0]


@pytest.mark.parametrize(("computed", "most"), [(0.0, 3.0), (3.1, 0.0)])
def test_a_rank_that_sleeps_between_tests_may_wait_for_a_message(computed: float, most: float) -> None:
    """Rank 0 writes for 4 s. Rank 1 asks for its message each half second, and computes in between or not."""
    receiver = RankLine()
    post = receiver.post(0.9, 0.9, 0)
    for half in range(6):
        receiver.add("call", "MPI_Test", 1 + half / 2, 1 + half / 2, size=1)
    receiver.wait(4.0, 4.0, post, function="MPI_Test").together("MPI_Barrier", 4, 4.1, 2)
    writer = RankLine().file(0, 4).send(4, 4, 1).together("MPI_Barrier", 4, 4.1, 2)
    program = program_of(events_of(writer, receiver), 2)
    found = why_of(program, of_ranks=OfRanks(np.array([0.0, computed])))
    answers = what_if(program, found.joins, found.graph, found.unknown)
    storage = next(each for each in answers if each.change.question == STORAGE)
    assert (storage.saved, storage.most) == (pytest.approx(0.0), pytest.approx(most))
    assert found.unknown.asleep == pytest.approx(most)


@pytest.mark.parametrize("function", ["MPI_Iscan", "MPI_Ialltoallv"])
def test_one_of_several_operations_may_wait_inside_a_tree(function: str) -> None:
    """Rank 0 completes two collective calls together, and rank 1, which writes, posts them late."""
    lines = [RankLine(), RankLine().file(0, 5), RankLine()]
    for line, begin, end in zip(lines, (1.0, 5.0, 1.0), (5.1, 5.1, 1.1), strict=True):
        posts = [len(line.add("iall", function, begin, begin, communicator=WORLD, size=3).rows) - 1 for _ in "ab"]
        line.wait(begin, end, *posts).together("MPI_Barrier", 5.2 if end > 5 else 1.2, 5.3, 3)
    job = job_with(*lines)
    saved, least, most = interval(job)
    assert (saved, least) == (pytest.approx(0.0), 0.0)
    assert most == pytest.approx(4.0, abs=0.11)
    assert "In MPI_Waitall a rank spent up to 4.0 s" in limits(job)[0]


def test_joined_calls_leave_an_interval_of_the_replays_error() -> None:
    lines = [RankLine().file(0, 5).together("MPI_Barrier", 5, 5.1, 2), RankLine().together("MPI_Barrier", 1, 5.1, 2)]
    assert interval(job_with(*lines)) == (4.0, 4.0, 4.0)
    assert limits(job_with(*lines)) == []


def test_what_other_threads_do_may_be_what_a_rank_waited_for() -> None:
    lines = [
        RankLine().file(1, 3).file(2, 5).together("MPI_Barrier", 6, 6.1, 2),
        RankLine().together("MPI_Barrier", 1, 6.1, 2),
    ]
    job = job_with(*lines)
    threads = np.where(job.private["why_events"]["kind"] == "file", 1, 0)
    job = with_events(job, thread=threads)
    assert interval(job) == (0.0, 0.0, pytest.approx(4.0))
    assert limits(job)[0].startswith("Calls of other threads are left out: 2.")


@pytest.mark.parametrize(("tag", "joined"), [(0, 0), (7, 2)])
def test_messages_that_several_threads_send_or_receive_alike_have_no_partner(tag: int, joined: int) -> None:
    """Two threads of rank 0 send to rank 1. If their messages have the same tag, it is not known which receive got
    which one.
    """
    sender = RankLine().send(1, 1.01, 1, tag).file(1.01, 5).send(5, 5.1, 1).send(5.2, 5.3, 1)
    job = job_with(sender, RankLine().receive(0.5, 1.02, 0).receive(2, 5.1, 0))
    job = with_events(job, thread=np.where(job.private["why_events"]["start"] == 1, 1, 0))
    found = why(job)
    assert found is not None
    assert len(found.joins.send) == joined
    assert any("MPI_Recv" in said for said in limits(job)) == (not joined)


def test_collective_calls_on_a_communicator_of_other_threads_have_no_partner() -> None:
    lines = [RankLine().together("MPI_Barrier", 1 + at, 5, 2).together("MPI_Barrier", 6, 7, 2) for at in range(2)]
    job = job_with(*lines)
    job = with_events(job, thread=np.where(job.private["why_events"]["start"] == 1, 1, 0))
    found = why(job)
    assert found is not None
    assert not len(found.joins.group)


def test_mapped_files_are_named_beside_what_is_saved() -> None:
    job = job_with(
        RankLine().file(0, 5).together("MPI_Barrier", 5, 5.1, 2), RankLine().together("MPI_Barrier", 1, 5.1, 2)
    )
    counters = pd.DataFrame({"id": [1], "rank": [0], "POSIX_MMAPS": [2]})
    mapped = replace(job, frames={"POSIX": counters})
    assert storage_note(mapped).startswith(
        "With infinitely fast storage this job would take at most 4.00 s less, beside waits for pages of mapped files, "
        "mostly for rank 0"
    )
    assert storage_bound(job) == pytest.approx(4.0)
    assert storage_bound(mapped) is None


@pytest.mark.parametrize(
    ("writes", "said"),
    [
        (4.0, "would take at most 4.00 s less, beside the I/O of processes that its ranks started, mostly for rank 0"),
        (0.0, "would save this job nothing, beside the I/O of processes that its ranks started: the events have no"),
    ],
)
def test_processes_that_ranks_start_are_named_beside_what_is_saved(writes: float, said: str) -> None:
    first = RankLine().file(1, 1 + writes) if writes else RankLine()
    job = job_with(first.together("MPI_Barrier", 5, 5.1, 2), RankLine().together("MPI_Barrier", 1, 5.1, 2))
    alone, busy, asleep = (
        replace(job, private={**job.private, "process": use(on_core, children=children)})
        for on_core, children in ((1.0, 0.0), (10.0, 0.01), (1.0, 0.01))
    )
    assert "beside" not in storage_note(alone) + storage_note(busy)
    assert said in storage_note(asleep)


def test_a_job_without_io_is_told_so() -> None:
    job = job_with(*(RankLine().together("MPI_Barrier", 1 + at, 2, 2) for at in range(2)))
    assert verdicts(job)[0] == (
        "Infinitely fast storage would save this job nothing: the events have no call of the file system."
    )


def test_nobody_is_named_for_a_saving_of_little() -> None:
    lines = [
        RankLine().file(5, 5.05).together("MPI_Barrier", 5.05, 5.1, 2),
        RankLine().together("MPI_Barrier", 1, 5.1, 2),
    ]
    assert storage_note(job_with(*lines)).endswith("s less.")


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("The record of who waits for whom ends early on some rank. Raise IOLENS_WHY …", "(iolens run --why MIB gives"),
        ("The job ended without writing its log.", "(the job did not end as it should)"),
    ],
)
def test_events_that_end_early_say_why(reason: str, said: str) -> None:
    job = job_with(*(RankLine().together("MPI_Barrier", 1, 2, 2) for _ in range(2)))
    events = job.private["why_events"]
    private = {"why_events": events[events["function"] == "MPI_Barrier"], "job": {"partial": [reason]}}
    job = replace(job, private=private)
    assert said in limits(job)[0]


def test_clocks_that_were_not_compared_are_named() -> None:
    job = job_with(*(RankLine().together("MPI_Barrier", 1 + at, 2, 2) for at in range(2)))
    job = replace(job, private={**job.private, "job": {"hosts": ["a", "b"]}})
    assert limits(job)[0].startswith("The clocks of the nodes were not compared")


def test_messages_before_they_were_sent_are_counted() -> None:
    job = job_with(RankLine().send(6.0, 6.1, 1), RankLine().receive(2.0, 5.2, 0))
    assert limits(job) == [
        "Messages that arrived before they were sent, by the clocks of their nodes: 1, by up to 800,000 µs. Their "
        "waits end with the call."
    ]


def test_a_job_of_one_rank_has_no_waits(tmp_path: Path) -> None:
    job = job_with(RankLine().file(1, 3).together("MPI_Barrier", 3, 3.1, 1))
    assert interval(job) == (2.0, 2.0, 2.0)
    assert limits(job) == []
    assert WAITS_BY_CAUSE.lack(job) == "No rank waited for another one."
    lack = WAITS_BY_CAUSE.lack(replace(job, private={}))
    assert lack == "this log has no data for the table waits_by_cause; the table needs iolens run --why"
    log = Path(__file__).parents[1] / "data/iolens/predict/ior-1-stripe.darshan"
    assert main(["table", "waits_by_cause", str(log)]) == 1


def test_saved_seconds_are_never_below_zero_in_a_table() -> None:
    job = job_with(RankLine().send(1, 1.1, 1), RankLine().file(0, 2).receive(2, 2.1, 0))
    table = WHAT_IF.table(job)
    assert table is not None
    place = table.columns.index("saved, s")
    assert not any(row[place].startswith("-") for row in table.rows)


@pytest.mark.parametrize("column", ["start", "end"])
@pytest.mark.parametrize("damage", [float("nan"), float("inf"), -1e300])
def test_events_behind_a_damaged_time_are_left_out(column: str, damage: float) -> None:
    lines = [RankLine().together("MPI_Barrier", 1, 2, 2).together("MPI_Barrier", 3 + at, 4.5, 2) for at in range(2)]
    job = job_with(*lines)
    times = job.private["why_events"][column].to_numpy(float).copy()
    times[1] = damage
    assert "end with the collective call at 2.0 s" in limits(with_events(job, **{column: times}))[0]


@pytest.mark.parametrize("rank", [-1, 2, 2**31 - 1])
def test_events_of_impossible_ranks_are_not_analysed(rank: int) -> None:
    job = job_with(*(RankLine().together("MPI_Barrier", 1 + at, 2, 2) for at in range(2)))
    ranks = job.private["why_events"]["rank"].to_numpy().copy()
    ranks[0] = rank
    assert waits_by_cause(with_events(job, rank=ranks)) is None


def test_damaged_rows_never_end_in_an_error() -> None:
    """Any field of any row may be wrong, and rows may be missing, out of order or there twice."""
    lines = [RankLine(), RankLine(), RankLine()]
    for step in range(3):
        for rank, line in enumerate(lines):
            line.file(2.0 * step, 2.0 * step + 0.3 * rank, rank + 1)
            line.wait(2.0 * step + 0.95, 2.0 * step + 1, line.post(2.0 * step + 0.9, 2.0 * step + 0.9, (rank + 1) % 3))
            line.together("MPI_Allreduce", 2.0 * step + 1 + 0.1 * rank, 2.0 * step + 1.5, 3)
    job = job_with(*lines)
    whole = job.private["why_events"]
    chance = np.random.default_rng(7)
    for _ in range(30):
        frame = whole.sample(frac=chance.uniform(0.3, 1), random_state=int(chance.integers(1 << 30)))
        frame = frame if chance.integers(2) else frame.sort_index()
        frame = pd.concat([frame, frame.iloc[: int(chance.integers(3))]]).reset_index(drop=True)
        for name in chance.choice([one for one in frame if frame[one].dtype.kind in "iu"], 2):
            most = np.iinfo(frame[name].dtype)
            frame.loc[chance.integers(len(frame), size=2), name] = [most.min, 0, most.max][chance.integers(3)]
        damaged = replace(job, private={"why_events": frame})
        for exhibit in WHY_EXHIBITS:
            exhibit.table(damaged)
            exhibit.figures(damaged)
