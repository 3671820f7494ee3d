"""The predicted saving of infinitely fast storage stays an upper bound where the events do not explain a wait."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from iolens.log import Job, read_log
from iolens.metrics.why.answers import replays, storage_saving, waits_by_cause
from iolens.metrics.why.time_lines import limits
from iolens.metrics.why.what_if import STORAGE
from mpi_libraries import ROOT, library

sys.path.insert(0, str(ROOT / "tests/bench"))
from why_planted import recorded

pytestmark = pytest.mark.mpi


def _run(name: str, way: str, folder: Path) -> tuple[Job, float]:
    """Returns the job of a program with planted writes, and their seconds. All other ranks wait for these writes, so
    that the job would be shorter by them.
    """
    folder.mkdir()
    its, source = library(name), ROOT / "tests/c"
    program = its.compile(
        source / "why_apart.c", folder / "program", str(source / "why_delay.c"), f"-I{source}", "-O1", "-pthread"
    )
    log, output = recorded(its, [str(program)], way, 10, folder / "run")
    return read_log(log), float(output.removeprefix("DELAYED "))


@pytest.mark.parametrize(
    ("name", "way", "said"),
    [
        ("mpich", "partitioned", "In MPI_Wait"),
        ("usual", "thread", "Calls of other threads are left out"),
    ],
)
def test_the_most_that_is_saved_holds_without_partners(tmp_path: Path, name: str, way: str, said: str) -> None:
    for attempt in range(3):  # Between the end of a write and the program's look at its clock, others may run.
        job, delayed = _run(name, way, tmp_path / str(attempt))
        saved, saving = replays(job), storage_saving(job)
        assert saved is not None
        assert saving is not None
        row = saved.where(saved["question"] == STORAGE)
        if row["most"][0] > 0.9 * delayed:
            break
    assert row["least"][0] == 0
    assert row["most"][0] > 0.9 * delayed > 1
    assert saving.seconds == row["most"][0]
    assert said in " ".join(limits(job))


@pytest.mark.parametrize("name", ["usual", "mpich"])
@pytest.mark.parametrize("way", ["scan", "pairs"])
def test_a_rank_waits_for_one_that_its_event_does_not_name(tmp_path: Path, name: str, way: str) -> None:
    for attempt in range(3):  # Other programs may hold up the waiting ranks for a part of the same time.
        job, delayed = _run(name, way, tmp_path / str(attempt))
        saved, rows = replays(job), waits_by_cause(job)
        assert saved is not None
        assert rows is not None
        said = saved.where(saved["question"] == STORAGE)["saved"][0]
        if said == pytest.approx(delayed, rel=0.1):
            break
    assert said == pytest.approx(delayed, rel=0.1)
    assert (rows["rank"][0], rows["kind"][0]) == (2, "I/O")
