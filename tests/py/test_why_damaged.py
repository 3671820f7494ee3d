"""Tests events that no program could have left: damaged, cut, out of order, or by clocks that jump. The analysis must
not raise an error, and its tables must not contradict each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from iolens.log import Job
from iolens.metrics.why import answers
from iolens.metrics.why.time_lines import limits, time_lines
from iolens.pages.wording.job_words import verdicts
from planted_jobs import JobModel, job_of_model
from why_random import events_of_run, random_program
from why_simulator import Deadlock, simulated

_JOB = job_of_model(JobModel(ranks=7, kind="WRITE", calls=200, size=4096, targets=2, compute=100.0))
_WORDS = "call send isend recv irecv done all iall win file files lock core fault region unknown".split()
_FUNCTIONS = (
    "MPI_Testsome MPI_Iprobe MPI_Finalize MPI_Bcast MPI_Neighbor_alltoall MPI_Win_start MPI_Win_lock MPI_Start MPI_"
).split()
_NUMBERS = np.array([-3, -2, -1, 0, 1, 5, 999, 2**31 - 1])
_TIMES = np.array([np.nan, np.inf, -np.inf, 1e300, -5.0])

Columns = dict[str, np.ndarray]
Random = np.random.Generator


def _taken(columns: Columns, rows: np.ndarray) -> Columns:
    return {name: values[rows] for name, values in columns.items()}


def _other(columns: Columns, random: Random, name: str, values: np.ndarray) -> Columns:
    """Returns the columns with some values of one column replaced by values drawn from other columns."""
    rows = random.random(len(columns["rank"])) < random.choice([0.02, 0.2, 0.9])
    return {**columns, name: np.where(rows, random.choice(values, len(rows)), columns[name])}


def _shifted(columns: Columns, random: Random) -> Columns:
    """Returns the columns with a jump of one rank's clock."""
    late = (columns["rank"] == random.integers(7)) & (columns["start"] > random.uniform(0, 20))
    step = late * random.choice([-30.0, 30.0])
    return {**columns, "start": columns["start"] + step, "end": columns["end"] + step}


def _ended(columns: Columns, random: Random) -> Columns:
    """Returns the columns with a rank that ends early."""
    return _taken(columns, (columns["rank"] != random.integers(7)) | (columns["start"] < random.uniform(0, 20)))


def _numbers(columns: Columns, random: Random) -> Columns:
    name = str(random.choice(["peer", "tag", "size", "request", "communicator", "bytes"]))
    return _other(columns, random, name, np.abs(_NUMBERS) if name == "communicator" else _NUMBERS)


_DAMAGES: tuple[Callable[[Columns, Random], Columns], ...] = (
    lambda columns, random: _taken(columns, random.random(len(columns["rank"])) < random.uniform(0.1, 1)),
    lambda columns, random: _taken(columns, random.permutation(len(columns["rank"]))),
    lambda columns, random: _taken(columns, np.repeat(np.arange(len(columns["rank"])), 2)),
    lambda columns, random: {**columns, "end": columns["end"] - random.uniform(0, 5)},
    lambda columns, random: _other(columns, random, "start", _TIMES),
    lambda columns, random: _other(columns, random, "kind", np.array(_WORDS, object)),
    lambda columns, random: _other(columns, random, "function", np.array(_FUNCTIONS, object)),
    lambda columns, random: _other(columns, random, "thread", np.arange(3, dtype=np.int32)),
    _numbers,
    _shifted,
    _ended,
)


def _damaged(seed: int) -> Job | None:
    """Returns a job with damaged events of a random program; None if the program never ends."""
    random = np.random.default_rng(seed)
    try:
        run = simulated(random_program(seed, ("", "exposure", "locks")[seed % 3]))
    except Deadlock:
        return None
    events = events_of_run(run)
    columns = {name: events[name] for name in events.names}
    for damage in random.choice(len(_DAMAGES), random.integers(1, 4)).tolist():
        columns = _DAMAGES[damage](columns, random)
    return replace(_JOB, nprocs=len(run.calls), private={**_JOB.private, "why_events": pd.DataFrame(columns)})


@pytest.mark.parametrize("first", range(0, 48, 16))
def test_damaged_events_raise_nothing_and_agree_with_themselves(first: int) -> None:
    for job in filter(None, map(_damaged, range(first, first + 16))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_sound(job)


def assert_sound(job: Job) -> None:
    """Fails if an analysis raises an error or returns impossible values."""
    found, pieces, replays = answers.why(job), answers.path_pieces(job), answers.replays(job)
    for table in (answers.wait_states, answers.waits_by_cause, answers.path_by_activity, limits, verdicts):
        table(job)
    if found is None or pieces is None or replays is None:
        return
    program, waits, end = found.program, found.waits, found.program.run_time + 1e-6
    time_lines(found, pieces, 5, 20)
    assert (waits.waited <= (program.end - program.start)[waits.call] + 1e-9).all()
    assert (pieces["end"] - pieces["start"]).sum() <= end
    assert np.isfinite(replays["most"]).all()
    said = answers.waiting(job)
    assert said is not None
    assert said.unexplained <= said.waited


def test_a_path_of_a_clock_that_is_behind_begins_with_the_job() -> None:
    job = next(job for job in map(_damaged, range(200)) if job is not None)
    events = job.private["why_events"]
    early = replace(job, private={"why_events": events.assign(start=events["start"] - 3, end=events["end"] - 3)})
    pieces = answers.path_pieces(early)
    assert pieces is None or pieces["start"].min(initial=0.0) >= 0
