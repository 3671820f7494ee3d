"""I/O inside and after MPI_Finalize is in a log; the program itself leaves the files that prove it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.log import Job, read_log
from iolens.log.processes import processes_of
from iolens.metrics.files.overview import all_files
from mpi_libraries import ROOT, MpiLibrary, library
from patience import PATIENCE

RANKS = 2
RUN = (sys.executable, "-m", "iolens.cli.main", "run")

pytestmark = pytest.mark.mpi


@pytest.fixture(params=["usual", "mpich", "openmpi5"])
def mpi(request: pytest.FixtureRequest) -> MpiLibrary:
    return library(request.param)


def run(
    mpi: MpiLibrary, folder: Path, *words: str, before: tuple[str, ...] = (), **settings: str
) -> subprocess.CompletedProcess[str]:
    """Runs the program behind a command; with settings, the profiler is preloaded without `iolens run`."""
    program = mpi.compile(ROOT / "tests/c/mpi_late_io.c", folder / "late")
    preloaded = {"LD_PRELOAD": mpi.preload, **settings} if settings else {}
    environment = {**os.environ, **mpi.environment(None), **preloaded}
    done = subprocess.run(
        [*before, mpi.mpirun, "-np", str(RANKS), program, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done


def written(job: Job) -> dict[str, int]:
    """Returns the bytes that a log has for each file."""
    rows = all_files(job).frame()
    return {Path(row.path).name: row.bytes_written for row in rows.itertuples() if row.bytes_written}


WITH_MPI = {f"{name}.{rank}": size for name, size in (("during", 10), ("callback", 1000)) for rank in range(RANKS)}


def test_callbacks_are_in_the_log_of_the_job_and_the_rest_in_another(mpi: MpiLibrary, tmp_path: Path) -> None:
    done = run(mpi, tmp_path, IOLENS_LOGPATH=str(tmp_path))
    jobs = sorted((read_log(log) for log in tmp_path.glob("*.darshan")), key=lambda job: -job.nprocs)
    jobs = [job for job in jobs if "late" in job.exe]
    assert [(job.nprocs, job.info["partial"]) for job in jobs] == [(RANKS, []), (1, [])], done.stderr
    assert [written(job) for job in jobs] == [WITH_MPI, {"after.0": 3000}]
    assert [job.info["after_finalize"] for job in jobs] == [False, True]
    assert not jobs[0].info["remarks"]
    assert "This log holds what rank 0 of 2 did after MPI_Finalize" in jobs[1].info["remarks"][0]
    assert jobs[0].info["pid"] == jobs[1].info["pid"]


def test_a_run_says_which_logs_came_after_the_log_of_the_job(tmp_path: Path) -> None:
    """The children of the ranks have logs of their own, too, which are not logs of ranks."""
    done = run(library("usual"), tmp_path, "children", before=(*RUN, "--output", "out", "--"))
    assert "after MPI_Finalize, where the log of all ranks ends: 1\n" in done.stderr
    assert "recorded as processes apart" not in done.stderr
    logs = [one for log in (tmp_path / "out").glob("*.darshan") for one in processes_of(read_log(log))]
    children = [written(job) for job in logs if not job.info["after_finalize"] and job.nprocs == 1]
    assert sorted(name for files in children for name in files) == ["child.0", "child.1"]
    assert done.stderr.endswith("iolens: next: iolens report out\n")


def test_the_named_log_of_a_job_is_not_replaced_by_the_rest(mpi: MpiLibrary, tmp_path: Path) -> None:
    run(mpi, tmp_path, IOLENS_LOGFILE=str(tmp_path / "job.darshan"), IOLENS_APP_INCLUDE="late")
    (rest,) = tmp_path.glob("job.darshan-*")
    assert written(read_log(tmp_path / "job.darshan")) == WITH_MPI
    assert written(read_log(rest)) == {"after.0": 3000}


def test_a_program_whose_callbacks_fail_has_its_records(tmp_path: Path) -> None:
    """Open MPI then skips the profiler's own callback, so the ranks write no log together."""
    mpi = library("usual")
    if mpi.flavour != "openmpi":
        pytest.skip("other MPI libraries end a program whose callbacks fail")
    run(mpi, tmp_path, "fail", before=(*RUN, "--output", "out", "--"))
    (log,) = (tmp_path / "out").glob("*.darshan")
    job = read_log(log)
    assert job.nprocs == RANKS
    assert job.info["partial"]
    assert written(job) == {**WITH_MPI, "after.0": 3000}
