"""Tests `iolens run --container`: programs run in a root of their own; `apptainer.sh` plays apptainer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.log import read_log
from mpi_libraries import library
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = Path(__file__).with_name("apptainer.sh")

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0,
    reason="a root of its own needs root",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Makes a folder with the fake apptainer, an image and a working folder."""
    for name in ("bin", "image", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin/apptainer").symlink_to(STAND_IN)
    return tmp_path


def run(place: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", **settings}
    command = [sys.executable, "-m", "iolens.cli.main", "run", *words]
    return subprocess.run(
        command, cwd=place / "work", env=surroundings, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.mpi
@pytest.mark.parametrize("inside", [False, True], ids=["launcher outside", "launcher inside"])
def test_ranks_in_containers_leave_one_log_outside(place: Path, inside: bool) -> None:
    mpi = library("usual")
    shutil.copy(ROOT / "build/bin/alignment", place / "work")
    launcher = [str(mpi.mpirun), "-np", "2"]
    container = ["apptainer", "exec", "../image"]
    words = [*container, *launcher] if inside else [*launcher, *container]
    done = run(place, "--container", "--", *words, "./alignment", "-s", "2", **mpi.environment("romio321"))
    assert done.returncode == 0, done.stderr
    assert "verification: successful" in done.stdout
    assert "ld.so" not in done.stderr
    (log,) = (place / "work").glob("*.darshan")
    assert read_log(log).nprocs == 2


def test_what_is_preloaded_outside_is_not_inside_and_a_killed_program_leaves_its_log(place: Path) -> None:
    lost = "/nowhere/libgone.so"
    program = ["sh", "-c", "echo hello >out.txt; ls /iolens/lib; kill -9 $$"]
    done = run(place, "--container=apptainer", "--", "apptainer", "exec", "../image", *program, APPTAINERENV_X="1")
    assert done.returncode == 137, done.stderr
    assert "libiolens.so" in done.stdout
    logs = [read_log(path) for path in (place / "work").rglob("*.darshan")]
    assert any(name.endswith("work/out.txt") for log in logs for name in log.names.values())
    again = run(place, "--container", "--", "apptainer", "exec", "../image", "cat", "out.txt", LD_PRELOAD=lost)
    inside = [line for line in again.stderr.splitlines() if lost in line and "libiolens" in line]
    assert (again.stdout, inside) == ("hello\n", [])


def test_a_program_whose_libraries_are_not_inside_is_refused(place: Path) -> None:
    source, library_of_it = place / "main.c", place / "libhere.so"
    source.write_text("int here(void);\nint main(void) { return here(); }\n", encoding="utf-8")
    (place / "here.c").write_text("int here(void) { return 0; }\n", encoding="utf-8")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library_of_it, place / "here.c"], check=True)
    subprocess.run(["gcc", "-o", place / "work/program", source, "-L", place, "-lhere"], check=True)
    done = run(place, "--container", "--", "apptainer", "exec", "../image", "./program")
    assert done.returncode == 1
    assert (
        "./program needs libhere.so, which the container of ../image lacks; bind them into the container" in done.stderr
    )
    assert len(done.stderr.splitlines()) == 1


def test_a_container_is_not_recorded_unasked(place: Path) -> None:
    done = run(place, "--", "apptainer", "exec", "../image", "cat", "/etc/hostname")
    assert done.returncode == 0, done.stderr
    assert "apptainer starts a container; record the program inside with --container" in done.stderr
    assert "ld.so" not in done.stderr
