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


@pytest.mark.parametrize("logs", [("a",), ("a", "b")])
def test_a_job_that_is_started_again_has_a_folder_and_a_report_of_its_own(
    logs: tuple[str, ...], tmp_path: Path
) -> None:
    """The first attempt ended without removing its data, as when a node fails. Small scripts play `lfs` and `iolens`;
    a program that starts others leaves several logs.
    """
    results, left = tmp_path / "results/again-77-restart-1", tmp_path / "iolens-77/left"
    left.parent.mkdir()
    left.touch()
    for name in ("lfs", "iolens"):
        (tmp_path / name).write_text('#!/bin/sh\necho "$@" >>"${0%/*}/calls"\n', encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    touched = " ".join(f'"$RESULTS"/{log}.darshan' for log in logs)
    script = f"""
source {ROOT}/slurm/common.sh
SCRATCH_DIR={tmp_path}
program() {{ ls "$WORK" >"$RESULTS/stdout.txt"; touch {touched}; }}
in_fresh_directory 1 program
"""
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "IOLENS": str(tmp_path / "iolens"),
        "SLURM_SUBMIT_DIR": str(tmp_path),
        "SLURM_JOB_ID": "77",
        "SLURM_JOB_NAME": "again",
        "SLURM_RESTART_COUNT": "1",
    }
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (results / "stdout.txt").read_text() == ""
    reported = results if len(logs) > 1 else results / "a.darshan"
    assert (tmp_path / "calls").read_text().splitlines()[-1] == f"report {reported} -o {results}/job.pdf"
    assert not left.parent.exists()
