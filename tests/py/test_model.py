"""Compares logs with the model of the counters (tests/model)."""

import ctypes.util
import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from iolens.lab.run.mpi_launch import mpi

REPOSITORY = Path(__file__).resolve().parents[2]
HUNT = [sys.executable, REPOSITORY / "tests/model/hunt.py", "--build", REPOSITORY / "build"]
KEPT = sorted((REPOSITORY / "tests/model/kept").glob("*.calls"))
KEPT_RANKS = sorted((REPOSITORY / "tests/model/kept/ranks").glob("*.calls"))
READABLE = sorted((REPOSITORY / "tests/data/iolens").glob("*.darshan"))
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


@pytest.mark.parametrize("more", [[], ["--traces"], ["--striped"]])
def test_random_programs(more: list[str]) -> None:
    hunt("-n", 1000, "--seed", 2, *more)


@pytest.mark.mpi
@pytest.mark.skipif(not OPEN_MPI, reason="the model's programs of several ranks are started by Open MPI's mpirun")
def test_random_programs_of_several_ranks() -> None:
    hunt("-n", 100, "--seed", 2, "--ranks", 4)


@pytest.mark.mpi
@pytest.mark.skipif(not OPEN_MPI, reason="mini-apps are started by Open MPI's mpirun")
def test_mini_apps_of_random_programs() -> None:
    command = [sys.executable, REPOSITORY / "tests/model/hunt_mimic.py", "--build", REPOSITORY / "build", "-n", "50"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(importlib.util.find_spec("h5py") is None, reason="h5py is not installed; `make setup-test` does it")
def test_random_programs_with_hdf5() -> None:
    command = [sys.executable, REPOSITORY / "tests/model/hunt_hdf5.py", "--build", REPOSITORY / "build", "-n", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.mpi
@pytest.mark.skipif(not OPEN_MPI, reason="Debian's PnetCDF is built for Open MPI")
def test_random_programs_with_pnetcdf() -> None:
    if not ctypes.util.find_library("pnetcdf"):
        pytest.skip("PnetCDF is not installed; `make setup-test` does it")
    command = [sys.executable, REPOSITORY / "tests/model/hunt_pnetcdf.py", "--build", REPOSITORY / "build", "-n", "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def differences() -> set[str]:
    """Returns the first column of the manual's table of intended differences from Darshan."""
    text = (REPOSITORY / "profiler/manual/darshan.md").read_text()
    table = text.split("## What differs from Darshan, on purpose")[1].split("\n\n")[1]
    return {row.split("|")[1].strip() for row in table.splitlines()[2:]}


def test_the_model_knows_each_row_of_the_table_of_differences() -> None:
    rules = runpy.run_path(str(REPOSITORY / "tests/model/rules.py"))
    assert differences() == set(rules["MODELLED"].values()) | rules["NOT_MODELLED"].keys()
    code = "".join(path.read_text() for path in (REPOSITORY / "tests/model").glob("*.py"))
    assert set(re.findall(r'ours\("([a-z_ ]+)"\)', code)) == rules["MODELLED"].keys()


@pytest.mark.skipif("DARSHAN_LIB" not in os.environ, reason="DARSHAN_LIB names no Darshan runtime")
def test_darshan_differs_in_nothing_else() -> None:
    hunt("--darshan", "-n", 2000, "--seed", 3)


@pytest.mark.parametrize("log", READABLE, ids=lambda log: log.stem)
def test_the_models_reader_agrees_with_darshan_util(log: Path) -> None:
    from darshan import DarshanReport

    mine = runpy.run_path(str(REPOSITORY / "tests/model/logfile.py"))["read_log"](log)
    report = DarshanReport(str(log), read_all=False)
    compared = 0
    for module in set(report.modules) & {"POSIX", "STDIO", "MPI-IO"}:
        report.mod_read_all_records(module, dtype="numpy")
        records = mine.records[module]
        assert [(r.id, r.rank) for r in records] == [(r["id"], r["rank"]) for r in report.records[module]]
        for own, other in zip(records, report.records[module], strict=True):
            assert own.ints == other["counters"].tolist()
            assert own.doubles == other["fcounters"].tolist()
            assert mine.names[own.id] == report.name_records[own.id]
            compared += 1
    assert compared > 0
