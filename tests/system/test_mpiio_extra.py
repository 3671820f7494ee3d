"""Tests MPI-IO calls without a slot in Darshan's record: counted and timed per file and rank."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iolens.log import read_log
from iolens.metrics.job.share import extra_seconds
from iolens.pages.exhibits.operations import OTHER_MPIIO_CALLS
from mpi_libraries import library
from test_profiler_mpi import ROOT, programs, start, the_log

__all__ = ["programs"]

pytestmark = pytest.mark.mpi


def test_each_call_is_counted_on_each_rank(programs: Path, tmp_path: Path) -> None:
    done = start(tmp_path, 2, programs / "mpi_other", tmp_path)
    assert done.returncode == 0, done.stderr
    expected = {name: int(count) for _, name, count in (line.split() for line in done.stdout.splitlines())}
    job = read_log(the_log(tmp_path))
    table = job.private["mpiio_extra"]
    calls = [column for column in table.columns if f"{column}_seconds" in table.columns]
    table = table.assign(name=[job.names[key].rpartition("/")[2] for key in table["file"]])
    shared = table[table["name"] == "shared"]
    assert sorted(shared["rank"]) == [0, 1]
    for _, row in shared.iterrows():
        assert {name: row[name] for name in calls if row[name]} == expected
        assert all((row[f"{name}_seconds"] > 0) == (row[name] > 0) for name in calls)
    assert dict(zip(table["name"], table["deletes"], strict=True)) == {"shared": 0, "gone.0": 1, "gone.1": 1}
    shown = {row[0]: row[1] for row in OTHER_MPIIO_CALLS.table(job).rows}
    assert shown["split ends"] == "12"
    assert shown["deletes"] == "2"
    below = job.private["posix_extra"]  # The time of deleting and resizing is in this table only.
    among_both = below[below["file"].isin(job.records["MPI-IO"]["id"])]
    unlinks = among_both[among_both["unlinks"] == 1]
    names = [job.names[key].rpartition("/")[2] for key in unlinks["file"]]
    timed = dict(zip(names, unlinks["seconds"] > 0, strict=True))
    # Deleting at close counts in the time of close.
    assert timed == {"gone.0": True, "gone.1": True, "fleeting.0": False, "fleeting.1": False}
    mine, common = extra_seconds(job)
    assert mine.sum() + common == pytest.approx(below["seconds"].sum())


@pytest.mark.parametrize("component", ["romio321", "ompio"])
def test_the_component_in_use_is_told(programs: Path, tmp_path: Path, component: str) -> None:
    done = start(tmp_path, 1, programs / "mpi_other", tmp_path, component=component)
    assert done.returncode == 0, done.stderr
    info = read_log(the_log(tmp_path)).private["job"]
    # Open MPI 5 names its ROMIO differently, and MPICH has no components but ROMIO.
    expected = info["io_component"] if info["mpi"].startswith("Open MPI") else "romio"
    assert info["io_component_used"] == expected
    if info["mpi"].startswith("Open MPI v4"):
        assert expected == component
    assert any("GCC" in compiler or "clang" in compiler for compiler in info["compiler"])


def test_calls_take_as_long_as_by_the_programs_clock(programs: Path, tmp_path: Path) -> None:
    """With the preloaded clock the profiler assumes twice the true length of its ticks, until the end of recording
    corrects it.
    """
    shim, source = tmp_path / "sprinting.so", ROOT / "tests/c/sprinting_clock.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, source], check=True)
    preload = f"{library(programs.name).preload}:{shim}"
    done = start(tmp_path, 1, programs / "mpi_preallocates", tmp_path, preload=preload)
    assert done.returncode == 0, done.stderr
    (seconds,) = read_log(the_log(tmp_path)).private["mpiio_extra"]["preallocates_seconds"]
    assert seconds == pytest.approx(float(done.stdout), rel=0.3)
