"""Slurm jobs of one submit folder, on nodes with host names of their own: each keeps its own logs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.lab.run.own_logs import run_of_log
from iolens.log import read_log
from patience import PATIENCE
from stopped_shells import HOLD, let_go

pytestmark = pytest.mark.mpi

IOLENS = Path(sys.executable).parent / "iolens"
JOBS = 4


def submitted(cluster: dict[str, str], folder: Path, number: int) -> subprocess.Popen[str]:
    """Submits a job that runs a script under iolens in this folder, and returns the command that waits for its end."""
    script = f"{HOLD}cp data copy-$NAME-1; cp data copy-$NAME-2"
    batch = folder / f"job-{number}.sh"
    batch.write_text(f"#!/bin/sh\nexport NAME=run{number}\nexec '{IOLENS}' run -- sh -c '{script}'\n")
    words = ["sbatch", "--wait", "-N1", "-n1", "-o", f"out-{number}", str(batch)]
    return subprocess.Popen(words, cwd=folder, env=cluster, stdout=subprocess.DEVNULL, text=True)


def test_jobs_of_one_submit_folder_keep_their_logs_apart(cluster: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * 5000)
    jobs = [submitted(cluster, tmp_path, number) for number in range(JOBS)]
    let_go(tmp_path, JOBS)
    assert [job.wait(timeout=PATIENCE) for job in jobs] == [0] * JOBS
    logs = []
    for number in range(JOBS):
        said = (tmp_path / f"out-{number}").read_text()
        found = re.search(r"iolens: log: (.*?) \((\d+) processes", said)
        assert found, said
        logs.append(Path(found[1]))
        job = read_log(logs[-1])
        assert job.nprocs == int(found[2]) == 3
        names = {Path(name).name for name in job.names.values()}
        assert {name for name in names if name.startswith("copy-")} == {f"copy-run{number}-1", f"copy-run{number}-2"}
    assert len({run_of_log(log) for log in logs}) == JOBS
    assert sorted(logs) == sorted(tmp_path.glob("*.darshan"))
