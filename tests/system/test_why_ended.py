"""Tests the analysis of waits in a job that one rank ended early, from the records that were left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.log import read_log
from iolens.metrics.why.answers import wait_states, why
from iolens.metrics.why.time_lines import limits
from mpi_libraries import ROOT, library
from patience import PATIENCE

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("way", ["abort", "kill", "exit"])
def test_waits_until_a_rank_ended_the_job_are_analysed(tmp_path: Path, way: str) -> None:
    its = library("usual")
    program = its.compile(ROOT / "tests/c/why_ended.c", tmp_path / "program", "-O1")
    words = ["run", "--why", "--output", str(tmp_path), "--", its.mpirun, "-np", "3", str(program), way]
    environment = {**os.environ, **its.environment(None)}
    done = subprocess.run(
        [sys.executable, "-m", "iolens", *words], env=environment, cwd=tmp_path, capture_output=True, timeout=PATIENCE
    )
    assert done.returncode != 0
    (log,) = tmp_path.glob("*.darshan")
    job = read_log(log)
    found, waits = why(job), wait_states(job)
    assert found is not None
    assert waits is not None
    assert found.until is not None
    (barriers,) = waits.where(waits["pattern"] == "wait at barrier").rows("waits", "seconds")
    assert barriers[0] >= 200
    assert barriers[1] > 0.3
    assert any("nothing after it is analysed" in said for said in limits(job))
