"""Tests samples of whole jobs: four ranks under `iolens run`, and Python with MPI, up to the output of `iolens
export`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from iolens.log import read_log
from mpi_libraries import library

IOLENS = [sys.executable, "-m", "iolens.cli.main"]

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
static volatile double sum;
__attribute__((noinline)) static void work(double seconds)
{
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        sum += 1;
}
int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0)
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    for (int other = 1; rank == 0 && other < ranks; other++)
        MPI_Recv(NULL, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        work(0.5);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""

PYTHON = """
import time
from mpi4py import MPI
end = time.monotonic() + 0.3
while time.monotonic() < end:
    sum(range(1000))
MPI.COMM_WORLD.Barrier()
print(f"rank {MPI.COMM_WORLD.rank}\\n", end="")
"""


def sampled(folder: Path, ranks: int, *program: str) -> tuple[str, Path]:
    """Returns the job's output and its log."""
    mpi = library("usual")
    command = [*IOLENS, "run", "--sample", "500", "--", str(mpi.mpirun), "-np", str(ranks), *program]
    environment = {**os.environ, **mpi.environment(None)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (log,) = folder.glob("*.darshan")
    return done.stdout, log


@pytest.mark.mpi
def test_ranks_that_wait_are_parted_from_the_one_that_works(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    library("usual").compile(tmp_path / "program.c", tmp_path / "program", "-O1", "-g")
    _, log = sampled(tmp_path, 4, "./program")
    command = [*IOLENS, "export", str(log), "--format", "collapsed", "-o", "-"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts = {(rank, place): 0 for rank in range(4) for place in ("work", "MPI_Barrier")}
    for line in text.splitlines():
        chain, _, count = line.rpartition(" ")
        rank, *functions = chain.split(";")
        for place in ("work", "MPI_Barrier"):
            if place in functions:
                counts[int(rank.removeprefix("rank ")), place] += int(count)
    assert counts[0, "work"] > 200
    assert all(counts[rank, "MPI_Barrier"] > 100 and counts[rank, "work"] == 0 for rank in (1, 2, 3)), counts
    threads = read_log(log).private["sampling"]
    assert set(threads["rank"]) == {0, 1, 2, 3}


@pytest.mark.mpi
@pytest.mark.skipif(find_spec("mpi4py") is None, reason="needs mpi4py")
def test_python_with_mpi_is_sampled(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PYTHON)
    printed, log = sampled(tmp_path, 2, sys.executable, "program.py")
    assert sorted(printed.splitlines()) == ["rank 0", "rank 1"]
    samples = read_log(log).private["samples"]
    assert set(samples["rank"]) == {0, 1}
    assert samples["count"].sum() > 2 * 100
