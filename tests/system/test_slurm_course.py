"""Tests the unchanged batch scripts of the course, run as small jobs on a real Slurm."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from iolens.lab.run.mpi_launch import mpi, openmpi
from mpi_library import FLAVOUR
from patience import PATIENCE
from recovery_program import program, wait_until

pytestmark = pytest.mark.mpi

ROOT = Path(__file__).resolve().parents[2]


def state_at_end(cluster: dict[str, str], job: str) -> str:
    """Returns Slurm's description of a job once the job has ended. `sbatch --wait` would ask again only after eight
    seconds.
    """
    command = ["scontrol", "show", "job", "--oneliner", job]
    end = time.monotonic() + PATIENCE
    while True:
        said = subprocess.run(command, env=cluster, capture_output=True, text=True, check=True).stdout
        if not re.search(r" JobState=(PENDING|CONFIGURING|RUNNING|COMPLETING) ", said):
            return said
        assert time.monotonic() < end, said
        time.sleep(0.2)


def submitted(cluster: dict[str, str], folder: Path, script: str, **settings: str) -> Path:
    """Submits a script of slurm/ in `folder`, with two ranks on each node where it has several, waits for the job, and
    returns the folder of its results.
    """
    surroundings = {**cluster, "IOLENS_HOME": str(ROOT), "SCRATCH_DIR": str(folder / "scratch"), **settings}
    (folder / "scratch").mkdir()
    nodes = [] if script == "run_btio-B.sh" else ["--ntasks-per-node=2"]
    command = ["sbatch", "--parsable", "--export=ALL", *nodes, str(ROOT / "slurm" / script)]
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=True)
    said = state_at_end(cluster, done.stdout.strip())
    outputs = "".join(path.read_text() for path in folder.glob("*.out"))
    assert " JobState=COMPLETED " in said, said + outputs
    assert " ExitCode=0:0" in said
    assert not [path for path in (folder / "scratch").iterdir() if path.is_dir()], "the data was removed"
    (results,) = (folder / "results").iterdir()
    assert (results / "job.pdf").read_bytes().startswith(b"%PDF")
    assert len(list(results.glob("*.darshan"))) == 1
    return results


def test_run_btio_b(cluster: dict[str, str], tmp_path: Path) -> None:
    results = submitted(cluster, tmp_path, "run_btio-B.sh", CLASS="S", STRIPES="10")
    assert "Verification    =               SUCCESSFUL" in (results / "stdout.txt").read_text()
    said = (results / "stripes.txt").read_text()
    assert "stripe_count:  10 stripe_size" in said
    assert re.search(r"/btio\S*\nlmm_stripe_count:  10\n", said), "the file's own, before it was removed"


def test_run_btio_c(cluster: dict[str, str], tmp_path: Path) -> None:
    results = submitted(cluster, tmp_path, "run_btio-C.sh", CLASS="S")
    assert "Verification    =               SUCCESSFUL" in (results / "stdout.txt").read_text()
    assert "stripe_count:  1 " in (results / "stripes.txt").read_text()


def test_run_ior_romio_with_the_hints(cluster: dict[str, str], tmp_path: Path) -> None:
    ior = {"IOR": str(ROOT / "build" / "bin" / "ior"), "SEGMENTS": "1", "HINTS": "1"}
    results = submitted(cluster, tmp_path, "run_ior_romio.sh", **ior)
    said = (results / "stdout.txt").read_text()
    assert "Max Write" in said
    # The hint cb_config_list=*:2 makes both ranks of each node aggregators.
    assert "romio_aggregator_list" in said
    assert "cb_buffer_size            value = 52428800" in said


PAGES = ("slurm/README.md", "course/INSTRUCTOR.md", "course/INSTRUCTOR.pt.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_small_job_that_a_page_shows_is_a_job_of_its_script(page: str, tmp_path: Path) -> None:
    """Runs the class that the page names with as many ranks as the script asks for, on this machine and for one step,
    because a small class refuses too many ranks.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    (found,) = re.finditer(r"`sbatch --export=ALL,CLASS=(\w) slurm/(\S+)`", text)
    script = (ROOT / "slurm" / found[2]).read_text(encoding="utf-8")
    nodes, ranks = (int(re.findall(rf"#SBATCH --{name}=(\d+)", script)[0]) for name in ("nodes", "ntasks-per-node"))
    launcher = [mpi.find_launcher(FLAVOUR), "-np", str(nodes * ranks)]
    words = [*launcher, ROOT / "build/bin/btio", "--class", found[1], "--steps", "1"]
    surroundings = {**os.environ, **mpi.environment(FLAVOUR, nodes * ranks, "romio321")}
    done = subprocess.run(
        words, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_job_that_is_started_again_ends_well(cluster: dict[str, str], tmp_path: Path) -> None:
    """Slurm ends the job and starts it again. The first attempt's log stays, and the second attempt reports its own
    log.
    """
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    script = f"""#!/bin/bash
#SBATCH --job-name=again
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
SCRATCH_DIR={scratch}
source {ROOT}/slurm/common.sh
in_fresh_directory 1 profiled {program()} "$([ -n "$SLURM_RESTART_COUNT" ] && echo whole || echo wait)"
"""
    (tmp_path / "again.sh").write_text(script)
    surroundings = {
        **cluster,
        **openmpi.openmpi_variables(["as root"], None),
        "IOLENS_HOME": str(ROOT),
        "IOLENS_INCLUDE": str(scratch),
    }
    command = ["sbatch", "--parsable", "--ntasks=2", "--output=out.txt", "--open-mode=append", "again.sh"]
    done = subprocess.run(command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=True)
    job = done.stdout.strip()
    wait_until(lambda: list(scratch.glob("*/ready")))
    subprocess.run(["scontrol", "requeue", job], env=cluster, check=True)
    # Slurm would start the job again only after two minutes. Two seconds are needed, because Slurm refuses a job that
    # starts within the second in which it was requeued.
    sooner = ["scontrol", "update", f"JobId={job}", "StartTime=now+2"]
    state = ["squeue", "--noheader", "--format=%t", f"--jobs={job}"]
    wait_until(lambda: subprocess.run(state, env=cluster, capture_output=True, text=True, check=True).stdout == "PD\n")
    subprocess.run(sooner, env=cluster, check=True)
    first, second = (tmp_path / "results" / f"again-{job}{end}" for end in ("", "-restart-1"))
    wait_until(lambda: (second / "job.pdf").exists())
    assert [len(list(folder.glob("*.darshan"))) for folder in (first, second)] == [1, 1]
    wait_until(lambda: not any(path.is_dir() for path in scratch.glob("iolens-*")))
