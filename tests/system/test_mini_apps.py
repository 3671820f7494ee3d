"""Tests mini-apps of real runs: the log of a mini-app has the counters of the original's log."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from btio_program import ROOT
from iolens.cli.main import main
from iolens.lab.mimic.calls import CallKind
from iolens.lab.mimic.phases import step_waits
from iolens.lab.mimic.trace import read_trace
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.record import read_record
from iolens.log import Job, read_log
from mimic_runs import differences, mimicked, mini_app, record
from own_words import BUSY

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(
        mpi.flavour_of_launcher("mpirun") != "openmpi", reason="the programs are started by Open MPI's mpirun"
    ),
]

BUILD = ROOT / "build" / "bin"
IOR = [BUILD / "ior", "-w", "-r", "-b", "256k", "-t", "64k", "-s", "3", "-o", "data"]
BTIO = [BUILD / "btio", "--class", "S", "--io-only"]
CHECKPOINT = [BUILD / "checkpoint_simulator", "--nx", 1, "--ny", 1, "--im_world", 24, "--lm", 6, "--ntrials", 2]

LLNLS_IOR = os.environ.get("LLNL_IOR", "")
"""The program of LLNL's IOR, which takes the options of the bundled one."""

NEEDS_LLNLS_IOR = pytest.mark.skipif(not LLNLS_IOR, reason="LLNL_IOR does not name the program of LLNL's IOR")

PROGRAMS = {
    "one file": (4, [*IOR, "-a", "POSIX", "-C"]),
    "a file per rank": (4, [*IOR, "-a", "POSIX", "-F"]),
    "MPI-IO, independent": (4, [*IOR, "-a", "MPIIO"]),
    "MPI-IO, collective": (4, [*IOR, "-a", "MPIIO", "-c"]),
    "MPI-IO, rounds": (2, [*IOR, "-a", "MPIIO", "-c", "-i", 2]),
    "MPI-IO, rounds on one file": (2, [*IOR, "-a", "MPIIO", "-c", "-V", "-i", 3, "-k"]),
    "MPI-IO, views": (4, [*IOR, "-a", "MPIIO", "-c", "-V"]),
    "BT-IO full": (4, [*BTIO, "--method", "full"]),
    "BT-IO simple": (4, [*BTIO, "--method", "simple"]),
    "BT-IO epio": (4, [*BTIO, "--method", "epio"]),
    "BT-IO fortran": (4, [*BTIO, "--method", "fortran"]),
    "many empty files": (4, [BUILD / "metadata", "-n", 3]),
    "many small files": (4, [BUILD / "metadata", "-n", 3, "-w", 3901, "-e", 3901]),
    "checkpoint": (6, [*CHECKPOINT, "--num_writers", 1]),
    "checkpoint, binary files": (6, [*CHECKPOINT, "--num_writers", 2, "--write_binary", "--split_file"]),
}
LLNLS = {
    f"LLNL's IOR, {' '.join(options)}": (4, [LLNLS_IOR, *IOR[1:], *options])
    for options in (["-a", "POSIX", "-C"], ["-a", "POSIX", "-F"], ["-a", "MPIIO"], ["-a", "MPIIO", "-c"])
}


@pytest.mark.parametrize("name", [*PROGRAMS, *(pytest.param(name, marks=NEEDS_LLNLS_IOR) for name in LLNLS)])
def test_the_log_of_the_mini_app_has_the_counters_of_the_original(name: str, tmp_path: Path) -> None:
    ranks, command = {**PROGRAMS, **LLNLS}[name]
    (tmp_path / "original").mkdir()
    original = record(tmp_path / "original", command, ranks)
    assert differences(original, mimicked(original, tmp_path, ranks)) == []


@pytest.mark.skipif(shutil.which("pnetcdf-config") is None, reason="PnetCDF is not installed")
def test_the_mini_app_of_a_pnetcdf_program_makes_the_same_calls(tmp_path: Path) -> None:
    """PnetCDF has file types with pieces beyond their extent, a rank has two handles on a file, and a header is read
    with more bytes than the file has. The log tells what this read returned, so that its attempt to read on is missing.
    """
    program = tmp_path / "pnetcdf_calls"
    words = ["mpicc", "-std=gnu11", "-o", program, ROOT / "tests" / "c" / "pnetcdf_calls.c", "-lpnetcdf"]
    subprocess.run([*map(str, words)], check=True)
    (tmp_path / "original").mkdir()
    original = record(tmp_path / "original", [program, "."], 2)
    (found,) = differences(original, mimicked(original, tmp_path, 2, "--no-wait"))
    missing = re.findall(r"\('POSIX_(\w+)', (\d+), (\d+)\)", found)
    assert {name for name, *_ in missing} <= {
        "READS",
        "CONSEC_READS",
        "SEQ_READS",
        "FILE_NOT_ALIGNED",
        "SIZE_READ_0_100",
    }
    assert all(int(one) == int(other) + 1 for _, one, other in missing), found


@pytest.mark.parametrize(
    "options",
    [
        ["-a", "POSIX", "-w", "-r", "-e", "-b", "256k", "-t", "64k", "-s", "3"],
        ["-a", "POSIX", "-w", "-r", "-F", "-b", "128k", "-t", "32k", "-s", "2"],
        ["-a", "MPIIO", "-w", "-b", "64k", "-t", "64k", "-s", "5"],
        ["-a", "MPIIO", "-c", "-w", "-r", "-b", "128k", "-t", "64k"],
    ],
)
def test_the_command_line_of_ior_in_the_readme_makes_the_same_transfers(options: list[str], tmp_path: Path) -> None:
    for name in ("original", "again"):
        (tmp_path / name).mkdir()
    original = record(tmp_path / "original", [BUILD / "ior", *options, "-o", "data"], 4)
    assert main(["mimic", str(original), "-o", str(tmp_path / "mini")]) == 0
    found = re.search(r"^mpirun -np 4 ior (.*)$", (tmp_path / "mini" / "README.md").read_text(), re.MULTILINE)
    assert found is not None
    again = record(tmp_path / "again", [BUILD / "ior", *found[1].split()], 4)
    assert differences(original, again) == []


METADATA_OPTIONS = [
    ["-n", "5", "-w", "3901", "-e", "3901"],
    ["-n", "4", "-u"],
    ["-n", "3", "-N", "2", "-w", "10", "-y", "-C", "-T"],
    ["-n", "3", "-N", "4", "-w", "10", "-C", "-r"],
]


@pytest.mark.parametrize("options", METADATA_OPTIONS)
def test_the_command_line_of_mdtest_in_the_readme_makes_the_same_calls(options: list[str], tmp_path: Path) -> None:
    for name in ("original", "again"):
        (tmp_path / name).mkdir()
    original = record(tmp_path / "original", [BUILD / "metadata", *options, "-d", "."], 4)
    assert main(["mimic", str(original), "-o", str(tmp_path / "mini")]) == 0
    found = re.search(r"^mpirun -np 4 mdtest -F (.*) -d DATA$", (tmp_path / "mini" / "README.md").read_text(), re.M)
    assert found is not None
    plain = [] if "-N" in found[1] else ["-N", "4"]  # The default of mdtest is no shift, that of metadata is 1.
    again = record(tmp_path / "again", [BUILD / "metadata", *found[1].split(), *plain, "-d", "."], 4)
    assert differences(original, again) == []


def test_time_that_the_mini_app_uses_itself_shortens_its_waits(tmp_path: Path) -> None:
    log = record(tmp_path, [BUILD / "ior", "-w", "-r", "-b", "64k", "-t", "16k", "-d", "1", "-o", "data"], 1)
    calls = read_trace(read_log(log))
    recorded = float(step_waits(calls.calls, calls.begins).sum())
    mini_app(log, tmp_path / "mini")
    (tmp_path / "clock.h").write_text(SLOW_CLOCK)
    words = ["-D_GNU_SOURCE", "-include", tmp_path / "clock.h", "-o", tmp_path / "slow", tmp_path / "mini" / "mimic.c"]
    subprocess.run(["mpicc", *words, "-ldl"], check=True)
    settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run([tmp_path / "slow"], cwd=tmp_path, env=os.environ | settings, capture_output=True, check=True)
    slept = float(done.stderr)
    assert recorded > 1
    assert recorded - 0.6 < slept < recorded - 0.1


SLOW_CLOCK = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double passed, slept;
static void say(void) { fprintf(stderr, "%f", slept); }
static int slow_time(clockid_t clock, struct timespec *time)
{
    (void)clock;
    if (passed == 0) atexit(say);
    passed += 0.01;
    time->tv_sec = (time_t)passed;
    time->tv_nsec = (long)((passed - (double)time->tv_sec) * 1e9);
    return 0;
}
static int note_sleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    double seconds = (double)time->tv_sec + 1e-9 * (double)time->tv_nsec;
    passed += seconds;
    slept += seconds;
    return 0;
}
#define clock_gettime slow_time
#define nanosleep note_sleep
"""
"""A clock that advances 10 ms each time it is read, and by each sleep; the sum of the sleeps is printed at exit."""


@pytest.mark.parametrize("name", ["MPI-IO, views", "BT-IO full", "many small files"])
def test_a_pattern_that_ior_does_not_have_gets_no_command_line_of_ior(name: str, tmp_path: Path) -> None:
    ranks, command = PROGRAMS[name]
    log = record(tmp_path, command, ranks)
    assert main(["mimic", str(log), "-o", str(tmp_path / "mini")]) == 0
    assert "pattern of IOR" not in (tmp_path / "mini" / "README.md").read_text()


def test_open_mpis_own_mpi_io_is_mimicked_too(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    original = record(tmp_path / "original", [*BTIO, "--method", "full"], 4, io="ompio")
    assert differences(original, mimicked(original, tmp_path, 4, io="ompio")) == []


def test_views_with_hints_are_set_by_all_ranks_together(tmp_path: Path) -> None:
    """The log counts four openings and views with hints; ROMIO broadcasts the hints of a view, so ranks must agree."""
    (tmp_path / "original").mkdir()
    program = tmp_path / "mpi_view_hints"
    subprocess.run(["mpicc", "-o", program, ROOT / "tests/c/mpi_view_hints.c"], check=True)
    original = record(tmp_path / "original", [program], 2)
    trace = read_trace(read_log(original))
    views = trace.calls[trace.calls.kind == CallKind.MPI_VIEW]
    assert sorted(views.rank[views.offset == 1].tolist()) == [0, 1]
    assert differences(original, mimicked(original, tmp_path, 2)) == []


def test_exchanges_between_ranks_are_made_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    options = ("--dxt", "--why", "--trace", "mpi")
    original = record(tmp_path / "original", [*IOR, "-a", "POSIX", "-C"], 4, options)
    mini_app(original, tmp_path / "mini")
    again = record(tmp_path, [tmp_path / "mini" / "mimic"], 4, options)
    assert differences(original, again) == []
    assert (tmp_path / "data").is_dir()
    names = ("MPI_Allreduce", "MPI_Bcast", "MPI_Allgather")
    for name in names:
        made, mine = (exchanges(read_log(log), name) for log in (original, again))
        assert made == mine != []


def exchanges(job: Job, name: str) -> list[tuple[int, int]]:
    """Returns rank and bytes of each call of a function on MPI_COMM_WORLD's ranks, in the order of ranks and times."""
    table = job.private["why_events"]
    mine = table[table["function"].astype(str) == name]
    return [*zip(mine["rank"].tolist(), mine["bytes"].tolist(), strict=True)]


PYTHON = {
    "h5py": """
import h5py, numpy
with h5py.File("a.h5", "w") as file:
    file.create_dataset("x", data=numpy.arange(10000, dtype="f8"))
    chunked = file.create_dataset("z", (40, 60), chunks=(10, 30), dtype="f4")
    for row in range(40):
        chunked[row] = row
with h5py.File("a.h5", "r") as file:
    print(file["x"][10:20].sum(), file["z"][5:40:7].sum())
""",
    "mpi4py": """
import numpy
from mpi4py import MPI
world = MPI.COMM_WORLD
block = numpy.full(1024, world.rank, dtype="b")
file = MPI.File.Open(world, "shared.dat", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(world.rank * 1024, block)
file.Sync()
world.Barrier()
file.Read_at((world.size - 1 - world.rank) * 1024, block)
for turn in range(9):
    file.Iwrite_at(65536 + (turn * world.size + world.rank) * 1024, block).Wait()
file.Close()
""",
    "mpi4py, written and read back": """
import numpy
from mpi4py import MPI
world = MPI.COMM_WORLD
block = numpy.full(1024, world.rank, dtype="b")
file = MPI.File.Open(world, "shared.dat", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_size(0)
file.Write_at(world.rank * 1024, block)
file.Close()
file = MPI.File.Open(world, "shared.dat", MPI.MODE_RDONLY)
file.Read_at((world.size - 1 - world.rank) * 1024, block)
file.Close()
""",
}


@pytest.mark.parametrize("name", PYTHON)
def test_python_programs_are_mimicked(name: str, tmp_path: Path) -> None:
    pytest.importorskip(name.partition(",")[0])
    (tmp_path / "original").mkdir()
    ranks = 1 if name == "h5py" else 3
    original = record(tmp_path / "original", [sys.executable, "-c", PYTHON[name]], ranks, io="ompio")
    assert differences(original, mimicked(original, tmp_path, ranks, io="ompio")) == []


DESCRIPTORS = """
import ctypes, os
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
stream = library.fopen(b"data", b"w+")
first = os.open("data", os.O_RDWR)
os.pwrite(first, b"x" * 100, 1000)
number = library.fileno(ctypes.c_void_p(stream))
os.pwrite(first, b"x" * 10, 500)
copy = os.dup(first)
os.fdatasync(copy)
os.pwrite(copy, b"x" * 10, 700)
os.fsync(copy)
os.close(copy)
os.close(first)
"""


def test_descriptors_of_an_open_file_are_repeated_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    original = record(tmp_path / "original", [sys.executable, "-c", DESCRIPTORS], 1)
    trace = read_trace(read_log(original))
    (number,) = (place for place, file in enumerate(trace.files) if file.name.endswith("/data"))
    kinds = [CallKind(kind).name for kind in trace.calls.kind[trace.calls.file == number]]
    below = [kind for kind in kinds if not kind.startswith("STREAM")]
    assert below == "OPEN WRITE FILENO WRITE DUP FDATASYNC WRITE FSYNC CLOSE CLOSE".split()
    assert differences(original, mimicked(original, tmp_path, 1)) == []


def test_names_are_kept_on_request_alone(tmp_path: Path) -> None:
    log = record(tmp_path, [*IOR, "-a", "POSIX", "-o", "private-name"], 2)
    mini_app(log, tmp_path / "plain")
    texts = [path.read_text() for path in (tmp_path / "plain").iterdir() if path.suffix]
    assert not any("private-name" in text or str(tmp_path) in text for text in texts)
    mini_app(log, tmp_path / "named", "--names")
    assert '"private-name"' in (tmp_path / "named" / "mimic.c").read_text()


@pytest.mark.parametrize(
    "ior", [BUILD / "ior", pytest.param(LLNLS_IOR, marks=NEEDS_LLNLS_IOR)], ids=["bundled IOR", "LLNL's IOR"]
)
def test_settings_are_found_from_a_log_without_the_program(
    ior: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = Path(shutil.copy(ior, tmp_path / "gone"))
    options = ["-a", "MPIIO", "-c", "-w", "-b", "1m", "-t", "1m", "-s", "4", "-o", "data"]
    log = record(tmp_path, [program, *options], 2)
    program.unlink()
    monkeypatch.chdir(tmp_path)
    stripes = "name: wide\nworkload: {log: run.darshan}\nmatrix: {stripe_count: [1, 4]}\nrepetitions: 1\nconfirm: 0\n"
    (tmp_path / "wide.yaml").write_text(stripes)
    assert main(["sweep", "wide.yaml", "--no-report"]) == 0
    app = tmp_path / "results" / "wide" / "mini-app" / "mimic"
    built = app.stat().st_mtime_ns
    assert "building the mini-app" in capsys.readouterr().err
    assert main(["sweep", "wide.yaml", "--no-report"]) == 0
    assert app.stat().st_mtime_ns == built
    for count in (1, 4):
        folder = tmp_path / "results" / "wide" / "points" / f"sc{count}" / "rep-1"
        run = read_record(folder)
        assert run
        if run.reason == BUSY:
            pytest.skip(BUSY)
        assert (run.status, run.requested["stripe_count"], str(app) in run.command) == ("ok", count, True)
        assert run.storage["bytes_written"] == 8 * 2**20
        [phase] = json.loads((folder / "result.json").read_text())["phases"]
        assert (phase["operation"], phase["bytes"]) == ("write", 8 * 2**20)
        assert 0 < phase["seconds"]["max"] < run.seconds
    assert main(["tune", "--log", str(log), "--budget", "2"]) == 0
    assert "sc4_ag2/rep-1" in capsys.readouterr().out
    stripes = (tmp_path / "results" / "run" / "stripes.sh").read_text()
    hints = (tmp_path / "results" / "run" / "hints.txt").read_text()
    assert re.fullmatch(
        r"lfs setstripe -c \d -S 1M DIRECTORY\n", stripes
    )  # On a busy machine, few stripes and few aggregators may be the best setting.
    assert re.match(r"cb_nodes \d\n", hints)


def test_a_log_without_transfers_gives_no_workload(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = record(tmp_path, [*IOR, "-a", "POSIX"], 1, options=())
    results = tmp_path / "results"
    assert main(["sweep", "--log", str(log), "--results", str(results)]) == 1
    assert "record the run with iolens run --dxt" in capsys.readouterr().err
    assert main(["tune", "--log", str(tmp_path / "none.darshan"), "--results", str(results)]) == 2
    assert not results.exists()
