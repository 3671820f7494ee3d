"""Mini-apps of real runs: their own log has the counters of the original's."""

from __future__ import annotations

from pathlib import Path

import pytest
from btio_program import ROOT
from iolens.lab.run import mpi
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


def test_names_are_kept_on_request_alone(tmp_path: Path) -> None:
    log = record(tmp_path, [*IOR, "-a", "POSIX", "-o", "private-name"], 2)
    mini_app(log, tmp_path / "plain")
    texts = [path.read_text() for path in (tmp_path / "plain").iterdir() if path.suffix]
    assert not any("private-name" in text or str(tmp_path) in text for text in texts)
    mini_app(log, tmp_path / "named", "--names")
    assert '"private-name"' in (tmp_path / "named" / "mimic.c").read_text()
