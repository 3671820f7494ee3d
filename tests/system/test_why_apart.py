"""The predicted saving of infinitely fast storage stays an upper bound where the events do not explain a wait."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from iolens.log import read_log
from iolens.metrics.why.answers import limits, replays, storage_saving
from iolens.metrics.why.what_if import STORAGE
from mpi_libraries import ROOT, library

sys.path.insert(0, str(ROOT / "tests/bench"))
from why_planted import recorded

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize(
    ("name", "way", "said"),
    [
        ("usual", "intercommunicator", "In MPI_Barrier"),
        ("mpich", "partitioned", "In MPI_Wait"),
        ("usual", "thread", "Calls of other threads are left out"),
    ],
)
def test_the_most_that_is_saved_holds_without_partners(tmp_path: Path, name: str, way: str, said: str) -> None:
    its, source = library(name), ROOT / "tests/c"
    program = its.compile(
        source / "why_apart.c", tmp_path / "program", str(source / "why_delay.c"), f"-I{source}", "-O1", "-pthread"
    )
    log, output = recorded(its, [str(program)], way, 10, tmp_path / "run")
    # All other ranks wait for the slow writes that the program plants, so the job would be shorter by the time of these
    # writes.
    delayed = float(output.removeprefix("DELAYED "))
    job = read_log(log)
    saved, saving = replays(job), storage_saving(job)
    assert saved is not None
    assert saving is not None
    row = saved.where(saved["question"] == STORAGE)
    assert row["least"][0] == 0
    assert row["most"][0] > 0.9 * delayed > 1
    assert saving.seconds == row["most"][0]
    assert said in " ".join(limits(job))
