"""A batch job that Slurm ends early leaves one log with the records of the ranks on all nodes."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE
from recovery_program import check_log, environment, program, wait_until

pytestmark = pytest.mark.mpi

ROOT = Path(__file__).resolve().parents[2]

SCRIPTS = {
    "lfs": "true",
    "srun": 'while [ "${1#-}" != "$1" ]; do shift; done\n'
    'for node in node0 node1; do IOLENS_SPOOL=$SPOOLS/$node "$@" || exit; done',
    "on_its_node": 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\nIOLENS_SPOOL=$SPOOLS/node$((rank / 2)) exec "$@"',
}
"""Scripts by name that stand for a site's commands. They simulate two nodes, each with two ranks and a folder of spools
of its own.
"""


def test_the_time_limit_of_a_job_on_two_nodes_costs_no_log(tmp_path: Path) -> None:
    for folder in ("bin", "scratch", "node0", "node1"):
        (tmp_path / folder).mkdir()
    for name, body in SCRIPTS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    scratch = tmp_path / "scratch" / "iolens-77"
    settings = environment(tmp_path, tmp_path / "node0") | {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "SPOOLS": str(tmp_path),
        "SCRATCH_DIR": str(tmp_path / "scratch"),
        "IOLENS_INCLUDE": str(scratch),
        "IOLENS_HOME": str(ROOT),
        "RESULTS": str(tmp_path / "results"),
        "SLURM_JOB_ID": "77",
        "SLURM_NTASKS": "4",
        "SLURM_NNODES": "2",
    }
    script = f"source {ROOT}/slurm/common.sh; in_fresh_directory 1 profiled on_its_node {program()} wait"
    running = subprocess.Popen(["bash", "-c", script], env=settings, stderr=subprocess.PIPE, text=True)
    wait_until((scratch / "ready").exists)
    running.send_signal(signal.SIGTERM)
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 128 + signal.SIGTERM, errors
    (log,) = (tmp_path / "results").glob("*_mpi_killed_*.darshan")
    assert "4 of 4 ranks kept" in check_log(log, 4)
    assert not list(tmp_path.rglob("*.spool*"))
    assert not list((tmp_path / "scratch").iterdir())
