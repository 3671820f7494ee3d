"""Tests waits, critical path and what-if answers of random programs, against a simulator that shares no code
with them.
"""

from __future__ import annotations

import importlib
import os
import random
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from iolens.errors import IolensError
from iolens.lab.installation import find_library
from iolens.metrics.why import replay
from iolens.metrics.why.answers import Why, why_of
from iolens.metrics.why.calls.joins import joins_of
from iolens.metrics.why.calls.program import FILE, program_of
from iolens.metrics.why.causes import causes_of
from iolens.metrics.why.path import critical_path
from iolens.metrics.why.waits import waits_of
from iolens.metrics.why.what_if import STORAGE, Answer, WhatIfQuestion, what_if
from why_programs import RankLine, events_of
from why_random import events_of_run, random_program
from why_simulator import Deadlock, SimulatedRun, SimulatedStep, changed, simulated

_PROGRAMS = int(os.environ.get("WHY_PROGRAMS", "32"))
_SEED = int(os.environ.get("WHY_SEED", "1"))
_NEAR = 1e-7


def _waits(found: Why) -> dict[tuple[int, float], tuple[float, float]]:
    """Returns each wait by its rank and the begin of its call: its seconds, and the time when the late rank came."""
    program, of = found.program, found.waits
    return {
        (int(program.rank[call]), round(float(program.start[call]), 9)): (
            round(float(waited), 7),
            round(float(program.start[late]), 7),
        )
        for call, late, waited in zip(of.call, of.late, of.waited, strict=True)
        if waited > _NEAR
    }


def _expected_waits(run: SimulatedRun) -> dict[tuple[int, float], tuple[float, float]]:
    return {
        (call.rank, round(call.start, 9)): (round(call.free - call.start, 7), round(call.late.start, 7))
        for calls in run.calls
        for call in calls
        if call.late is not None and call.free - call.start > _NEAR
    }


def _path(pieces: list[tuple[int, float, float]]) -> list[tuple[int, float, float]]:
    return [(rank, round(begin, 7), round(end, 7)) for rank, begin, end in pieces if end - begin > _NEAR]


def _without(change: WhatIfQuestion, run: SimulatedRun) -> float:
    """Returns the simulated run time without the work that the question leaves out."""
    starts = ("MPI_Init", "MPI_Finalize")
    means = _mean_computing(run)

    def fewer(rank: int, step: SimulatedStep) -> SimulatedStep:
        if change.question == "messages free":
            talks = step.what not in ("compute", "file") and step.function not in starts
            return replace(step, cost=0.0) if talks else step
        if change.question == "computing balanced":
            return replace(step, cost=step.cost * means[rank]) if step.what == "compute" else step
        chosen = change.rank in (-1, rank) and change.file in (0, step.file)
        factor = {"storage four times as fast": 0.25, "storage twice as fast": 0.5}.get(change.question, 0.0)
        return replace(step, file_cost=step.file_cost * factor) if chosen else step

    if change.question == "nothing changed":
        return run.run_time
    return simulated(changed(run.program, fewer)).run_time


def _mean_computing(run: SimulatedRun) -> list[float]:
    """Returns a factor for the computing of each rank, so that all compute equally long."""
    spent = [sum(step.cost for step in steps if step.what == "compute") for steps in run.program]
    mean = sum(spent) / len(spent)
    return [mean / each if each else 1.0 for each in spent]


def differences(seed: int, kind: str = "") -> list[str]:
    """Returns the differences between the analysis and the simulator for one random program. For the kinds `locks` and
    `partial` only the first what-if answer is compared: without some work other ranks may get a window's lock first, or
    a rank may wait for a rank that its event does not name.
    """
    try:
        run = simulated(random_program(seed, kind))
    except Deadlock:
        return []
    program = program_of(events_of_run(run), len(run.calls))
    found = why_of(program, advances_alone=True)
    said = [] if kind else _outside_of_intervals(why_of(program), run)
    if found.joins.not_joined or found.graph.broken:
        said.append(f"{found.joins.not_joined} parts without partner, {found.graph.broken} contradictions")
    waits, expected = _waits(found), _expected_waits(run)
    said += [f"wait {key}: {waits.get(key)}, not {expected.get(key)}" for key in waits.keys() | expected.keys()
             if waits.get(key) != expected.get(key)]  # fmt: skip
    pieces = critical_path(found.program, found.waits)
    path = _path(list(pieces.rows("rank", "start", "end")))
    if path != _path(list(run.critical_path())):
        said.append(f"path {path}, not {_path(list(run.critical_path()))}")
    answers = what_if(found.program, found.joins, found.graph)
    for answer in answers[:1] if kind in ("locks", "partial") else answers:
        try:
            time = _without(answer.change, run)
        except Deadlock:
            continue
        if time != pytest.approx(answer.run_time, abs=_NEAR):
            said.append(f"{answer.change}: {answer.run_time}, not {time}")
    return said


def _outside_of_intervals(found: Why, run: SimulatedRun) -> list[str]:
    """Returns the savings that lie outside of the intervals of an analysis which does not know that MPI advances by
    itself in the simulator.
    """
    said = []
    for answer in what_if(found.program, found.joins, found.graph, found.unknown, others=found.others):
        try:
            saved = run.run_time - _without(answer.change, run)
        except Deadlock:
            continue
        if not answer.least - _NEAR <= max(saved, 0.0) <= answer.most + _NEAR:
            said.append(f"{answer.change}: {answer.least} to {answer.most}, not {saved}")
    return said


def test_random_programs_are_analysed_as_they_are_simulated() -> None:
    wrong = {seed: said for seed in range(_SEED, _SEED + _PROGRAMS) if (said := differences(seed))}
    assert not wrong, f"{len(wrong)} of {_PROGRAMS}, the first one: {next(iter(wrong.items()))}"


@pytest.mark.parametrize("kind", ["exposure", "locks", "partial"])
def test_random_programs_of_one_kind_are_analysed_as_they_are_simulated(kind: str) -> None:
    wrong = {seed: said for seed in range(_SEED, _SEED + _PROGRAMS) if (said := differences(seed, kind))}
    assert not wrong, f"{len(wrong)} of {_PROGRAMS}, the first one: {next(iter(wrong.items()))}"


def _solved(seed: int) -> Why | None:
    """Returns the analysis of a random program whose ranks also contradict one another at times."""
    try:
        run = simulated(random_program(seed))
    except Deadlock:
        return None
    events = events_of_run(run)
    if seed % 2:
        rng = np.random.default_rng(seed)
        shifted = rng.uniform(0, 3, len(run.calls))[events["rank"]]
        events = events.beside({"start": events["start"] + shifted, "end": events["end"] + shifted})
    return why_of(program_of(events, len(run.calls)))


def _answers_of(found: Why) -> tuple[list[Answer], int]:
    return what_if(found.program, found.joins, found.graph), found.graph.broken


def _with_io(found: Why) -> float:
    """Returns the seconds in which at least one rank was in a call of the file system."""
    activities, busy, until = found.activities, 0.0, 0.0
    is_io = np.array([kind.kind == "I/O" for kind in activities.kinds])[activities.what]
    for start, end in sorted(zip(activities.start[is_io], activities.end[is_io], strict=True)):
        busy += max(end - max(start, until), 0.0)
        until = max(until, end)
    return busy


def test_no_answer_on_io_saves_more_than_io_took() -> None:
    asked = 0
    for found in filter(None, map(_solved, range(2, 82, 2))):
        answers = {answer.change: answer for answer in what_if(found.program, found.joins, found.graph)}
        free = answers.get(WhatIfQuestion(STORAGE))
        if free is None:
            continue
        assert free.saved <= _with_io(found) + _NEAR
        for change, answer in answers.items():
            if change.rank >= 0 or change.file or change.question.endswith(" as fast"):
                asked += 1
                assert answer.saved <= free.saved + _NEAR, change
    assert asked > 100


def test_replays_are_the_same_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_library("libiolens-replay.so") is None:
        pytest.skip("libiolens-replay.so is not built (make build)")
    in_c = [_answers_of(found) for seed in range(1, 61) if (found := _solved(seed))]
    monkeypatch.setattr(replay, "folders_of_libraries", list)
    in_python = [_answers_of(found) for seed in range(1, 61) if (found := _solved(seed))]
    assert in_c == in_python
    assert len(in_c) > 40


@pytest.mark.parametrize("source", ["", "const int iolens_replay_layout = 1;"])
def test_a_library_of_another_version_is_refused(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old.c").write_text(f"{source}\nlong iolens_replay(void) {{ return 0; }}\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libiolens-replay.so", "old.c"], cwd=tmp_path, check=True)
    monkeypatch.setattr(replay, "folders_of_libraries", lambda: [tmp_path])
    with pytest.raises(IolensError, match="belongs to another version of iolens: run make build"):
        _crossing(1)


def test_the_benchmark_replays_the_graph_of_its_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "bench")
    why_scale, why_replay = importlib.import_module("why_scale"), importlib.import_module("why_replay")
    count = 21 * 16 * 50
    program = program_of(why_scale.events(count, 16), 16)
    graph = replay.graph_of(program, joins_of(program))
    made, of_calls = why_replay.calls_of(count, 16)
    assert (made.first == program.first).all()
    for ours, theirs in ((graph.leads, of_calls.leads), (graph.parts, of_calls.parts)):
        assert (ours.call == theirs.call).all()
        assert (ours.to == theirs.to).all()
    arrays = (*graph.leads, *graph.parts, *graph.frees, graph.waiter, graph.gap, graph.cost)
    assert sum(array.nbytes for array in arrays) < 28 * len(program), "the arrays of 10^8 calls no longer fit"


@pytest.mark.parametrize("library", [True, False])
def test_a_scan_of_many_ranks_takes_little_memory(library: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rank waits for all lower ones, so that pairs of ranks would be half a million."""
    if not library:
        monkeypatch.setattr(replay, "folders_of_libraries", list)
    ranks, late = 1000, 400
    lines = [RankLine() for _ in range(ranks)]
    for rank, line in enumerate(lines):
        for step in range(2):
            begin = 10 * step + (5.0 if rank == late else 1.0)
            line.file(10 * step + 0.5, begin)
            line.together(f"MPI_{('Scan', 'Exscan')[step]}", begin, 10 * step + (5.1 if rank >= late else 1.1), ranks)
    program = program_of(events_of(*lines), ranks)
    joins = joins_of(program)
    graph = replay.graph_of(program, joins)
    assert sum(len(array) for array in (*graph.leads, *graph.parts, *graph.frees, graph.larger)) < 12 * len(program)
    assert replay.replayed_run_time(program, graph, graph.gap, graph.cost) == pytest.approx(15.1)
    waits = waits_of(program, joins)
    assert (program.rank[waits.late] == late).all()
    assert waits.waited == pytest.approx(np.full(2 * (ranks - late - 1), 4.0))
    free = np.where(program.kind == FILE, 0.0, graph.cost)
    assert replay.replayed_run_time(program, graph, graph.gap, free) == pytest.approx(10.1)


def _crossing(rounds: int) -> Why:
    """Returns two ranks that each receive before they send, which no MPI could have run."""
    lines = []
    for rank in range(2):
        line = RankLine()
        for at in range(rounds):
            line.receive(2 * at + rank / 9, 2 * at + 1, 1 - rank, tag=at).send(2 * at + 1, 2 * at + 2, 1 - rank, tag=at)
        lines.append(line)
    return why_of(program_of(events_of(*lines), 2))


@pytest.mark.parametrize("library", [True, False])
def test_contradictions_are_counted_and_passed(library: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not library:
        monkeypatch.setattr(replay, "folders_of_libraries", list)
    assert _crossing(5).graph.broken == 5


def test_the_random_programs_hold_all_kinds_of_waits() -> None:
    seen: Counter[str] = Counter()
    for seed in range(1, 41):
        try:
            run = simulated(random_program(seed))
        except Deadlock:
            seen["deadlock"] += 1
            continue
        seen.update(call.step.function for calls in run.calls for call in calls if call.late is not None)
    assert seen["deadlock"] < 10
    assert {"MPI_Recv", "MPI_Send", "MPI_Ssend", "MPI_Wait", "MPI_Waitall", "MPI_Bcast", "MPI_Scan"} <= set(seen)


def _planted(seed: int, kind: str) -> tuple[list[list[SimulatedStep]], int]:
    """Returns a random program in which one call on file 9 takes far longer than all else, and the rank that calls."""
    program = changed(random_program(seed, kind), lambda _, step: replace(step, cost=step.cost / 100, file_cost=0.0))
    chosen = random.Random(seed)
    rank = chosen.randrange(len(program))
    place = chosen.randrange(1, len(program[rank]))
    program[rank].insert(place, SimulatedStep("file", "read", file_cost=50.0, file=9))
    return program, rank


def wrong_causes(seed: int, kind: str = "") -> list[str]:
    """Returns the errors in the causes of the waits of one random program with a planted delay."""
    program, rank = _planted(seed, kind)
    try:
        run = simulated(program)
    except Deadlock:
        return []
    found = why_of(program_of(events_of_run(run), len(program)))
    causes = causes_of(found.program, found.joins, found.waits, found.activities)
    waited, total = float(found.waits.waited.sum()), causes.short + causes.long
    said = [] if total.sum() <= waited + _NEAR else [f"{total.sum()} s are explained of {waited}"]
    held_up = [call for calls in run.calls for call in calls if call.free - call.start > 40]
    first = np.unravel_index(int(np.argmax(total)), total.shape)
    if held_up and (first[0] != rank or found.activities.kinds[first[1]].file != 9):
        said.append(f"rank {first[0]}, {found.activities.kinds[first[1]]}, not rank {rank}")
    return said


@pytest.mark.parametrize("kind", ["", "exposure", "locks", "partial"])
def test_the_planted_delay_is_the_first_cause(kind: str) -> None:
    wrong = {seed: said for seed in range(_SEED, _SEED + _PROGRAMS) if (said := wrong_causes(seed, kind))}
    assert not wrong, f"{len(wrong)} of {_PROGRAMS}, the first one: {next(iter(wrong.items()))}"
