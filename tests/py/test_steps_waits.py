"""The steps of the recipe use the events of waits where a log has them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from iolens.log import Job, read_log
from iolens.metrics.processor.steps import next_steps
from iolens.metrics.why.answers import path_by_activity, storage_saving, wait_states, waits_by_cause
from test_why import job_with
from why_programs import RankLine

LOG = Path(__file__).parents[1] / "data/iolens/predict/ior-1-stripe.darshan"


def recipe(*lines: RankLine) -> tuple[Job, dict[str, tuple[str, str]]]:
    """Returns a job with these events, besides the times of a real run, and the evidence and table of each step by its
    number.
    """
    real = read_log(LOG)
    made = job_with(*lines)
    job = replace(real, nprocs=made.nprocs, names=made.names, private={**real.private, **made.private})
    found = next_steps(job)
    assert found is not None
    return job, {step[0]: (evidence, look) for step, evidence, look in found.rows("step", "evidence", "look")}


def test_steps_name_the_first_cause_and_the_path() -> None:
    late = RankLine().file(0, 5).together("MPI_Barrier", 5, 5.1, 2)
    job, said = recipe(late, RankLine().together("MPI_Barrier", 1, 5.1, 2))
    causes, states, path, saving = waits_by_cause(job), wait_states(job), path_by_activity(job), storage_saving(job)
    assert causes is not None
    assert states is not None
    assert path is not None
    assert saving is not None
    assert said["1"][0].endswith("others waited 4.0 s for write of mesh on rank 0")
    assert causes["seconds"][0] == pytest.approx(4.0)
    assert said["3"][0].endswith("most waits: wait at barrier, 4.0 s over all ranks")
    assert states["pattern"][0] == "wait at barrier"
    (share,) = re.findall(r"([\d.]+) % of the critical path", said["5"][0])
    assert float(share) == pytest.approx(100 * path["share"][path["kind"] == "I/O"].sum(), abs=0.05)
    assert said["5"][0].endswith("infinitely fast storage saves at most 4.0 s")
    assert [look for _, look in said.values()][::2] == ["waits_by_cause", "wait_states", "what_if"]


def test_steps_of_a_job_without_waits_say_nothing_of_them() -> None:
    _, said = recipe(RankLine().file(0, 5).together("MPI_Barrier", 5, 5.1, 1))
    assert not any("waited" in evidence or "most waits" in evidence for evidence, _ in said.values())


def test_steps_without_events_point_to_their_own_tables() -> None:
    found = next_steps(read_log(LOG))
    assert found is not None
    assert found["look"].tolist()[::2] == ["load_balance", "mpi_calls", "file_output"]
    assert "critical path" not in " ".join(found["evidence"])
