"""Tests failures during a run: one clear message, a failing exit status, and no unfinished file."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from btio_program import MPI_SETTINGS
from checkpoint_program import CHECKPOINT, checkpoint, good, messages, needs_netcdf, restart
from mpi_library import FLAVOUR
from patience import PATIENCE

pytestmark = pytest.mark.mpi

PROBLEM = ["--nx", "1", "--ny", "1", "--im_world", "24", "--lm", "4", "--num_arrays", "2", "--ntrials", "1"]


@pytest.mark.parametrize(
    ("arguments", "name", "words"),
    [
        (["--write_binary", "--num_writers", "2"], "checkpoint.bin", "cannot write ./checkpoint.bin: No space left"),
        (["--write_binary", "--num_writers", "6", "--split_file"], "checkpoint_004.bin", "No space left on device"),
        pytest.param([], "checkpoint.nc4", "./checkpoint.nc4: NetCDF: HDF error", marks=needs_netcdf()),
        pytest.param(["--num_writers", "3", "--split_file"], "checkpoint_001.nc4", "cannot ", marks=needs_netcdf()),
    ],
)
def test_a_full_device(tmp_path: Path, arguments: list[str], name: str, words: str) -> None:
    (tmp_path / name).symlink_to("/dev/full")
    done = checkpoint(tmp_path, *PROBLEM, *arguments)
    assert done.status == 1
    assert [words in line for line in messages(done)] == [True], done.errors
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_is_not_begun(tmp_path: Path) -> None:
    script = f"ulimit -f 20000; exec {CHECKPOINT} --nx 1 --ny 1 --lm 60 --write_binary"
    done = subprocess.run(
        ["mpirun", "-np", "6", "bash", "-c", script],
        cwd=tmp_path,
        env=os.environ | MPI_SETTINGS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "a file of 58320000 bytes is above the limit of 20480000 (ulimit -f)" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--read_binary"], "cannot open ./checkpoint.bin: No such file or directory"),
        pytest.param([], "cannot open ./checkpoint.nc4: No such file or directory", marks=needs_netcdf()),
    ],
)
def test_a_restart_without_files(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = restart(tmp_path, *PROBLEM, *arguments)
    assert (done.status, messages(done)) == (1, [words])


def test_a_restart_from_a_shortened_file(tmp_path: Path) -> None:
    good(checkpoint(tmp_path, *PROBLEM, "--write_binary"))
    size = (tmp_path / "checkpoint.bin").stat().st_size
    os.truncate(tmp_path / "checkpoint.bin", size - 10)
    done = restart(tmp_path, *PROBLEM, "--read_binary", "--num_readers", "3")
    words = f"./checkpoint.bin ends too early: it has {size - 10} bytes of {size}"
    assert (done.status, messages(done)) == (1, [words])


@needs_netcdf()
def test_a_restart_of_another_problem(tmp_path: Path) -> None:
    good(checkpoint(tmp_path, *PROBLEM))
    done = restart(tmp_path, *PROBLEM, "--im_world", "12")
    assert done.status == 1
    assert messages(done)[0].startswith("./checkpoint.nc4 has 144 in dimension lat, not 72: the run that wrote")
    os.truncate(tmp_path / "checkpoint.nc4", 1000)
    done = restart(tmp_path, *PROBLEM)
    assert (done.status, messages(done)) == (1, ["cannot open ./checkpoint.nc4: NetCDF: HDF error"])


def ranks_in(folder: Path) -> list[int]:
    """Returns the processes of the simulator that run in this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder and (process / "exe").readlink() == CHECKPOINT:
                found.append(int(process.name))
        except OSError:
            continue
    return sorted(found)


@pytest.mark.skipif(FLAVOUR == "mpich", reason="Hydra kills all ranks with SIGKILL, which nothing can clean up after")
def test_a_killed_rank_leaves_no_files(tmp_path: Path) -> None:
    words = [*PROBLEM, "--ntrials", "1000000", "--write_binary", "--split_file", "--num_writers", "3"]
    job = subprocess.Popen(
        ["mpirun", "-np", "6", str(CHECKPOINT), *words],
        cwd=tmp_path,
        # The launcher waits this long before it kills ranks, so that they can remove their files.
        env=os.environ | MPI_SETTINGS | {"OMPI_MCA_odls_base_sigkill_timeout": "5"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + PATIENCE
    while len(list(tmp_path.glob("*.bin"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(ranks_in(tmp_path)[2], signal.SIGKILL)
    job.communicate(timeout=PATIENCE)
    assert job.returncode != 0
    assert list(tmp_path.iterdir()) == []
