"""Tests the table `process`: the resources that each process used on its node, from itself or from the spool of a
killed process.
"""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import profiler_harness as harness
import pytest
from iolens.log.reader import read_log
from mpi_libraries import library as library_of
from patience import PATIENCE

RECOVER = harness.BUILD / "bin/iolens-recover"


@pytest.fixture(scope="session", autouse=True)
def library() -> Path:
    return harness.build_library()


def row_of(log: Path) -> dict[str, Any]:
    table = read_log(log).private["process"]
    assert len(table) == 1
    return {name: table[name].item() for name in table}


def run(how: str, folder: Path) -> None:
    harness.run(harness.build_program("spool_killed"), how, "20", folder=folder, IOLENS_SPOOL=str(folder))


def test_a_process_says_what_it_took(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run("return", tmp_path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row = row_of(harness.logs(tmp_path)[0])
    assert (row["rank"], row["ranks"]) == (0, 1)
    assert 1 << 20 < row["max_rss"] <= after.ru_maxrss * 1024
    assert 0 < row["minor_faults"] <= after.ru_minflt - before.ru_minflt
    assert 0 <= row["voluntary_switches"] <= after.ru_nvcsw - before.ru_nvcsw
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    assert 0 < row["user_time"] + row["system_time"] <= spent


@pytest.mark.mpi
def test_the_row_ends_with_the_run(tmp_path: Path) -> None:
    """The log is written after the program; waits for a core that it costs would exceed the run."""
    its = library_of("usual")
    (tmp_path / "ends.c").write_text(
        "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n"
    )
    program = its.compile(tmp_path / "ends.c", tmp_path / "ends")
    settings = [f"LD_PRELOAD={its.preload}", f"IOLENS_LOGPATH={tmp_path}"]
    words = [its.mpirun, "-np", "2", "env", *settings, program]
    subprocess.run(words, check=True, env={**os.environ, **its.environment(None)}, timeout=PATIENCE)
    (log,) = tmp_path.glob("*.darshan*")
    job = read_log(log)
    assert (job.tables["process"]["seconds"] <= job.run_time).all()


def test_a_killed_process_has_said_so_before(tmp_path: Path) -> None:
    run("kill", tmp_path)
    (spool,) = tmp_path.glob("iolens-*/*.spool")
    subprocess.run([RECOVER, "merge", spool], check=True, stdout=subprocess.DEVNULL)
    log = harness.logs(tmp_path)[0]
    own = harness.private_region(log, "job")
    assert f"-{own['pid']}_" in log.name
    assert own["ancestors"][:2] == [os.getpid(), os.getppid()]
    row = row_of(log)
    assert row["ranks"] == 1
    assert row["max_rss"] > 1 << 20
    assert row["minor_faults"] > 0
    assert np.isfinite(row["user_time"] + row["system_time"])
