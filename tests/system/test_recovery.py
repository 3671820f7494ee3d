"""Jobs that end without writing a log: there is one afterwards, and the exit code is the program's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import darshan
import pytest
from iolens.lab import mpi
from mpi_library import FLAVOUR

SOURCE = Path(__file__).resolve().parents[1] / "c/mpi_killed.c"

pytestmark = pytest.mark.mpi


def start(folder: Path, how: str, launcher: str | None = None) -> subprocess.CompletedProcess[str]:
    """Three ranks under `iolens run`, which end in that way."""
    program = folder / "mpi_killed"
    subprocess.run(["mpicc", "-Wall", "-o", program, SOURCE], check=True)
    environment = {**os.environ, **mpi.environment(FLAVOUR, 8, "romio321"), "IOLENS_SPOOL": str(folder)}
    environment |= {"IOLENS_INCLUDE": str(folder)}
    words = [launcher or mpi.find_launcher(FLAVOUR), "-np", "3", str(program), how]
    command = [sys.executable, "-m", "iolens.cli.main", "run", "--", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("how", ["one", "all", "abort", "exit", "segfault"])
def test_a_job_without_an_end_has_a_log(how: str, tmp_path: Path) -> None:
    done = start(tmp_path, how)
    beside = 128 if FLAVOUR == "openmpi" else 0  # Hydra gives the signal itself
    codes = {"one": 9 + beside, "all": 9 + beside, "segfault": 11 + beside, "abort": 7, "exit": done.returncode}
    assert done.returncode == codes[how], done.stderr
    (log,) = tmp_path.glob("*.darshan")
    report = darshan.DarshanReport(str(log), read_all=True)
    assert report.metadata["job"]["nprocs"] == 3
    assert "3 of 3 ranks kept" in report.metadata["job"]["metadata"]["partial"]
    frame = report.records["POSIX"].to_df()["counters"]
    names = frame["id"].map(report.name_records)
    shared, own = frame[names.str.endswith("/shared")], frame[names.str.contains("/own")]
    assert (list(shared["rank"]), list(shared["POSIX_WRITES"])) == ([-1], [3])
    assert (sorted(own["rank"]), set(own["POSIX_BYTES_WRITTEN"])) == ([0, 1, 2], {8})
    assert list(tmp_path.glob("iolens-*/*.spool")) == []


def test_ranks_that_outlive_their_launcher_are_waited_for(tmp_path: Path) -> None:
    """A launcher as MPICH's after an abort: it returns while its ranks still end."""
    launcher = tmp_path / "bin" / "mpirun"
    launcher.parent.mkdir()
    real = mpi.find_launcher(FLAVOUR)
    launcher.write_text(
        f'#!/bin/sh\n{real} "$@" &\nwhile [ ! -e ready ]; do sleep 0.05; done\n(sleep 1; kill -9 $!) &\nexit 7\n'
    )
    launcher.chmod(0o755)
    done = start(tmp_path, "wait", str(launcher))
    assert done.returncode == 7, done.stderr
    (log,) = tmp_path.glob("*.darshan")
    report = darshan.DarshanReport(str(log), read_all=False)
    assert "mpirun ended with exit code 7" in report.metadata["job"]["metadata"]["partial"]
