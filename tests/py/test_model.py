"""The log against the model of the counters (tests/model)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.lab.run import mpi

REPOSITORY = Path(__file__).resolve().parents[2]
HUNT = [sys.executable, REPOSITORY / "tests/model/hunt.py", "--build", REPOSITORY / "build"]
KEPT = sorted((REPOSITORY / "tests/model/kept").glob("*.calls"))
KEPT_RANKS = sorted((REPOSITORY / "tests/model/kept/ranks").glob("*.calls"))
OPEN_MPI = mpi.flavour_of_launcher("mpirun") == "openmpi"


def hunt(*words: object, env: dict[str, str] | None = None) -> None:
    command = [str(word) for word in (*HUNT, *words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})
    assert done.returncode == 0, done.stdout + done.stderr


def test_programs_that_once_failed() -> None:
    assert KEPT
    hunt("--replay", *KEPT)


@pytest.mark.mpi
@pytest.mark.skipif(not OPEN_MPI, reason="the model's programs of several ranks are started by Open MPI's mpirun")
def test_programs_of_several_ranks_that_once_failed() -> None:
    assert KEPT_RANKS
    hunt("--ranks", 4, "--replay", *KEPT_RANKS)


@pytest.mark.parametrize("more", [[], ["--traces"]])
def test_random_programs(more: list[str]) -> None:
    hunt("-n", 3000, "--seed", 2, *more)


@pytest.mark.mpi
@pytest.mark.skipif(not OPEN_MPI, reason="the model's programs of several ranks are started by Open MPI's mpirun")
def test_random_programs_of_several_ranks() -> None:
    hunt("-n", 200, "--seed", 2, "--ranks", 4)
