"""HDF5 files and datasets in the log, held to a program that says what it must hold; libdarshan-util reads it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import darshan
import pytest
from iolens.lab.run import mpi
from iolens.log import read_log
from mpi_library import FLAVOUR, PRELOAD
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "c" / "hdf5_calls.c"
LIBRARIES = ROOT / "build" / "obj" / "workloads" / "libraries.mk"

pytestmark = pytest.mark.mpi


def built(target: Path, *flags: str) -> Path:
    """The test program, or the same as a library whose main is called `run`."""
    lines = LIBRARIES.read_text().splitlines()
    made = {name: value.split() for name, _, value in (line.partition(" = ") for line in lines)}
    if "HAVE_HDF5" not in made:
        pytest.skip("no parallel HDF5 for this MPI")
    found = [*made["CFLAGS_HDF5"], *made["LIBS_HDF5"]]
    subprocess.run(["mpicc", "-std=gnu11", *flags, "-o", target, SOURCE, *found], check=True)
    return target


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("hdf5") / "hdf5_calls")


def profiled(folder: Path, ranks: int, *words: object) -> str:
    """Run under the profiler; what the program printed."""
    environment = {**os.environ, **mpi.environment(FLAVOUR, 64, "romio321")}
    inner = ["env", f"LD_PRELOAD={PRELOAD}", f"IOLENS_LOGFILE={folder}/log.darshan", f"IOLENS_INCLUDE={folder}"]
    command = [mpi.find_launcher(FLAVOUR), "-np", str(ranks), *inner, *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def held_to(folder: Path, expected: str) -> darshan.DarshanReport:
    """Every line of the program against the record that libdarshan-util reads."""
    report = darshan.DarshanReport(str(folder / "log.darshan"), read_all=True)
    found = {
        (module, report.name_records[record["id"]].removeprefix(str(folder))): dict(
            zip(report.counters[module]["counters"], map(int, record["counters"]), strict=True)
        )
        for module in ("H5F", "H5D")
        for record in report.records[module]
    }
    lines = [line.split() for line in expected.splitlines()]
    assert len(lines) > 30
    assert {(m, n, c): found[m, n][c] for n, m, c, _ in lines} == {(m, n, c): int(v) for n, m, c, v in lines}
    return report


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_call_of_hdf5_is_counted(program: Path, tmp_path: Path, ranks: int) -> None:
    report = held_to(tmp_path, profiled(tmp_path, ranks, program, tmp_path))
    names = {name.removeprefix(str(tmp_path)): record for record, name in report.name_records.items()}
    datasets = {record["id"]: record for record in report.records["H5D"]}
    shared = datasets[names["/shared.h5:/group/field"]]
    assert shared["rank"] == -1
    assert shared["file_rec_id"] == names["/shared.h5"]
    times = dict(zip(report.counters["H5D"]["fcounters"], shared["fcounters"], strict=True))
    assert 0 < times["H5D_F_MAX_WRITE_TIME"] <= times["H5D_F_WRITE_TIME"]
    assert times["H5D_F_WRITE_START_TIMESTAMP"] < times["H5D_F_WRITE_END_TIMESTAMP"]


def test_our_reader_has_the_same_numbers(program: Path, tmp_path: Path) -> None:
    expected = profiled(tmp_path, 1, program, tmp_path)
    log = read_log(tmp_path / "log.darshan")
    for line in expected.splitlines():
        name, module, counter, value = line.split()
        frame = log.frames[module]
        rows = frame[frame["id"].map(log.names).str.endswith(name)]
        assert list(rows[counter]) == [int(value)]


def test_a_library_that_python_loads_privately(tmp_path: Path) -> None:
    """In h5py, HDF5 is loaded by an extension module, where a plain dlsym does not find it."""
    if shutil.which("mpicc") is None:
        pytest.skip("mpicc is not installed")
    plugin = built(tmp_path / "plugin.so", "-shared", "-fPIC", "-Dmain=run")
    words = (
        "import ctypes, sys; a = [w.encode() for w in ('plugin', sys.argv[2])];"
        "sys.exit(ctypes.CDLL(sys.argv[1]).run(2, (ctypes.c_char_p * 3)(*a, None)))"
    )
    held_to(tmp_path, profiled(tmp_path, 1, sys.executable, "-c", words, plugin, tmp_path))
