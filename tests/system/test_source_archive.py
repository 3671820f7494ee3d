"""Tests installing from a source archive with pip: the wheel holds the profiler, or the build ends with a reason."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow

MAKE = f"""#!/bin/sh
for word; do case $word in BUILD=*) build=${{word#BUILD=}} ;; esac; done
mkdir -p "$build/lib" "$build/bin"
cp "{ROOT}"/build/lib/*.so "$build/lib"
for abi in openmpi mpich mpiabi; do touch "$build/lib/libiolens-$abi.so"; done
cp "{ROOT}"/build/bin/* "$build/bin"
"""
"""Stands in for make: copies what was compiled here."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a copy of this folder as a source archive would have it: without what was installed or compiled."""
    folder = tmp_path_factory.mktemp("archive") / "iolens"
    left_out = shutil.ignore_patterns(".git", ".venv", "results", "build", "tests", ".*_cache", "*.egg-info")
    shutil.copytree(ROOT, folder, ignore=left_out)
    return folder


def pip_wheel(source: Path, target: Path, path: str, **settings: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--disable-pip-version-check", "-w", target, source]
    environment = {**os.environ, "PATH": path, **settings}
    return subprocess.run(words, capture_output=True, text=True, env=environment, check=False)


def names_in(folder: Path) -> set[str]:
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_pip_makes_a_wheel_with_the_profiler(source: Path, tmp_path: Path) -> None:
    (tmp_path / "make").write_text(MAKE, encoding="utf-8")
    (tmp_path / "make").chmod(0o755)
    done = pip_wheel(source, tmp_path, f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {f"iolens/parts/{name}" for name in ("lib/libiolens.so", "lib/libost.so", "bin/iolens-recover")} <= names_in(
        tmp_path
    )
    assert "any" not in next(tmp_path.glob("*.whl")).name


def test_without_a_compiler_pip_says_what_is_missing(source: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(sys.executable)
    done = pip_wheel(source, tmp_path, str(tmp_path / "bin"))
    assert done.returncode != 0
    assert "the profiler cannot be compiled without make and cc; install gcc and make" in done.stdout + done.stderr
    assert not list(tmp_path.glob("*.whl"))


def test_a_package_may_add_the_compiled_parts_itself(source: Path, tmp_path: Path) -> None:
    done = pip_wheel(source, tmp_path, os.environ["PATH"], IOLENS_PARTS="separate")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [name for name in names_in(tmp_path) if name.startswith("iolens/parts/")]
    assert next(tmp_path.glob("*.whl")).name.endswith("-none-any.whl")


def test_a_source_archive_has_all_that_the_build_needs(source: Path, tmp_path: Path) -> None:
    words = "import iolens_build, sys; print(iolens_build.build_sdist(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", words, str(tmp_path)],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source / "packaging/backend")},
        capture_output=True,
        text=True,
        check=False,
    )
    if "No module named 'setuptools'" in done.stderr:
        pytest.skip("this Python has no setuptools outside pip's own environments")
    assert done.returncode == 0, done.stderr
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = ("calls/posix.def", "profiler/Makefile", "storage/ost.yaml", "packaging/adapters.sh", "workloads/Makefile")
    assert set(needed) <= names
