"""Tests the bound that a replay without I/O sets to the gains of the advice, and the first sentence of a job."""

from __future__ import annotations

import random
from dataclasses import replace

import pandas as pd
import pytest
from advice_invariants import BESIDE_IO
from iolens.advise import weigh
from iolens.advise.limits import DEFAULTS
from iolens.advise.rule import Rule, Seen
from iolens.advise.weigh import weighed
from iolens.log import Job
from iolens.metrics.job.ranks import io_span_seconds
from iolens.metrics.why.answers import replays, storage_bound
from iolens.pages.wording.job_words import verdicts
from planted_jobs import JobModel, job_of_model
from why_programs import RankLine, events_of

WRITES = JobModel(ranks=4, kind="WRITE", calls=200_000, size=4096, targets=8, compute=100.0)
SPENT = float(WRITES.seconds()[0][0])


def job_with(*lines: RankLine, model: JobModel = WRITES) -> Job:
    """Returns a job of small writes, with these events. Each rank spends 80 s in its writes, or the seconds of another
    model.
    """
    job = job_of_model(model)
    end = job.run_time
    events = events_of(*(line.together("MPI_Finalize", end - 0.1, end, len(lines)) for line in lines))
    frame = pd.DataFrame({name: events[name] for name in events.names})
    return replace(job, private={**job.private, "why_events": frame})


def gains(job: Job) -> dict[str, float | None]:
    return {one.id: one.gain for one in weighed(job, DEFAULTS)}


def hidden() -> Job:
    """Returns a job whose last rank computes for 10 s less than the run takes, while the others write and wait."""
    busy = [RankLine().file(0, SPENT).together("MPI_Barrier", SPENT, WRITES.run_time() - 1, 4) for _ in range(3)]
    last = RankLine().file(0, 10).together("MPI_Barrier", WRITES.run_time() - 2, WRITES.run_time() - 1, 4)
    return job_with(*busy, last)


def test_io_that_holds_nobody_up_bounds_the_gain() -> None:
    without = gains(job_of_model(WRITES))["small-writes"]
    assert without is not None
    bounded = gains(hidden())["small-writes"]
    assert bounded == pytest.approx(10 / WRITES.run_time(), rel=0.01)
    assert bounded < without
    (found,) = (one for one in weighed(hidden(), DEFAULTS) if one.id == "small-writes")
    assert found.derivation.endswith("because ranks wait for one another anyway.")


def in_steps(seed: int) -> Job:
    """Returns a job whose ranks write and read for random times between barriers, as long as the model's run."""
    chosen, time = random.Random(seed), 0.0
    lines = [RankLine() for _ in range(4)]
    while time < WRITES.run_time() - 20:
        ends = [time + chosen.choice([0, 0, 3, 9]) for _ in lines]
        for line, end in zip(lines, ends, strict=True):
            if end > time:
                line.file(time, end)
            line.together("MPI_Barrier", end + 1, max(ends) + 2, 4)
        time = max(ends) + 2
    return job_with(*lines)


@pytest.mark.parametrize("seed", range(6))
def test_no_remedy_of_io_saves_more_than_storage_without_time(seed: int) -> None:
    job = in_steps(seed)
    most = storage_bound(job)
    assert most is not None
    found = [one for one in weighed(job, DEFAULTS) if one.id not in BESIDE_IO and one.gain is not None]
    assert found
    assert max(one.gain or 0.0 for one in found) * job.run_time <= most + 1e-9
    answers = replays(job)
    assert answers is not None
    for question, saved in answers.rows("question", "saved"):
        assert saved <= most + 1e-9 or not question.startswith(("I/O", "storage", "page")), question


def test_the_replay_bounds_a_remedy_where_ranks_do_io_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rank writes for 20 s while the others wait, so that the job loses 80 s."""
    lines = [RankLine() for _ in range(4)]
    for turn in range(4):
        for rank, line in enumerate(lines):
            begin, end = 25 * turn, 25 * turn + 20
            (line.file(begin, end) if rank == turn else line).together(
                "MPI_Barrier", end if rank == turn else begin, end + 1, 4
            )
    job = job_with(*lines, model=replace(WRITES, calls=50_000))
    assert io_span_seconds(job) == pytest.approx(20, abs=1)
    assert storage_bound(job) == pytest.approx(80, abs=1)
    claim = Rule("claim", "claim", "", (), "", "", lambda *_: Seen("", 70.0, "", ""))
    monkeypatch.setattr(weigh, "RULES", (claim,))
    assert gains(job) == {"claim": pytest.approx(70 / job.run_time)}


def test_events_without_partners_bound_nothing() -> None:
    lines = [RankLine().file(0, SPENT) for _ in range(3)]
    lines.append(RankLine().file(0, 10).receive(20, 30, 0))
    assert gains(job_with(*lines))["small-writes"] == gains(job_of_model(WRITES))["small-writes"]


def test_the_first_sentence_says_what_faster_storage_would_save() -> None:
    assert verdicts(hidden())[0].startswith("With infinitely fast storage this job would take at most 10")
    assert not any("infinitely" in sentence for sentence in verdicts(job_of_model(WRITES)))
