"""Tests a clone in a folder whose name has a space, and the result of `make install` after the clone is gone."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from iolens.lab.run.mpi_launch.lustre_driver import INTEL_MPI
from iolens.log import read_log
from iolens.places import BUILD_FOR_LUSTRE
from mpi_libraries import BESIDE, adapter_for, library

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("storage", "profiler", "workloads")
pytestmark = [pytest.mark.mpi, pytest.mark.slow]

SURROUNDINGS = {key: value for key, value in os.environ.items() if not key.startswith(("IOLENS_", "PYTHON", "DARSHAN"))}


def run(*words: object, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    command = list(map(str, words))
    surroundings = {**SURROUNDINGS, **settings}
    return subprocess.run(command, cwd=cwd, env=surroundings, capture_output=True, text=True, check=False)


def take_over_objects(folder: Path, target: Path) -> None:
    """Copies a folder of object files except one, which the clone must compile itself."""
    shutil.copytree(folder, target)
    max(target.rglob("*.o")).unlink()


def take_over_builds(folder: Path) -> None:
    """Copies what was compiled here for each MPI. The clone links all programs, and all libraries but those of traced
    functions; of these it makes the smallest.
    """
    build = folder / "build"
    for part in PARTS:
        take_over_objects(ROOT / "build/obj" / part, build / "obj" / part)
    traces = sorted((ROOT / "build/lib").glob("libiolens-trace-*.so"), key=lambda path: path.stat().st_size)
    (build / "lib").mkdir()
    for traced in traces[1:]:
        shutil.copy2(traced, build / "lib")
    for flavour in ("mpich", "mpiabi"):
        mpicc, objects = ROOT / BESIDE[flavour][1], f"obj/profiler/{flavour}"
        if mpicc.exists():
            take_over_objects(adapter_for(mpicc, flavour).parents[1] / objects, build / "adapters" / objects)
    if INTEL_MPI.is_dir() and BUILD_FOR_LUSTRE.is_dir():
        for objects in ("obj/workloads",):
            take_over_objects(BUILD_FOR_LUSTRE / objects, build / "impi" / objects)


def lend_packages(folder: Path) -> None:
    """Makes the clone's environment of Python, which finds the packages of this one, so that setting up installs iolens
    alone; `make install` installs all packages. Copies Intel MPI, which a sweep would download.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    (packages,) = folder.glob(".venv/lib/python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    if INTEL_MPI.is_dir():
        subprocess.run(["cp", "-a", "--reflink=auto", INTEL_MPI, folder / ".venv"], check=True)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies this folder, then sets it up and builds it, with most of what was installed and compiled here."""
    folder = tmp_path_factory.mktemp("a folder with space") / "my clone"
    left_out = shutil.ignore_patterns(".git", ".venv", "results", "build", ".*_cache", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=left_out)
    take_over_builds(folder)
    lend_packages(folder)
    built = run("make", "build", cwd=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def prefix(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yields the tree of `make install` under a umask that hides files, moved out of DESTDIR and made read-only."""
    place = tmp_path_factory.mktemp("installed")
    stage, target = place / "stage", place / "opt"
    install = 'umask 077; exec make install DESTDIR="$0" PREFIX="$1" OPT=-O1'
    made = run("sh", "-c", install, stage, target, cwd=clone)
    assert made.returncode == 0, made.stdout + made.stderr
    shutil.move(f"{stage}{target}", target)
    parts = [path for path in [target, *target.rglob("*")] if not path.is_symlink()]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in parts}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    yield target
    assert sorted(parts) == sorted(path for path in [target, *target.rglob("*")] if not path.is_symlink())
    for path, mode in modes.items():
        path.chmod(mode)


@contextmanager
def gone(folder: Path) -> Iterator[None]:
    """Gives the folder another name while the context lasts."""
    aside = folder.rename(folder.with_name("aside"))
    try:
        yield
    finally:
        aside.rename(folder)


def sweep(iolens: Path, results: Path, cwd: Path) -> str:
    """Returns the output of the smallest possible sweep."""
    grid = ["--stripes", "1 2", "--aggregators", "1", "--cb-buffer", "1M", "--repeat", "1"]
    done = run(iolens, "sweep", "--class", "S", *grid, "--results", results, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (results / "class-S/comparison.pdf").read_bytes().startswith(b"%PDF")
    return done.stdout + done.stderr


def test_set_up_again_does_nothing_and_says_nothing(clone: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (clone / ".venv").rglob("*") if path.exists()}
    again = run("packaging/setup.sh", cwd=clone)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert {path: path.stat().st_mtime_ns for path in (clone / ".venv").rglob("*") if path.exists()} == before


def test_a_clone_in_a_folder_with_a_space_records_and_sweeps(clone: Path, tmp_path: Path) -> None:
    said = sweep(clone / ".venv/bin/iolens", tmp_path / "results", clone)
    assert "wrote no statistics" not in said
    (log, *_) = sorted((tmp_path / "results/class-S").rglob("*.darshan"))
    assert "MPI-IO" in read_log(log).frames


def test_the_installed_tree_needs_no_clone(clone: Path, prefix: Path, tmp_path: Path) -> None:
    iolens = prefix / "bin/iolens"
    with gone(clone):
        done = run(iolens, "run", "--", "sh", "-c", "echo hello > out.txt; kill -9 $$", cwd=tmp_path)
        (log,) = tmp_path.glob("*.darshan")
        said = sweep(iolens, tmp_path / "results", tmp_path)
        report = run(iolens, "report", log, "-o", "job.pdf", cwd=tmp_path)
    assert done.returncode == 137
    assert any(name.endswith("out.txt") for name in read_log(log).names.values())
    assert "was not found" not in said
    assert "comparison: " in said
    assert report.returncode == 0, report.stderr
    assert not list(prefix.glob("lib/iolens/venv/lib/python*/site-packages/*.so")), "the libraries have one place"
    traces = run("grep", "-rIlF", "-e", clone, "-e", "/stage/", prefix, cwd=tmp_path)
    assert traces.stdout == ""


def test_installed_libraries_serve_every_mpi_and_name_no_folder_of_the_build(clone: Path, prefix: Path) -> None:
    home = prefix / "lib/iolens"
    helpers = [home / "bin" / name for name in ("iolens-recover", "iolens-selfbench", "ost-simulate", "ost-replay")]
    for part in [*home.glob("lib/*.so"), *helpers]:
        said = run("strings", "-a", part, cwd=prefix).stdout
        assert str(clone.parent) not in said, part.name
        assert str(ROOT) not in said, part.name
    if not (clone / ".venv/mpi-headers").is_dir():
        pytest.skip("the headers of other MPI libraries could not be had")
    others = ("trace", "replay")
    adapters = {path.name for path in home.glob("lib/libiolens-*.so") if not any(word in path.name for word in others)}
    assert adapters == {f"libiolens-{abi}.so" for abi in ("openmpi", "mpich", "mpiabi")}


def test_a_missing_package_has_a_command_for_the_installed_tree(prefix: Path, tmp_path: Path) -> None:
    said = run(prefix / "bin/iolens", "fleet", tmp_path, cwd=tmp_path)
    assert said.returncode == 2
    who, _, command = said.stderr.partition(" install it with: ")
    python, _, module, *_ = command.partition(" install ")[0].split(" && ")[0].split()
    assert run(python, "-c", f"import {module}", cwd=tmp_path).returncode == 0
    assert f"{prefix}/lib/iolens/venv/bin/python" in command
    assert "duckdb" in command
    assert os.access(prefix, os.W_OK) or f"the owner of {prefix}/lib/iolens/venv can" in who


def test_others_may_read_what_root_installed(prefix: Path) -> None:
    paths = [prefix, *prefix.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths if not path.is_symlink()}
    assert [
        path for path, mode in modes.items() if mode & 0o044 != 0o044 or (stat.S_ISDIR(mode) and mode & 0o011 != 0o011)
    ] == []


def test_the_installed_profiler_by_plain_preload(clone: Path, prefix: Path, tmp_path: Path) -> None:
    libraries, mpi = prefix / "lib/iolens/lib", library("usual")
    chain = f"{libraries / mpi.adapter.name}:{libraries / 'libiolens.so'}"
    settings = {**mpi.environment("romio321"), "IOLENS_LOGPATH": str(tmp_path)}
    application = ["env", f"LD_PRELOAD={chain}", prefix / "lib/iolens/bin/btio", "--class", "S", "--json", "btio.json"]
    with gone(clone):
        done = run(mpi.mpirun, "-np", "4", *application, cwd=tmp_path, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = tmp_path.glob("*.darshan")
    assert read_log(log).nprocs == 4
    assert "MPI-IO" in read_log(log).frames
    flags = json.loads((tmp_path / "btio.json").read_text(encoding="utf-8"))["build"]["flags"]
    assert "-march" not in flags


def test_programs_are_built_for_this_machine_unless_said_otherwise(tmp_path: Path) -> None:
    folder = ROOT / "workloads"
    for words, flag in (([], "-march=native"), (["ARCH=x86-64-v2"], "-march=x86-64-v2"), (["ARCH="], None)):
        shown = run("make", "-n", "-B", "V=1", f"BUILD={tmp_path}", *words, cwd=folder)
        found = {word for word in shown.stdout.split() if word.startswith("-march")}
        assert found == ({flag} if flag else set()), shown.stderr


@pytest.mark.parametrize("part", PARTS)
def test_a_warning_stops_only_those_who_ask_for_it(part: str, tmp_path: Path) -> None:
    """A newer compiler may warn of more, so the test makes it warn about something that every file does."""
    command = ["make", "-s", f"BUILD={tmp_path}", "MPICC=mpicc -Wtraditional", "CC=gcc -Wtraditional"]
    target = max((ROOT / "build/obj" / part).glob("*/*.o" if part != "storage" else "*.o"))
    target = tmp_path / target.relative_to(ROOT / "build")
    goal = os.path.relpath(target, ROOT / part)
    strict = run(*command, "WERROR=1", goal, cwd=ROOT / part)
    lax = run(*command, goal, cwd=ROOT / part)
    assert (strict.returncode, lax.returncode) == (2, 0), strict.stderr + lax.stderr
    assert "warning:" in lax.stderr
    assert target.exists()
    assert "WERROR=1" in run("make", "-n", "check", cwd=ROOT).stdout
