"""Mini-apps of real runs: their own log has the counters of the original's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from btio_program import ROOT
from iolens.lab.run import mpi
from iolens.log import Job, read_log
from mimic_runs import differences, mimicked, mini_app, record

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

PROGRAMS = {
    "one file": (4, [*IOR, "-a", "POSIX", "-C"]),
    "a file per rank": (4, [*IOR, "-a", "POSIX", "-F"]),
    "MPI-IO, independent": (4, [*IOR, "-a", "MPIIO"]),
    "MPI-IO, collective": (4, [*IOR, "-a", "MPIIO", "-c"]),
    "MPI-IO, views": (4, [*IOR, "-a", "MPIIO", "-c", "-V"]),
    "BT-IO full": (4, [*BTIO, "--method", "full"]),
    "BT-IO simple": (4, [*BTIO, "--method", "simple"]),
    "BT-IO epio": (4, [*BTIO, "--method", "epio"]),
    "BT-IO fortran": (4, [*BTIO, "--method", "fortran"]),
    "checkpoint": (6, [*CHECKPOINT, "--num_writers", 1]),
    "checkpoint, binary files": (6, [*CHECKPOINT, "--num_writers", 2, "--write_binary", "--split_file"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_log_of_the_mini_app_has_the_counters_of_the_original(name: str, tmp_path: Path) -> None:
    ranks, command = PROGRAMS[name]
    (tmp_path / "original").mkdir()
    original = record(tmp_path / "original", command, ranks)
    assert differences(original, mimicked(original, tmp_path, ranks)) == []


def test_open_mpis_own_mpi_io_is_mimicked_too(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    original = record(tmp_path / "original", [*BTIO, "--method", "full"], 4, io="ompio")
    assert differences(original, mimicked(original, tmp_path, 4, io="ompio")) == []


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
}


@pytest.mark.parametrize("name", PYTHON)
def test_python_programs_are_mimicked(name: str, tmp_path: Path) -> None:
    pytest.importorskip(name)
    (tmp_path / "original").mkdir()
    ranks = 1 if name == "h5py" else 3
    original = record(tmp_path / "original", [sys.executable, "-c", PYTHON[name]], ranks, io="ompio")
    assert differences(original, mimicked(original, tmp_path, ranks, io="ompio")) == []


def test_names_are_kept_on_request_alone(tmp_path: Path) -> None:
    log = record(tmp_path, [*IOR, "-a", "POSIX", "-o", "private-name"], 2)
    mini_app(log, tmp_path / "plain")
    texts = [path.read_text() for path in (tmp_path / "plain").iterdir() if path.suffix]
    assert not any("private-name" in text or str(tmp_path) in text for text in texts)
    mini_app(log, tmp_path / "named", "--names")
    assert '"private-name"' in (tmp_path / "named" / "mimic.c").read_text()
