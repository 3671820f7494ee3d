"""Tests waits between ranks, their causes, the critical path and replays, by the test vectors of the field's
definitions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from iolens.exports.chrome import chrome
from iolens.log import Job
from iolens.metrics.why.answers import Why, path_by_activity, path_pieces, wait_states, waits_by_cause, why_of
from iolens.metrics.why.calls.program import program_of, whole_part
from iolens.metrics.why.causes import causes_of
from iolens.metrics.why.path import critical_path
from iolens.metrics.why.waits import PATTERNS
from iolens.metrics.why.what_if import STORAGE, WhatIfQuestion, what_if
from iolens.pages.exhibits.waits import storage_note
from job_example import job_of
from why_programs import WORLD, RankLine, events_of


def solved(*lines: RankLine) -> Why:
    """Returns the whole analysis of these ranks' events."""
    return why_of(program_of(events_of(*lines), len(lines)))


def waits(found: Why) -> list[tuple[int, str, float]]:
    """Returns the waits of a job: rank, pattern and seconds, by rank and time."""
    program, of = found.program, found.waits
    order = np.lexsort((program.start[of.call], program.rank[of.call]))
    return [
        (int(program.rank[of.call[at]]), PATTERNS[of.pattern[at]], pytest.approx(of.waited[at], abs=1e-9))
        for at in order.tolist()
    ]


def costs(found: Why) -> Mapping[tuple[int, str], tuple[float, float]]:
    """Returns seconds of waiting by rank and work (a function of the file system, or computing): direct, and through
    chains.
    """
    result = causes_of(found.program, found.joins, found.waits, found.activities)
    kinds = found.activities.kinds
    return {
        (rank, kinds[what].function or kinds[what].kind): (
            pytest.approx(result.short[rank, what], abs=1e-9),
            pytest.approx(result.long[rank, what], abs=1e-9),
        )
        for rank, what in zip(*np.nonzero((result.short + result.long) > 1e-9), strict=True)
    }


def run_times(found: Why) -> dict[str, float]:
    """Returns the run times of the replays that concern all ranks and all files, by question."""
    given = what_if(found.program, found.joins, found.graph)
    return {each.change.question: each.run_time for each in given if each.change.rank < 0 and not each.change.file}


def test_t1_a_late_sender() -> None:
    found = solved(RankLine().send(5.0, 5.1, 1), RankLine().receive(2.0, 5.2, 0))
    assert waits(found) == [(1, "late sender", 3.0)]
    assert found.graph.cost[1] == pytest.approx(0.2)


def test_t1b_a_wait_ends_with_its_call_when_clocks_disagree() -> None:
    found = solved(RankLine().send(6.0, 6.1, 1), RankLine().receive(2.0, 5.2, 0))
    assert waits(found) == [(1, "late sender", 3.2)]
    assert found.waits.violations == 1
    assert found.waits.largest_violation == pytest.approx(0.8)


def test_t1c_a_call_for_several_messages_waits_for_the_last_one() -> None:
    receiver = RankLine()
    posts = [receiver.post(0.1 * at, 0.1 * at, 0, at) for at in range(3)]
    receiver.wait(2.0, 6.2, *posts)
    sender = RankLine().send(1.0, 1.1, 1, 2).send(3.0, 3.1, 1, 0).send(6.0, 6.1, 1, 1)
    assert waits(solved(sender, receiver)) == [(1, "late sender", 4.0)]


def test_a_wait_in_a_probe_is_one_for_the_sender() -> None:
    receiver = RankLine().add("call", "MPI_Mprobe", 2.0, 5.1).receive(5.1, 5.2, 0)
    found = solved(RankLine().file(0.0, 5.0).send(5.0, 5.1, 1), receiver)
    assert waits(found) == [(1, "late sender", 3.0)]
    assert run_times(found)[STORAGE] == pytest.approx(2.2)


def polling(pause: float) -> Why:
    """Returns a job in which rank 0 reads and sends, and rank 1 tests for the message again and again, with pauses of
    this length.
    """
    receiver = RankLine()
    post = receiver.post(0.0, 1e-6, 0)
    begins = np.arange(2.0, 5.0, pause).tolist()
    for begin in begins:
        receiver.add("call", "MPI_Testall", begin, begin + 1e-6)
    receiver.wait(5.0 + 1e-5, 5.0 + 2e-5, post, function="MPI_Testall")
    return solved(RankLine().file(0.0, 5.0).send(5.0, 5.0 + 1e-6, 1), receiver)


def test_a_loop_of_tests_is_one_wait_for_the_sender() -> None:
    found = polling(4e-5)
    assert waits(found) == [(1, "late sender", 3.0)]
    assert found.program.functions[found.program.function[found.waits.call[0]]] == "MPI_Testall, repeated"
    assert run_times(found)[STORAGE] == pytest.approx(2.0, abs=1e-4)


def test_a_loop_of_tests_in_one_row_is_the_same_wait() -> None:
    receiver = RankLine()
    post = receiver.post(0.0, 1e-6, 0)
    receiver.add("call", "MPI_Test", 2.0, 3.0, size=1000).add("call", "MPI_Test", 3.01, 5.0, size=2000)
    receiver.wait(5.0 + 1e-5, 5.0 + 2e-5, post, function="MPI_Test")
    found = solved(RankLine().file(0.0, 5.0).send(5.0, 5.0 + 1e-6, 1), receiver)
    assert waits(found) == [(1, "late sender", 3.0)]


@pytest.mark.parametrize("function", ["MPI_Wait", "MPI_Test"])
def test_a_loop_that_asks_for_a_requests_status_is_part_of_its_completion(function: str) -> None:
    receiver = RankLine()
    post = receiver.post(0.0, 1e-6, 0)
    receiver.add("call", "MPI_Request_get_status", 2.0, 5.0, size=1000)
    receiver.wait(5.0 + 1e-5, 5.0 + 2e-5, post, function=function)
    found = solved(RankLine().file(0.0, 5.0).send(5.0, 5.0 + 1e-6, 1), receiver)
    assert waits(found) == [(1, "late sender", 3.0)]
    assert run_times(found)[STORAGE] == pytest.approx(2.0, abs=1e-4)


def test_tests_beside_computing_are_no_wait() -> None:
    found = polling(1e-2)
    assert waits(found) == []
    assert run_times(found)[STORAGE] == pytest.approx(5.0, abs=1e-4)


def test_a_loop_of_probes_ends_with_its_receive() -> None:
    receiver = RankLine()
    for begin in np.arange(2.0, 5.1, 4e-5).tolist():
        receiver.add("call", "MPI_Iprobe", begin, begin + 1e-6)
    found = solved(RankLine().file(0, 5).send(5, 5.1, 1), receiver.receive(5.1, 5.2, 0))
    assert waits(found) == [(1, "late sender", 3.0)]


@pytest.mark.parametrize("way", ["loop", "one row", "blocking", "after a file"])
def test_a_probe_waits_for_the_message_of_a_posted_receive(way: str) -> None:
    receiver = RankLine()
    if way == "loop":
        for begin in np.arange(2.0, 5.05, 4e-5).tolist():
            receiver.add("call", "MPI_Improbe", begin, begin + 1e-6)
    else:
        receiver.add("call", "MPI_Iprobe" if way == "one row" else "MPI_Probe", 2.0, 5.05, size=100)
    if way == "after a file":
        receiver.file(5.06, 5.09, 2)
    receiver.wait(5.2, 5.3, receiver.post(5.1, 5.1 + 1e-6, 0))
    found = solved(RankLine().file(0, 5).send(5, 5.01, 1), receiver)
    assert waits(found) == [(1, "late sender", 3.0)]
    assert found.program.functions[found.program.function[found.waits.call[0]]].startswith(("MPI_I", "MPI_Probe"))
    assert run_times(found)[STORAGE] == pytest.approx(2.3 - (0.03 if way == "after a file" else 0), abs=1e-3)


def test_a_probe_that_found_nothing_leaves_the_wait_to_the_receive() -> None:
    receiver = RankLine().add("call", "MPI_Iprobe", 1.0, 1.1).file(1.2, 1.3, 2).receive(2.0, 5.1, 0)
    found = solved(RankLine().file(0, 5).send(5, 5.1, 1), receiver)
    assert waits(found) == [(1, "late sender", 3.0)]
    assert run_times(found)["nothing changed"] == pytest.approx(5.1)


def test_t2_a_late_receiver() -> None:
    found = solved(RankLine().send(1.0, 4.5, 1), RankLine().receive(4.0, 4.5, 0))
    assert waits(found) == [(0, "late receiver", 3.0)]


def test_t2b_a_message_that_is_buffered_holds_nobody_up() -> None:
    assert waits(solved(RankLine().send(1.0, 1.1, 1), RankLine().receive(4.0, 4.1, 0))) == []


def test_t2c_a_message_that_came_earlier_is_taken_later() -> None:
    receiver = RankLine().receive(0.0, 5.0, 0).receive(5.0, 5.1, 2)
    found = solved(RankLine().send(4.9, 5.0, 1), receiver, RankLine().send(1.0, 1.1, 1))
    assert waits(found) == [(1, "late sender, wrong order", 4.9)]


def test_t3_a_barrier() -> None:
    found = solved(*(RankLine().together("MPI_Barrier", 1.0 + at, 4.1 + 0.1 * at, 4) for at in range(4)))
    assert waits(found) == [(0, "wait at barrier", 3.0), (1, "wait at barrier", 2.0), (2, "wait at barrier", 1.0)]
    assert found.graph.cost.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_t3b_a_late_root() -> None:
    begins, ends = (4.0, 1.0, 2.0, 5.0), (4.5, 4.5, 4.5, 5.2)
    found = solved(
        *(RankLine().together("MPI_Bcast", start, end, 4, 0) for start, end in zip(begins, ends, strict=True))
    )
    assert waits(found) == [(1, "late broadcast", 3.0), (2, "late broadcast", 2.0)]


def test_t3c_an_early_root() -> None:
    begins, ends = (1.0, 3.0, 5.0, 6.0), (6.1, 3.1, 5.1, 6.1)
    found = solved(
        *(RankLine().together("MPI_Reduce", start, end, 4, 0) for start, end in zip(begins, ends, strict=True))
    )
    assert waits(found) == [(0, "early reduce", 5.0)]
    assert found.waits.severity.tolist() == pytest.approx([2.0])


def test_a_rank_between_the_root_and_a_late_one_waits_inside_the_tree() -> None:
    begins, ends = (1.0, 1.0, 1.0, 5.0), (5.1, 1.01, 5.1, 5.1)
    lines = [RankLine().together("MPI_Reduce", start, end, 4, 0) for start, end in zip(begins, ends, strict=True)]
    lines[3].rows.insert(0, RankLine().file(1.0, 5.0).rows[0])
    found = solved(*lines)
    assert waits(found) == [(0, "early reduce", 4.0), (2, "wait inside a tree", 4.0)]
    assert run_times(found)[STORAGE] == pytest.approx(1.1)


def test_a_lower_rank_waits_inside_a_scan() -> None:
    """MPI exchanges the data of a scan between pairs of ranks, so that rank 0 may wait for rank 1."""
    begins, ends = (1.0, 5.0, 1.0), (5.1, 5.1, 5.1)
    lines = [RankLine().together("MPI_Scan", start, end, 3) for start, end in zip(begins, ends, strict=True)]
    lines[1].rows.insert(0, RankLine().file(1.0, 5.0).rows[0])
    found = solved(*lines)
    assert waits(found) == [(0, "wait inside a tree", 4.0), (2, "early scan", 4.0)]
    assert run_times(found)[STORAGE] == pytest.approx(1.1)


@pytest.mark.parametrize("function", ["MPI_Alltoallv", "MPI_Ialltoallw", "MPI_Allreduce"])
def test_a_rank_waits_for_some_others_of_an_exchange(function: str) -> None:
    """Rank 0 gets data of rank 1 alone, or none, and ranks 2 and 3 get none: their calls end before rank 1 comes."""
    lines = [RankLine(), RankLine().file(1.0, 5.0), RankLine(), RankLine()]
    for line, start, end in zip(lines, (1.0, 5.0, 1.0, 1.0), (5.1, 5.1, 1.1, 1.1), strict=True):
        if function == "MPI_Ialltoallw":
            line.add("iall", function, start, start, communicator=WORLD, size=4).wait(start, end, len(line.rows) - 1)
        else:
            line.together(function, start, end, 4)
        line.rows[-1]["bytes"] = 0
        line.together("MPI_Barrier", end, 5.2, 4)
    found = solved(*lines)
    assert waits(found)[0] == (0, "wait at n-to-n", 4.0)
    assert {row[1] for row in waits(found)[1:]} == {"wait at barrier"}
    assert run_times(found)[STORAGE] == pytest.approx(1.2)


def test_t4_a_write_delays_a_message() -> None:
    found = solved(RankLine().file(2.0, 5.0).send(5.0, 5.0, 1), RankLine().receive(2.0, 5.0, 0))
    assert waits(found) == [(1, "late sender", 3.0)]
    assert costs(found) == {(0, "write"): (3.0, 0.0)}
    path = critical_path(found.program, found.waits)
    assert set(path["rank"].tolist()) == {0}


def test_t4b_other_work_of_equal_length_is_a_delay() -> None:
    found = solved(
        RankLine().file(0.0, 5.0, 1, "read").send(5.0, 5.0, 1),
        RankLine().file(0.0, 2.0, 2, "write").receive(2.0, 5.0, 0),
    )
    assert costs(found) == {(0, "read"): (3.0, 0.0)}


def chain() -> Why:
    """Returns the analysis of test vector T5: rank 0 writes, rank 1 waits for it, and rank 2 for rank 1."""
    return solved(
        RankLine().file(1.0, 4.0).send(4.0, 4.0, 1),
        RankLine().receive(1.0, 4.0, 0).send(5.0, 5.0, 2),
        RankLine().receive(2.0, 5.0, 1),
    )


def test_t5_a_cause_is_found_through_a_chain_of_ranks() -> None:
    found = chain()
    assert waits(found) == [(1, "late sender", 3.0), (2, "late sender", 3.0)]
    assert costs(found) == {(0, "write"): (3.0, 3.0)}
    assert run_times(found)[STORAGE] == pytest.approx(2.0)


def test_a_chain_goes_through_a_call_that_sends_before_it_waits() -> None:
    """Rank 1 exchanges: it sends to rank 2 at once, and then waits for rank 0 in the same call."""
    middle = RankLine()
    for kind, peer in (("send", 2), ("recv", 0)):
        middle.add(kind, "MPI_Sendrecv", 1.0, 3.1, communicator=WORLD, peer=peer, tag=0, bytes=8)
    lines = [RankLine().file(0, 3).send(3, 3.05, 1), middle, RankLine().receive(0.5, 1.05, 1)]
    for line, begin in zip(lines, (3.05, 3.1, 1.05), strict=True):
        line.together("MPI_Barrier", begin, 3.2, 3)
    found = solved(*lines)
    assert waits(found) == [
        (0, "wait at barrier", 0.05),
        (1, "late sender", 2.0),
        (2, "late sender", 0.5),
        (2, "wait at barrier", 2.05),
    ]
    result = causes_of(found.program, found.joins, found.waits, found.activities)
    write = [kind.function for kind in found.activities.kinds].index("write")
    assert result.short[0, write] == pytest.approx(2.0)
    assert 1.8 < result.long[0, write] < 2.05
    assert result.unexplained < 0.1


def test_t5_the_path_goes_through_the_chain() -> None:
    path = critical_path(chain().program, chain().waits)
    assert path["rank"].tolist() == [1, 0]
    assert (path["end"] - path["start"]).tolist() == pytest.approx([1.0, 4.0])


def steps(write: float) -> Why:
    """Test vectors T6 and T6b: in each of ten steps rank 0 computes 1 s and writes, and rank 1 computes 1.5 s."""
    writer, other = RankLine(), RankLine()
    time = 0.0
    for _ in range(10):
        end = time + max(1.0 + write, 1.5)
        writer.file(time + 1.0, time + 1.0 + write).together("MPI_Barrier", time + 1.0 + write, end, 2)
        other.together("MPI_Barrier", time + 1.5, end, 2)
        time = end
    return solved(writer, other)


@pytest.mark.parametrize(("write", "before", "after"), [(1.0, 20.0, 15.0), (0.4, 15.0, 15.0)])
def test_t6_only_what_others_waited_for_is_saved(write: float, before: float, after: float) -> None:
    found = steps(write)
    times = run_times(found)
    assert times["nothing changed"] == pytest.approx(before)
    assert times[STORAGE] == pytest.approx(after)


def test_t6_writes_that_hold_nobody_up_are_not_on_the_path() -> None:
    found = steps(0.4)
    path = critical_path(found.program, found.waits)
    spent = sum(
        found.activities.seconds(rank, np.array([start]), np.array([end]))[0]
        for rank, start, end in path.rows("rank", "start", "end")
    )
    kinds = [kind.kind for kind in found.activities.kinds]
    assert spent[kinds.index("I/O")] == pytest.approx(0.0)
    assert spent[kinds.index("computing")] == pytest.approx(15.0)


def rounds(*, barriers: bool) -> Why:
    """Test vectors T7 and T7b: in step s rank s writes for 1 s. All ranks meet in a barrier after each step, or only at
    the end.
    """
    lines = [RankLine() for _ in range(4)]
    for rank, line in enumerate(lines):
        time = 0.0
        for step in range(4):
            time += 1.0
            if rank == step:
                line.file(time, time + 1.0)
                time += 1.0
            if barriers:
                line.together("MPI_Barrier", time, 2.0 * step + 2.0, 4)
                time = 2.0 * step + 2.0
        if not barriers:
            line.together("MPI_Barrier", time, 5.0, 4)
    return solved(*lines)


@pytest.mark.parametrize(("barriers", "before", "after"), [(True, 8.0, 4.0), (False, 5.0, 4.0)])
def test_t7_writes_in_turns(barriers: bool, before: float, after: float) -> None:
    found = rounds(barriers=barriers)
    times = run_times(found)
    assert (times["nothing changed"], times[STORAGE]) == (pytest.approx(before), pytest.approx(after))
    if barriers:
        waited = np.bincount(found.program.rank[found.waits.call], weights=found.waits.waited)
        assert waited.tolist() == pytest.approx([3.0] * 4)


def test_t8_a_barrier_of_messages_keeps_its_time() -> None:
    """A dissemination barrier of 16 ranks in the LogGOPS model: L = 2500 ns, o = 1500 ns, 22 µs in all."""
    lines = [RankLine() for _ in range(16)]
    for step in range(4):
        begin = step * 5.5e-6
        for rank, line in enumerate(lines):
            line.send(begin, begin + 1.5e-6, (rank + (1 << step)) % 16, step)
            line.receive(begin + 1.5e-6, begin + 5.5e-6, (rank - (1 << step)) % 16, step)
    found = solved(*lines)
    assert waits(found) == []
    assert run_times(found)["nothing changed"] == pytest.approx(22e-6)


def test_t8b_a_reduction_along_a_tree_keeps_the_time_of_each_rank() -> None:
    """A binomial reduction of 1024 B to rank 0 of 8 in the LogGOPS model: G = 6 ns per byte, L and o as in T8."""
    lines, free = [RankLine() for _ in range(8)], [0.0] * 8
    for step in (1, 2, 4):
        for rank in range(0, 8, 2 * step):
            began, sent = free[rank], free[rank + step]
            free[rank + step] += 1.5e-6
            free[rank] = max(began, sent + 1.5e-6 + 2.5e-6 + 1023 * 6e-9) + 1.5e-6
            lines[rank + step].send(sent, free[rank + step], rank, step, 1024)
            lines[rank].receive(began, free[rank], rank + step, step, 1024)
    found = solved(*lines)
    ends = found.program.end[found.program.first[1:] - 1]
    assert sorted(ends.tolist(), reverse=True) == pytest.approx([34.914e-6, 24.776e-6, *[13.138e-6] * 2, *[1.5e-6] * 4])
    assert waits(found) == []
    assert run_times(found)["nothing changed"] == pytest.approx(34.914e-6)
    path = critical_path(found.program, found.waits)
    assert path["rank"].tolist() == [0]


@pytest.mark.parametrize(("faster", "share"), [(0, 0.5), (1, 1.0)])
def test_t10_only_the_slower_of_two_is_worth_speeding_up(faster: int, share: float) -> None:
    """The job has 100 rounds, in which rank 0 reads for 2 s and rank 1 for 1 s before both meet."""
    lines = [RankLine(), RankLine()]
    for step in range(100):
        for rank, line in enumerate(lines):
            line.file(2.0 * step, 2.0 * step + 2.0 - rank, 1 + rank, "read")
            line.together("MPI_Barrier", 2.0 * step + 2.0 - rank, 2.0 * step + 2.0, 2)
    found = solved(*lines)
    given = {each.change: each.run_time for each in what_if(found.program, found.joins, found.graph)}
    assert given[WhatIfQuestion("I/O of this rank takes no time", rank=faster)] == pytest.approx(200 * share)


def test_a_time_line_has_the_path_with_arrows_from_rank_to_rank() -> None:
    first = RankLine().file(0, 5).send(5, 5.1, 1).receive(5.1, 6.1, 1)
    job = job_with(first, RankLine().receive(1, 5.2, 0).send(6, 6.1, 0))
    pieces = path_pieces(job)
    assert pieces is not None
    text, _ = chrome(job, path=list(pieces.rows("rank", "start", "end"))[::-1])
    events = [one for one in json.loads(text)["traceEvents"] if one.get("cat") == "critical path"]
    slices = [(one["pid"], one["ts"], one["dur"]) for one in events if one["ph"] == "X"]
    assert sorted(slices, key=lambda piece: piece[1]) == [(0, 0.0, 5e6), (1, 5e6, 1e6), (0, 6e6, 3.1e6)]
    arrows = {(one["ph"], one["id"]): (one["pid"], one["ts"]) for one in events if one["ph"] in "sf"}
    assert arrows == {
        ("s", 0): (0, pytest.approx(5e6 - 0.001)),
        ("f", 0): (1, 5e6),
        ("s", 1): (1, pytest.approx(6e6 - 0.001)),
        ("f", 1): (0, 6e6),
    }


def test_files_of_a_family_are_one_work_that_others_waited_for() -> None:
    """Rank 0 writes to each of 100 files in turn, and rank 1 waits for it meanwhile."""
    lines = [RankLine(), RankLine()]
    for step in range(100):
        begin, end = 0.04 * step, 0.04 * (step + 1)
        lines[0].file(begin, end, 1000 + step, "write").together("MPI_Barrier", end, end, 2)
        lines[1].together("MPI_Barrier", begin, end, 2)
    names = {1000 + step: f"/run7/plt{step:05d}" for step in range(100)}
    rows = waits_by_cause(replace(job_with(*lines), names=names))
    assert rows is not None
    assert next(rows.rows("rank", "kind", "function", "file", "direct", "held_up")) == (
        *(0, "I/O", "write", "/run7/plt#####"),
        *(pytest.approx(4.0), 1),
    )
    path = path_by_activity(replace(job_with(*lines), names=names))
    assert path is not None
    assert dict(path.rows("file", "seconds"))["/run7/plt#####"] == pytest.approx(4.0)


def test_waits_are_listed_by_pattern() -> None:
    lines = [RankLine().file(0, 5, 1).together("MPI_Barrier", 5, 5.1, 2), RankLine().together("MPI_Barrier", 1, 5.1, 2)]
    rows = wait_states(job_with(*lines))
    assert rows is not None
    assert list(rows.rows("pattern", "waits", "ranks", "seconds", "longest", "io", "locks", "mpi")) == [
        ("wait at barrier", 1, 1, *[pytest.approx(4.0)] * 3, 0.0, 0.0)
    ]


def test_a_wait_for_a_files_lock_is_a_cause_that_storage_does_not_free() -> None:
    found = solved(
        RankLine().lock(0, 5).together("MPI_Barrier", 5, 5.1, 2), RankLine().together("MPI_Barrier", 1, 5.1, 2)
    )
    causes = causes_of(found.program, found.joins, found.waits, found.activities)
    rank, what = np.argwhere(causes.short > 0)[0]
    assert (rank, found.activities.kinds[what]) == (0, ("lock", "fcntl", 1))
    times = run_times(found)
    assert STORAGE not in times
    assert times["file locks take no time"] == pytest.approx(1.1)


def test_waits_for_the_locks_of_many_files_stay_waits_for_locks() -> None:
    """Only the first 60 files have work of their own in the table; the locks of the others share a row."""
    late, other = RankLine(), RankLine().together("MPI_Barrier", 0, 8.1, 2)
    for number in range(80):
        late.lock(number / 10, (number + 1) / 10, number + 1)
    rows = waits_by_cause(job_with(late.together("MPI_Barrier", 8, 8.1, 2), other))
    assert rows is not None
    assert set(rows["kind"]) == {"lock"}
    assert rows["seconds"].sum() == pytest.approx(8.0)


def test_the_analysis_ends_where_the_events_of_one_rank_end() -> None:
    whole = RankLine().together("MPI_Barrier", 1, 2, 2).send(2.5, 2.6, 1).together("MPI_Barrier", 3, 4, 2)
    whole.file(4, 5).together("MPI_Finalize", 6, 6.1, 2)
    cut = RankLine().together("MPI_Barrier", 0.5, 2, 2).receive(2.1, 2.6, 0).together("MPI_Barrier", 2.7, 4.1, 2)
    rows, until = whole_part(events_of(whole, cut), 2)
    assert until == pytest.approx(4.1)
    assert rows["end"].tolist() == [2, 2.6, 4, 2, 2.6, 4.1]
    assert why_of(program_of(rows, 2)).joins.not_joined == 0
    cut.rows.pop()
    rows, until = whole_part(events_of(whole, cut), 2)
    assert (until, rows["rank"].tolist()) == (2, [0, 1])
    rows, until = whole_part(events_of(whole, RankLine().receive(1, 2, 0)), 2)
    assert (len(rows), until) == (0, 0.0)


def test_events_up_to_the_end_of_each_rank_are_all_analysed() -> None:
    lines = [RankLine().send(1, 2, 1), RankLine().receive(1, 2, 0)]
    events = events_of(*(line.together("MPI_Finalize", 3, 4, 2) for line in lines))
    assert whole_part(events, 2) == (events, None)


def job_with(*lines: RankLine) -> Job:
    """Returns a job whose log has these events."""
    events = events_of(*(line.together("MPI_Finalize", 9, 9.1, len(lines)) for line in lines))
    frame = pd.DataFrame({name: events[name] for name in events.names})
    names = {1: "/scratch/mesh", 2: "/scratch/other"}
    return job_of(10.0, nprocs=len(lines), names=names, frames={}, private={"why_events": frame})


def note_of(*lines: RankLine) -> str:
    """Returns the sentence under the table of replays."""
    return storage_note(job_with(*lines))


def test_the_sentence_names_the_rank_whose_io_the_saving_is_from() -> None:
    late = RankLine().file(0, 5, 1, "read").together("MPI_Barrier", 5, 5.1, 2)
    assert note_of(late, RankLine().together("MPI_Barrier", 1, 5.1, 2)) == (
        "With infinitely fast storage this job would take at most 4.00 s less, mostly for rank 0: its read of "
        "/scratch/mesh held up 1 other rank."
    )


def test_the_sentence_names_a_rank_with_less_io_than_others() -> None:
    """Ranks 1 to 3 write for longer than rank 0 reads, while rank 4 computes, so that nobody waits for them."""
    late = RankLine().together("MPI_Barrier", 4, 4.1, 5).file(4.1, 6, 1, "read").together("MPI_Barrier", 6, 6.1, 5)
    busy = [RankLine().file(0, 3, 2).together("MPI_Barrier", 3, 4.1, 5) for _ in range(3)]
    others = [
        line.together("MPI_Barrier", 4.1, 6.1, 5) for line in (*busy, RankLine().together("MPI_Barrier", 4, 4.1, 5))
    ]
    assert note_of(late, *others) == (
        "With infinitely fast storage this job would take at most 1.90 s less, mostly for rank 0: its read of "
        "/scratch/mesh held up 4 other ranks."
    )


def test_the_sentence_names_nobody_where_all_ranks_would_have_to_be_faster() -> None:
    lines = [RankLine().file(0, 5, 1 + rank).together("MPI_Barrier", 5 + 0.01 * rank, 5.1, 2) for rank in range(2)]
    assert note_of(*lines) == "With infinitely fast storage this job would take at most 5.00 s less."


@pytest.mark.parametrize(("kind", "with_storage"), [("core", 6.0), ("fault", 3.0)])
def test_a_rank_that_could_not_compute_is_late_for_that_reason(kind: str, with_storage: float) -> None:
    """Rank 1 computes for 2 s and cannot compute for 3 s; by the clock, this time begins before the call in front of it
    ends.
    """
    late = RankLine().together("MPI_Barrier", 0, 1.0000001, 2).held(1, 4, kind).together("MPI_Barrier", 6, 6.1, 2)
    found = solved(RankLine().together("MPI_Barrier", 0, 1, 2).together("MPI_Barrier", 1.1, 6.1, 2), late)
    assert waits(found) == [(0, "wait at barrier", 4.9)]
    name = {"core": "waiting for a core", "fault": "page faults"}[kind]
    seconds = {work: short for (rank, work), (short, _) in costs(found).items() if rank == 1}
    assert seconds[name] == pytest.approx(3, abs=1e-3)
    assert seconds["computing"] == pytest.approx(1.9, abs=1e-3)
    times = run_times(found)
    assert times["no core shared" if kind == "core" else "page faults take no time"] == pytest.approx(3.1)
    assert times.get(STORAGE, 6.1) == pytest.approx(with_storage + 0.1)


def test_a_loop_of_polls_that_loses_its_core_is_one_wait() -> None:
    line = RankLine()
    post = line.post(0, 0.1, 1)
    line.add("call", "MPI_Test", 0.1, 1, size=1000).held(1, 1.2).add("call", "MPI_Test", 1.2, 5, size=1000)
    line.wait(5.00001, 5.1, post, function="MPI_Test")
    found = solved(line, RankLine().file(0, 5).send(5, 5.1, 0))
    assert waits(found) == [(0, "late sender", 4.9)]
