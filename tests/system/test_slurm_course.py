"""The course's batch scripts as they are, as small jobs on a real Slurm."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE

pytestmark = pytest.mark.mpi

ROOT = Path(__file__).resolve().parents[2]


def submitted(cluster: dict[str, str], folder: Path, script: str, **settings: str) -> Path:
    """The results of one job of two nodes with two ranks each, submitted in `folder` and waited for."""
    surroundings = {**cluster, "IOLENS_HOME": str(ROOT), "SCRATCH_DIR": str(folder / "scratch"), **settings}
    (folder / "scratch").mkdir()
    nodes = [] if script == "run_btio-B.sh" else ["--ntasks-per-node=2"]
    command = ["sbatch", "--wait", "--parsable", "--export=ALL", *nodes, str(ROOT / "slurm" / script)]
    done = subprocess.run(
        command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    outputs = "".join(path.read_text() for path in folder.glob("*.out"))
    assert done.returncode == 0, done.stderr + outputs
    assert not [path for path in (folder / "scratch").iterdir() if path.is_dir()], "the data was removed"
    (results,) = (folder / "results").iterdir()
    assert (results / "job.pdf").read_bytes().startswith(b"%PDF")
    assert len(list(results.glob("*.darshan"))) == 1
    return results


def test_run_btio_b(cluster: dict[str, str], tmp_path: Path) -> None:
    results = submitted(cluster, tmp_path, "run_btio-B.sh", CLASS="S", STRIPES="10")
    assert "Verification    =               SUCCESSFUL" in (results / "stdout.txt").read_text()
    assert "stripe_count:  10" in (results / "stripes.txt").read_text()


def test_run_btio_c(cluster: dict[str, str], tmp_path: Path) -> None:
    results = submitted(cluster, tmp_path, "run_btio-C.sh", CLASS="S")
    assert "Verification    =               SUCCESSFUL" in (results / "stdout.txt").read_text()
    assert "stripe_count:  1 " in (results / "stripes.txt").read_text()


def test_run_ior_romio_with_the_hints(cluster: dict[str, str], tmp_path: Path) -> None:
    ior = {"IOR": str(ROOT / "build" / "bin" / "ior"), "SEGMENTS": "1", "HINTS": "1"}
    results = submitted(cluster, tmp_path, "run_ior_romio.sh", **ior)
    said = (results / "stdout.txt").read_text()
    assert "Max Write" in said
    # cb_config_list *:2 makes both ranks of each node an aggregator.
    assert "romio_aggregator_list" in said
    assert "cb_buffer_size            value = 52428800" in said
