"""Tests btio's pattern without the solver: four methods, one layout; witnesses are ncmpidump, numpy and
libdarshan-util.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from pathlib import Path

import darshan
import numpy as np
import pytest
from btio_program import BTIO, COMPONENTS, MPI_SETTINGS, BtioResult, btio, launch, result
from iolens.lab.installation import find_library
from iolens.lab.run.mpi_launch import mpi
from patience import PATIENCE

pytestmark = pytest.mark.mpi

LINKED = subprocess.run(["ldd", BTIO], capture_output=True, text=True, check=False).stdout
needs_pnetcdf = pytest.mark.skipif("libpnetcdf" not in LINKED, reason="btio was built without PnetCDF")
METHODS = [
    pytest.param("0", "btio.mpi", "MPI collective I/O", 1, id="mpi-collective"),
    pytest.param("1", "btio.mpi", "MPI independent I/O", 1, id="mpi-independent"),
    pytest.param("2", "btio.nc", "Parallel netCDF blocking I/O", 0, id="pnetcdf", marks=needs_pnetcdf),
    pytest.param("3", "btio.nc", "Parallel netCDF non-blocking I/O", 1, id="nonblocking", marks=needs_pnetcdf),
]
GRID = (13, 11, 10)
POINTS = GRID[0] * GRID[1] * GRID[2]
DUMPS = 3
HEADERS = (512, 252)
"""Possible numbers of bytes before the data of a netCDF file: newer versions of PnetCDF do not align the data."""
SIZES = ("--grid", ",".join(map(str, GRID)), "--dumps", str(DUMPS))

SCHEMA = f"""netcdf btio {{
// file format: CDF-5 (big variables)
dimensions:
	FIVE_DBL = 5 ;
	X = {GRID[0]} ;
	Y = {GRID[1]} ;
	Z = {GRID[2]} ;
	NUM_DUMPS = UNLIMITED ; // ({DUMPS} currently)
variables:
	double var(NUM_DUMPS, Z, Y, X, FIVE_DBL) ;
}}
"""


def pattern(where: Path, *arguments: str, ranks: int = 1) -> BtioResult:
    outcome = btio(where, *SIZES, *arguments, ranks=ranks)
    assert outcome.status == 0, outcome.text + outcome.errors
    return outcome


def data_of(path: Path) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Returns all values in the order of the file, read without PnetCDF."""
    big_endian = path.suffix == ".nc"
    header = path.stat().st_size - DUMPS * POINTS * COMPONENTS * 8
    assert header in (HEADERS if big_endian else (0,))
    return np.fromfile(path, ">f8" if big_endian else "<f8", offset=header).astype(float)


@pytest.mark.parametrize("ranks", [1, 4, 9])
@pytest.mark.parametrize(("method", "file", "title", "together"), METHODS)
def test_every_method_and_rank_count_writes_the_same_data(
    tmp_path: Path, method: str, file: str, title: str, together: int, ranks: int
) -> None:
    outcome = pattern(tmp_path, "--method", method, "--keep", "--json", "r.json", ranks=ranks)
    assert f"Using {title} method" in outcome.text
    assert np.array_equal(data_of(tmp_path / file), np.arange(DUMPS * POINTS * COMPONENTS, dtype=float))
    found = result(tmp_path / "r.json")
    assert found["verification"] == {"status": "successful", "detail": None}
    assert found["files"][0]["bytes"] == (tmp_path / file).stat().st_size
    calls = 1 if together else round(ranks**0.5)
    for phase, operation in zip(found["phases"], ("write", "read"), strict=True):
        assert (phase["operation"], phase["bytes"]) == (operation, DUMPS * POINTS * COMPONENTS * 8)
        assert phase["calls_per_rank"] == DUMPS * calls
        assert 0 < phase["seconds"]["min"] <= phase["seconds"]["max"]


def calls_seen(where: Path, ranks: int, *arguments: str) -> dict[str, int]:
    """Returns the MPI-IO counters of the data file, summed over the ranks, from the profiler's log."""
    core, adapter = find_library("libiolens.so"), find_library("libiolens-openmpi.so")
    if core is None or adapter is None or mpi.flavour_of_program(BTIO) != "openmpi":
        pytest.skip("btio or the profiler is not built for Open MPI")
    settings = [f"LD_PRELOAD={adapter}:{core}", f"IOLENS_LOGFILE={where}/log.darshan", f"IOLENS_INCLUDE={where}"]
    assert launch(where, ["env", *settings, str(BTIO), *SIZES, *arguments], ranks).status == 0
    report = darshan.DarshanReport(str(where / "log.darshan"), read_all=True)
    names = report.counters["MPI-IO"]["counters"]
    (record,) = [r for r in report.records["MPI-IO"] if "/btio." in report.name_records[r["id"]]]
    return dict(zip(names, map(int, record["counters"]), strict=True))


@pytest.mark.parametrize(
    ("arguments", "kind", "each_dump"),
    [
        pytest.param(["--method", "0"], "COLL", 1, id="mpi-collective"),
        pytest.param(["--method", "1"], "INDEP", 1, id="mpi-independent"),
        pytest.param(["--method", "0", "--per-cell"], "COLL", 2, id="collective-per-cell"),
        pytest.param(["--method", "1", "--per-cell"], "INDEP", 2, id="independent-per-cell"),
        pytest.param(["--method", "2"], "COLL", 2, id="pnetcdf", marks=needs_pnetcdf),
        pytest.param(["--method", "3"], "COLL", 1, id="nonblocking", marks=needs_pnetcdf),
    ],
)
def test_data_calls_per_dump(tmp_path: Path, arguments: list[str], kind: str, each_dump: int) -> None:
    seen = calls_seen(tmp_path, 4, *arguments)
    for verb in ("READS", "WRITES"):
        assert seen[f"MPIIO_{kind}_{verb}"] == 4 * DUMPS * each_dump


@needs_pnetcdf
@pytest.mark.parametrize("method", ["2", "3"])
def test_the_schema_is_the_published_one(tmp_path: Path, method: str) -> None:
    if shutil.which("ncmpidump") is None:
        pytest.skip("ncmpidump is not installed")
    pattern(tmp_path, "--method", method, "--operation", "write", ranks=4)
    shown = subprocess.run(["ncmpidump", "-h", "btio.nc"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout == SCHEMA
    assert (tmp_path / "btio.nc").stat().st_size - DUMPS * POINTS * COMPONENTS * 8 in HEADERS


def five_lines(where: Path, operation: str, method: int) -> None:
    lines = [f"{operation}    # comment", f"{method}", f"{DUMPS}  writes", f"{GRID[0]} {GRID[1]} {GRID[2]}", f"{where}"]
    (where / "inputbt.data").write_text("\n".join(lines) + "\n")


BLOCK = """ Reading from input file inputbt.data
-- BT-IO Benchmark ({0} operation only) --
Number of MPI processes     :         4
Global array size X         :        13
Global array size Y         :        11
Global array size Z         :        10
Number of I/O iterations    :         3
Total I/O amount            :         0.16 MiB
Total I/O time in sec       : T
{1} time in sec : T
{2} time in sec : T
{3} time in sec : T
I/O bandwidth            : T MiB/s
------------------------------------------
Using MPI collective I/O method
output file path         : {4}
file striping count      :         0
file striping size       :         0 bytes
"""


@pytest.mark.parametrize("words", [["inputbt.data"], []])
def test_the_five_line_input_file(tmp_path: Path, words: list[str]) -> None:
    for operation, *times in (
        ("write", "Max file create", "Max write post ", "Max write wait "),
        ("read ", "Max file open  ", "Max read post  ", "Max read wait  "),
    ):
        five_lines(tmp_path, operation[0], 0)
        outcome = btio(tmp_path, *words, ranks=4)
        assert outcome.status == 0, outcome.errors
        expected = BLOCK.format(operation, *times, tmp_path)
        for line, wanted in zip(outcome.text.splitlines(), expected.splitlines(), strict=False):
            head, _, tail = wanted.partition(" T")
            assert line.startswith(head)
            assert line.endswith(tail)
        assert (tmp_path / "btio.mpi").stat().st_size == DUMPS * POINTS * COMPONENTS * 8
    assert "verification             : successful" in outcome.text


ONE_OF_EACH = [pytest.param("1", "btio.mpi", id="mpi"), pytest.param("3", "btio.nc", id="pnetcdf", marks=needs_pnetcdf)]


@pytest.mark.parametrize(("method", "file"), ONE_OF_EACH)
def test_a_changed_value_is_found(tmp_path: Path, method: str, file: str) -> None:
    pattern(tmp_path, "--method", method, "--operation", "write")
    with (tmp_path / file).open("r+b") as data:
        data.seek(-16, 2)
        data.write(b"\1")
    outcome = btio(tmp_path, *SIZES, "--method", method, "--operation", "read")
    assert outcome.status == 1
    assert "unsuccessful: 1 values that were read differ from the written ones" in outcome.text


@pytest.mark.parametrize(("method", "file"), ONE_OF_EACH)
def test_too_few_dumps_in_the_file(tmp_path: Path, method: str, file: str) -> None:
    pattern(tmp_path, "--method", method, "--operation", "write")
    outcome = btio(tmp_path, *SIZES, "--dumps", "4", "--method", method, "--operation", "read", ranks=4)
    assert outcome.status == 1
    assert len(outcome.messages) == 1
    assert file in outcome.messages[0]


def test_a_message_comes_whole(tmp_path: Path) -> None:
    """A message must be one write, so that ranks that fail together do not mix their lines."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    command = [str(BTIO), "--method", "0", "--directory", "absent"]
    environment = {**os.environ, **MPI_SETTINGS}
    done = subprocess.run(command, cwd=tmp_path, stderr=theirs, env=environment, timeout=PATIENCE, check=False)
    ours.setblocking(False)
    said = []
    with contextlib.suppress(BlockingIOError), ours, theirs:
        while True:
            said.append(ours.recv(1 << 16))
    assert done.returncode == 2
    assert [text for text in said if b"btio" in text] == [b"btio: directory absent: No such file or directory\n"]


@pytest.mark.parametrize(("method", "file", "title", "together"), METHODS)
def test_the_pattern_on_a_full_disk(
    tmp_path: Path, small_disk: Path, method: str, file: str, title: str, together: int
) -> None:
    """ROMIO may keep the file locked after a failure, and no rank may wait for the lock."""
    grid = ["--grid", "64,64,64", "--dumps", "2"]
    outcome = btio(tmp_path, *grid, "--method", method, "--directory", str(small_disk), ranks=4)
    assert outcome.status == 1
    assert list(small_disk.iterdir()) == []
    assert all(f"small/{file}" in message for message in outcome.messages)
    assert "MB free" in outcome.messages[0]


@pytest.mark.parametrize(
    ("ranks", "arguments", "words"),
    [
        (2, [], "2 ranks: a square number of ranks is needed"),
        (9, ["--grid", "8,8,8"], "9 ranks are too many for 8 points"),
        (1, ["--operation", "copy"], "--operation copy: unknown"),
        (1, ["--dumps", "0"], "at least one dump"),
        (1, ["--directory", "absent"], "directory absent: No such file"),
        (1, ["--operation", "read", "--directory", "."], "btio.mpi: No such file or directory; write it first"),
    ],
)
def test_bad_pattern_usage(tmp_path: Path, ranks: int, arguments: list[str], words: str) -> None:
    outcome = btio(tmp_path, "--method", "0", *arguments, ranks=ranks)
    assert outcome.status == (1 if "read" in arguments else 2)
    assert len(outcome.messages) == 1
    assert words in outcome.messages[0]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("x\n0\n3\n6 6 6\n.\n", "inputbt.data, line 1: w or r expected"),
        ("w\nfast\n3\n6 6 6\n.\n", "inputbt.data, line 2: a method, 0 to 3, expected"),
        ("w\n7\n3\n6 6 6\n.\n", "method 7: unknown"),
        ("w\n0\n3\n6 6\n.\n", "inputbt.data, line 4: the grid points nx ny nz expected"),
        ("w\n0\n3\n6 6 6\n", "inputbt.data, line 5: a directory expected"),
    ],
)
def test_bad_input_file(tmp_path: Path, lines: str, words: str) -> None:
    (tmp_path / "inputbt.data").write_text(lines)
    outcome = btio(tmp_path, "inputbt.data")
    assert outcome.status == 2
    assert len(outcome.messages) == 1
    assert words in outcome.messages[0]
