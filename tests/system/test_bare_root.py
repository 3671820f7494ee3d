"""Runs a program in a root folder that holds only the program, its libraries and the profiler's libraries in any order.
Output and exit code must not change.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pytest
from iolens.log import read_log
from mpi_libraries import library

ROOT = Path(__file__).resolve().parents[2]
OURS = ("libiolens.so", "libost.so")
TRACES = sorted((ROOT / "build/lib").glob("libiolens-trace-*.so"))

needs_root = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("chroot") is None, reason="chroot needs root")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("program") / "harm_plain"
    subprocess.run(["gcc", "-D_GNU_SOURCE", "-O1", "-o", target, ROOT / "tests/c/harm_plain.c"], check=True)
    return target


@pytest.fixture(params=["usual", "mpich", "mpiabi"])
def adapter(request: pytest.FixtureRequest) -> Path:
    return library(request.param).adapter


def bare_root(folder: Path, program: Path, libraries: list[Path]) -> Path:
    """Makes a folder with the program as /program, the libraries that it needs, and the profiler's libraries at their
    usual paths.
    """
    needed = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True).stdout)
    for path in [*map(Path, needed), *libraries]:
        target = folder / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    shutil.copy(program, folder / "program")
    return folder


def inside(folder: Path, preload: str) -> subprocess.CompletedProcess[str]:
    def enter() -> None:
        os.chroot(folder)
        os.chdir("/")

    surroundings = {"LD_PRELOAD": preload} if preload else {}
    return subprocess.run(["/program"], env=surroundings, preexec_fn=enter, capture_output=True, text=True, check=False)


def check(done: subprocess.CompletedProcess[str], preload: str) -> None:
    """Fails if there is more than one message besides that of `iolens run` about the log."""
    own = [line for line in done.stderr.splitlines() if "log: " not in line and "no log was written" not in line]
    assert (done.stdout, done.returncode, len(own) <= 1) == ("first 16", 3, True), (preload, done)


@needs_root
def test_every_library_alone_and_in_any_order(program: Path, adapter: Path, tmp_path: Path) -> None:
    libraries = [adapter, *(ROOT / "build/lib" / name for name in OURS)]
    root = bare_root(tmp_path, program, libraries)
    check(inside(root, ""), "")
    for count in range(1, len(libraries) + 1):
        for order in permutations(libraries, count):
            preload = ":".join(map(str, order))
            check(inside(root, preload), preload)
            logs = list(root.glob("*.darshan"))
            assert len(logs) == (ROOT / "build/lib/libiolens.so" in order), preload
            for log in logs:
                assert any(name.endswith("plain.dat") for name in read_log(log).names.values())
                log.unlink()


@needs_root
def test_every_library_of_traced_functions_alone_and_beside_the_core(program: Path, tmp_path: Path) -> None:
    assert len(TRACES) > 10
    core = ROOT / "build/lib/libiolens.so"
    root = bare_root(tmp_path, program, [core, *TRACES])
    for order in [[*pair] for path in TRACES for pair in ((path,), (path, core), (core, path))]:
        preload = ":".join(map(str, order))
        check(inside(root, preload), preload)
        logs = list(root.glob("*.darshan"))
        assert len(logs) == (core in order), preload
        for log in logs:
            log.unlink()


@needs_root
@pytest.mark.parametrize("emulated", [False, True])
def test_a_run_into_a_bare_root(program: Path, emulated: bool, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    root = bare_root(tmp_path / "root", program, [ROOT / "build/lib" / name for name in OURS])
    surroundings = {**os.environ, "LD_PRELOAD": str(ROOT / "build/lib/libost.so")} if emulated else os.environ
    done = subprocess.run(
        [sys.executable, "-m", "iolens.cli.main", "run", "--", "chroot", root, "/program"],
        cwd=tmp_path / "logs",
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )
    check(done, "iolens run")


def test_the_libraries_need_nothing_but_the_c_library(adapter: Path) -> None:
    """If a library needed anything else, it could keep every program of a machine from starting."""
    for path in [adapter, *(ROOT / "build/lib" / name for name in OURS), *TRACES]:
        listing = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        assert set(re.findall(r"NEEDED.*\[(.*)\]", listing)) <= {"libc.so.6", "ld-linux-x86-64.so.2"}
        symbols = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True, text=True, check=True)
        assert not re.findall(r" U iolens_\w+", symbols.stdout)
