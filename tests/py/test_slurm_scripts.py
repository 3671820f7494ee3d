"""Tests the batch scripts: valid shell, two lines to edit, the preload never exported."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from iolens.lab.run.mpi_launch import openmpi

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "slurm").glob("*.sh"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_the_syntax_is_right(script: Path) -> None:
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_nothing_preloads_the_script_itself(script: Path) -> None:
    assert "LD_PRELOAD" not in script.read_text(encoding="utf-8")


def test_a_job_sets_stripes_profiles_reports_and_cleans_up(tmp_path: Path) -> None:
    """Runs the whole script; small scripts play `lfs`, `module` and the launcher."""
    bin_folder, scratch = tmp_path / "bin", tmp_path / "scratch"
    bin_folder.mkdir()
    scratch.mkdir()
    lfs = '#!/bin/sh\necho "$@" >> "$LFS_CALLS"\n'
    (bin_folder / "lfs").write_text(lfs, encoding="utf-8")
    (bin_folder / "module").write_text("#!/bin/sh\n", encoding="utf-8")
    for tool in bin_folder.iterdir():
        tool.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "LFS_CALLS": str(tmp_path / "calls"),
        "SCRATCH_DIR": str(scratch),
        "SLURM_SUBMIT_DIR": str(tmp_path),
        "SLURM_JOB_ID": "77",
        "SLURM_JOB_NAME": "btio-B",
        "SLURM_NTASKS": "1",
        "IOLENS_HOME": str(ROOT),
        "STRIPES": "10",
        "CLASS": "S",
        **openmpi.openmpi_variables(["as root"], None),
    }
    done = subprocess.run(
        ["bash", ROOT / "slurm" / "run_btio-B.sh"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"setstripe -c 10 {scratch}/iolens-77" in (tmp_path / "calls").read_text(encoding="utf-8")
    results = tmp_path / "results" / "btio-B-77"
    assert "Verification    =               SUCCESSFUL" in (results / "stdout.txt").read_text(encoding="utf-8")
    assert (results / "job.pdf").exists()
    assert not list(scratch.iterdir())
