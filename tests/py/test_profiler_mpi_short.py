"""MPI-IO transfers that end at the end of a file: the log has the bytes that the calls' statuses tell. Witnesses: the
statuses, and the size of the file where the program ignores them.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import mpi_libraries
import profiler_harness as harness
import pytest
from iolens.log.reader import read_log
from patience import PATIENCE


@pytest.mark.parametrize("name", ["usual", "mpich"])
def test_the_log_has_what_the_statuses_tell(name: str, tmp_path: Path) -> None:
    """ROMIO, because Open MPI's own MPI-IO waits for ever for non-blocking reads at the end of a file."""
    harness.build_library()
    mpi = mpi_libraries.library(name)
    program = mpi.compile(harness.ROOT / "tests/c/mpi_short.c", tmp_path / "short")
    component = "romio321" if mpi.flavour == "openmpi" else None
    variables = os.environ | mpi.environment(component) | {"IOLENS_LOGPATH": str(tmp_path), "IOLENS_INCLUDE": "/"}
    command = [str(mpi.mpirun), "-np", "2", "env", f"LD_PRELOAD={mpi.preload}", str(program)]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    told = {path: int(size) for path, size in map(str.split, done.stdout.splitlines())}
    # ROMIO's status of a non-blocking read tells what was asked, and a program that ignores it gets the same.
    told |= {path: told[path.replace(".ignored", "")] for path in told if path.startswith("iread")}
    (log,) = tmp_path.glob("*.darshan")
    job = read_log(log)
    table = job.records["MPI-IO"]
    names = [Path(job.names[key]).name for key in table["id"].tolist()]
    assert dict(zip(names, table["MPIIO_BYTES_READ"].tolist(), strict=True)) == told
    assert 8000 in told.values()
    small = table["MPIIO_SIZE_READ_AGG_1K_10K"].tolist()
    assert dict(zip(names, small, strict=True)) == {path: int(size == 8000) for path, size in told.items()}
