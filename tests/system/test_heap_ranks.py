"""Tests the heap of several ranks, in a job that ends and in one whose ranks are killed, against the program's
constants.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.log import read_log
from iolens.metrics.processor.traced.calls import heap, heap_callers
from mpi_libraries import library
from patience import PATIENCE

RANKS, MB = 4, 1_000_000

PROGRAM = """
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) static void keeps(int rank)
{
    for (int i = 0; i < (rank + 1) * 1000; i++)
        kept = malloc(1000);
}
__attribute__((noinline)) static void peaks(int rank)
{
    void *block = malloc((rank + 1) * 10000000);
    kept = block;
    free(block);
}
int main(int count, char **words)
{
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    keeps(rank);
    peaks(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2 && count > 1)
        kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.mpi
@pytest.mark.parametrize("end", [(), ("kill",)])
def test_each_rank_has_its_heap(end: tuple[str, ...], tmp_path: Path) -> None:
    mpi = library("usual")
    (tmp_path / "program.c").write_text(PROGRAM)
    mpi.compile(tmp_path / "program.c", tmp_path / "program", "-O1", "-fno-builtin", "-g")
    iolens = [sys.executable, "-m", "iolens.cli.main", "run", "--trace", "heap", "--"]
    command = [*iolens, str(mpi.mpirun), "-np", str(RANKS), "./program", *end]
    environment = {**os.environ, **mpi.environment(None)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode != 0) == bool(end), done.stderr
    (log,) = tmp_path.glob("*.darshan")
    job = read_log(log)
    rows = heap_callers(job).frame()
    rows["function"] = rows["caller"].str.split().str[0]
    own = rows[rows["function"].isin(["keeps", "peaks"])].set_index(["function", "rank"])
    for rank in range(RANKS):
        blocks, peak = (rank + 1) * 1000, (rank + 1) * 10 * MB
        assert own.loc[("keeps", rank), ["calls", "live_blocks", "live_bytes"]].tolist() == [
            blocks,
            blocks,
            1000 * blocks,
        ]
        assert own.loc[("peaks", rank), ["calls", "bytes", "live_bytes"]].tolist() == [1, peak, 0]
    whole = heap(job).frame().set_index("rank")
    assert whole.index.tolist() == [3, 2, 1, 0]
    for rank in range(RANKS):
        assert whole.loc[rank, "high_bytes"] >= (rank + 1) * 11 * MB
        assert 0 < whole.loc[rank, "high_time"] < job.run_time
