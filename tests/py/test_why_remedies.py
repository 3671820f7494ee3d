"""Tests replays without targets, shared cores and independent calls, and the order of remedies that follows from
replays.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from iolens.advise import findings, verdict, weigh
from iolens.advise.limits import DEFAULTS
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.advise.rules import file_rules, needless_rules
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.processor.sampled.groups import ASLEEP
from iolens.metrics.why.answers import bound_of, files_bound, replays, why
from iolens.metrics.why.what_if import Answer, Beside, what_if
from iolens.pages.exhibits.waits import WHAT_IF
from test_advise_rules import placed, traced
from test_why import job_with
from test_why_bounds import WRITES
from test_why_bounds import job_with as job_of_writes
from why_programs import RankLine, events_of


def answers_of(job: Job, beside: Beside | None = None) -> dict[str, Answer]:
    """Returns the answers by question; if a question has several answers, the last one."""
    found = why(job)
    assert found is not None
    given = what_if(found.program, found.joins, found.graph, found.unknown, beside)
    return {each.change.question: each for each in given}


def two_files() -> Job:
    """Returns a job in which rank 0 writes file 1 for 5 s and rank 1 writes file 2 for 3 s at the same time; then both
    meet.
    """
    late = RankLine().file(0, 5, 1).together("MPI_Barrier", 5, 5.1, 2)
    return job_with(late, RankLine().file(0, 3, 2).together("MPI_Barrier", 3, 5.1, 2))


def interval(answer: Answer) -> tuple[float, float, float]:
    return pytest.approx(answer.saved), pytest.approx(answer.least), pytest.approx(answer.most)


def test_a_target_of_its_own_files_is_freed_alone() -> None:
    given = answers_of(two_files(), Beside({1: frozenset({4}), 2: frozenset({7})}))
    assert interval(given["I/O on target 4 takes no time"]) == (2.0, 2.0, 2.0)
    assert interval(given["I/O on target 7 takes no time"]) == (0.0, 0.0, 0.0)


def test_a_file_on_two_targets_is_freed_at_most() -> None:
    given = answers_of(two_files(), Beside({1: frozenset({4, 7}), 2: frozenset({7})}))
    assert interval(given["I/O on target 4 takes no time"]) == (0.0, 0.0, 2.0)
    assert interval(given["I/O on target 7 takes no time"]) == (0.0, 0.0, 5.0)


def test_stripes_of_the_log_name_the_targets() -> None:
    layouts = pd.DataFrame({"id": np.array([1, 2], np.uint64), "component": [0, 0], "osts": [[4], [7]]})
    rows = replays(replace(two_files(), frames={"LUSTRE": layouts}))
    assert rows is not None
    assert [name for name in rows["question"] if "target" in name] == [
        "I/O on target 4 takes no time",
        "I/O on target 7 takes no time",
    ]
    one = replays(replace(two_files(), frames={"LUSTRE": layouts.assign(osts=[[4], [4]])}))
    assert one is not None
    assert not any("target" in name for name in one["question"])


def test_short_calls_on_several_files_widen_the_answer_about_one() -> None:
    late = RankLine().file(0, 5, 1).add("files", "write", 5, 6, size=100).together("MPI_Barrier", 6, 6.1, 2)
    given = answers_of(job_with(late, RankLine().together("MPI_Barrier", 0.2, 6.1, 2)))
    assert interval(given["I/O on this file takes no time"]) == (5.0, 5.0, 5.8)
    assert interval(given["storage infinitely fast"]) == (5.8, 5.8, 5.8)


def test_independent_calls_bound_what_collective_ones_save() -> None:
    late = RankLine().add("call", "MPI_File_write_at", 0, 5).together("MPI_Barrier", 5, 5.1, 2)
    job = job_with(late, RankLine().together("MPI_Barrier", 1, 5.1, 2))
    found = answers_of(job)["independent MPI-IO made collective"]
    assert np.isnan([found.saved, found.run_time]).all()
    assert (found.least, found.most) == (0.0, pytest.approx(4.0))
    table = WHAT_IF.table(job)
    assert table is not None
    (row,) = (row for row in table.rows if row[0] == "independent MPI-IO made collective")
    assert "n/a" in row
    assert "predict" in (table.note or "")


def test_collective_calls_are_not_asked_about() -> None:
    lines = [RankLine().together("MPI_File_write_at_all", 1 + at, 3, 2) for at in range(2)]
    assert "independent MPI-IO made collective" not in answers_of(job_with(*lines))


def test_a_core_of_its_own_frees_the_seconds_without_one() -> None:
    job = job_with(*(RankLine().together("MPI_Barrier", 4 - 2 * at, 4.1, 2) for at in range(2)))
    without = np.array([2.0, 0.0]), np.array([3.0, 0.0])
    found = answers_of(job, Beside(without_core=without))["no core shared"]
    assert found.saved == pytest.approx(4 * 2 / (4 + 4.9))
    assert 0 < found.saved <= found.most <= 3.0 + 1e-6
    none = answers_of(job, Beside(without_core=(np.zeros(2), np.zeros(2))))["no core shared"]
    assert interval(none) == (0.0, 0.0, 0.0)
    assert "no core shared" not in answers_of(job)


def test_remedies_for_files_that_hold_nobody_up_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0 spends 20 s on file 1 and rank 1 60 s on file 2: only faster writes to file 2 end the job earlier."""
    lines = [RankLine().file(0, 20, 1), *(RankLine().file(0, 60, 2) for _ in range(3))]
    meet = WRITES.run_time() - 1
    job = job_of_writes(*(line.together("MPI_Barrier", 20 + 40 * bool(at), meet, 4) for at, line in enumerate(lines)))

    def rule(name: str, file: int) -> Rule:
        layout = ProposedStripes(4, None, (file,))
        return Rule(name, name, "", (), "", "", lambda *_: Seen("", 50.0, "", "{layout}", layout=layout))

    assert files_bound(job, [1]) == pytest.approx(0.0, abs=1e-6)
    assert (files_bound(job, [2]) or 0) > 1
    monkeypatch.setattr(weigh, "RULES", (rule("hidden", 1), rule("late", 2)))
    found = {one.id: one.gain for one in weigh.weighed(job, DEFAULTS)}
    assert list(found) == ["late"]
    monkeypatch.setattr(weigh, "files_bound", lambda *_: None)
    assert list({one.id: one.gain for one in weigh.weighed(job, DEFAULTS)}) == ["hidden", "late"]


def test_a_core_for_each_rank_saves_the_waits_on_the_critical_path_at_most() -> None:
    """Each of four ranks waits 30 s for a core. Without these waits, three of the ranks would wait as long for the
    fourth.
    """
    early = [RankLine().held(5, 35).together("MPI_Barrier", 60, 90.1, 4) for _ in range(3)]
    late = RankLine().held(5, 35).together("MPI_Barrier", 90, 90.1, 4)
    lines = (line.together("MPI_Finalize", 99, 99.9, 4) for line in (*early, late))
    events = events_of(*lines)
    made = placed(*("0",) * 4, on_core=40.0, runnable=30.0, mpi=10.0)
    frame = pd.DataFrame({name: events[name] for name in events.names})
    job = replace(made, private={**made.private, "why_events": frame})
    (without,), (found,) = ([one for one in findings(each) if one.id == "crowded-processors"] for each in (made, job))
    times = replays(job)
    assert times is not None
    most = dict(zip(times["question"], times["most"], strict=True))["no core shared"]
    assert (without.gain, found.gain) == (pytest.approx(0.7), pytest.approx(0.3))
    assert most == pytest.approx(30.0)
    assert "critical path" in found.derivation


def test_ranks_without_a_core_for_which_nobody_waits_do_not_bind_the_run() -> None:
    """Ranks 1 to 3 had no core for 60 s, and then wait for rank 0, which slept: further cores would save nothing."""
    lines = [RankLine().held(0, 94, "sleep").together("MPI_Barrier", 94, 95.1, 4)]
    lines += [RankLine().together("MPI_Barrier", 90, 95.1, 4) for _ in range(3)]
    events = events_of(*(line.together("MPI_Finalize", 99, 99.9, 4) for line in lines))
    made = placed(*("0",) * 4, on_core=20.0, runnable=lambda rank: 60.0 if rank else 0.0, mpi=5.0)
    frame = pd.DataFrame({name: events[name] for name in events.names})
    job = replace(made, private={**made.private, "why_events": frame})
    assert bound_of(job, "no core shared") == pytest.approx(0.0, abs=0.1)
    assert (verdict(made).kind, verdict(job).kind) == ("cores", "asleep")


def test_computing_in_a_row_bounds_what_balance_saves() -> None:
    """Ranks 0 and 1 compute for 30 s, one after the other. If all four ranks computed 15 s each at the same time, this
    would save 30 s and not 15.
    """
    first, second = RankLine().send(30, 30, 1), RankLine().receive(0, 30, 0)
    early = [RankLine().together("MPI_Barrier", 0.01, 99, 4) for _ in range(2)]
    late = [line.together("MPI_Barrier", begin, 99, 4) for line, begin in ((first, 30.01), (second, 60))]
    events = events_of(*(line.together("MPI_Finalize", 99, 99.9, 4) for line in (*late, *early)))
    frame = pd.DataFrame({name: events[name] for name in events.names})
    made = traced([30.0, 30.0, 0.01, 0.01])
    job = replace(made, private={**made.private, "why_events": frame})
    (without,), (found,) = ([one for one in findings(each) if one.id == "uneven-computing"] for each in (made, job))
    times = replays(job)
    assert times is not None
    most = dict(zip(times["question"], times["most"], strict=True))["computing balanced"]
    assert (without.gain, found.gain) == (pytest.approx(0.15, abs=0.001), pytest.approx(0.3, abs=0.001))
    assert most == pytest.approx(30, abs=0.1)
    assert "replay" in found.derivation


def test_locks_in_a_row_bound_what_no_locks_save(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0 waits 3 s for a lock, then rank 1 as long: the slowest rank waited 3 s, and the job 6 s."""
    first = RankLine().lock(0, 3).send(3, 3, 1).together("MPI_Barrier", 3, 6.1, 2)
    job = job_with(first, RankLine().receive(0, 3, 0).lock(3, 6).together("MPI_Barrier", 6, 6.1, 2))
    row = {"path": "/a", "files": 1, "ranks": 2, "locks": 2, "refused": 0, "waits": 2, "unended": 0, "longest": 3.0}
    monkeypatch.setattr(file_rules, "file_locks", lambda _: Records.of(row, [tuple(row.values())]))
    monkeypatch.setattr(file_rules, "rank_lock_seconds", lambda _: np.array([3.0, 3.0]))
    seen = file_rules.lock_waits(job, DEFAULTS)
    assert seen is not None
    assert seen.seconds == pytest.approx(6.0, abs=0.2)
    assert "replay" in seen.derivation


def test_page_faults_in_a_row_bound_what_none_would_save(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0 waits 3 s for pages, then rank 1 as long: each was blocked for 3 s, and the job for 6 s."""
    first = RankLine().together("MPI_Barrier", 0, 0.5, 2).held(0.5, 3.5, "fault").send(3.5, 3.5, 1)
    second = RankLine().together("MPI_Barrier", 0, 0.5, 2).receive(0.5, 3.5, 0).held(3.5, 6.5, "fault")
    lines = first.together("MPI_Barrier", 3.6, 6.6, 2), second.together("MPI_Barrier", 6.5, 6.6, 2)
    job = job_with(*lines)
    row = {"rank": 0, "file": 1, "fetched": 1 << 30, "reached": 1 << 20, "major_faults": 1 << 20, "told": 1}
    job = replace(job, private={**job.private, "mapped_files": pd.DataFrame([row])})
    monkeypatch.setattr(needless_rules, "rank_time", lambda _: Records({ASLEEP: np.array([3.0, 3.0])}))
    seen = needless_rules.mapped_random(job, DEFAULTS)
    assert seen is not None
    assert seen.seconds == pytest.approx(6.0, abs=0.2)
    assert "replay" in seen.derivation
