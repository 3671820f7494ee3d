"""Starts the checkpoint and restart simulators under mpirun, and computes what their files must hold."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from btio_program import MPI_SETTINGS, ROOT, BtioResult, launch

Field = npt.NDArray[np.float32]
CHECKPOINT = ROOT / "build" / "bin" / "checkpoint_simulator"
RESTART = ROOT / "build" / "bin" / "restart_simulator"


def needs_netcdf() -> pytest.MarkDecorator:
    """Skips the test if the simulators were built without netCDF."""
    made = (ROOT / "build" / "obj" / "workloads" / "libraries.mk").read_text()
    return pytest.mark.skipif("HAVE_NETCDF" not in made, reason="no parallel netCDF for this MPI")


def checkpoint(where: Path, *arguments: str, ranks: int = 6, io: str = "romio321") -> BtioResult:
    return launch(where, [str(CHECKPOINT), *arguments], ranks, io)


def alone(where: Path, *arguments: str) -> BtioResult:
    """Starts the checkpoint simulator as one process without mpirun, which is faster for tests in which it must refuse
    to run.
    """
    settings = os.environ | MPI_SETTINGS
    done = subprocess.run(
        [CHECKPOINT, *arguments], cwd=where, env=settings, capture_output=True, text=True, check=False
    )
    return BtioResult(done.returncode, done.stdout, done.stderr)


def restart(where: Path, *arguments: str, ranks: int = 6, io: str = "romio321") -> BtioResult:
    return launch(where, [str(RESTART), *arguments], ranks, io)


def good(outcome: BtioResult) -> BtioResult:
    assert outcome.status == 0, outcome.text + outcome.errors
    return outcome


def messages(outcome: BtioResult) -> list[str]:
    """Returns the programs' own lines on standard error, without the launcher's."""
    found = re.findall(r"^(?:checkpoint|restart)_simulator: (.*)$", outcome.errors, re.MULTILINE)
    return [str(line) for line in found]


def fields(arrays: int, levels: int, edge: int) -> Field:
    """Returns the values that an array must hold, computed from each cell's number: the upper 24 bits of splitmix64's
    finaliser, over 2^24.
    """
    x = np.arange(arrays * levels * 6 * edge * edge, dtype=np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return ((x >> np.uint64(40)) / 2.0**24).astype(np.float32).reshape(arrays, levels, 6 * edge, edge)


def netcdf_fields(path: Path, shape: tuple[int, int, int, int]) -> Field:
    """Returns all variables (array, level, latitude, longitude), converted by netCDF's nccopy to the classic format,
    whose file ends with them in big-endian order.
    """
    classic = path.with_suffix(".classic")
    subprocess.run(["nccopy", "-k", "classic", path, classic], check=True)
    count = int(np.prod(shape))
    return np.frombuffer(classic.read_bytes()[-4 * count :], dtype=">f4").reshape(shape).astype(np.float32)


def binary_fields(path: Path, shape: tuple[int, int, int, int], record: int) -> Field:
    """Returns all variables (array, level, latitude, longitude) of a file of Fortran records of `record` values, each
    between two counts of bytes.
    """
    words = np.fromfile(path, dtype="<i4").reshape(-1, record + 2)
    assert (words[:, [0, -1]] == 4 * record).all()
    return np.ascontiguousarray(words[:, 1:-1]).view("<f4").reshape(shape)
