"""A checkpoint's files hold the same data for any number of writers and ranks, and a restart finds wrong data."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from checkpoint_program import binary_fields, checkpoint, fields, good, messages, needs_netcdf, netcdf_fields, restart

pytestmark = pytest.mark.mpi

ARRAYS, LEVELS, EDGE = 2, 3, 8
SHAPE = (ARRAYS, LEVELS, 6 * EDGE, EDGE)
PROBLEM = ["--im_world", str(EDGE), "--lm", str(LEVELS), "--num_arrays", str(ARRAYS), "--ntrials", "1"]
SMALL = ["--nx", "1", "--ny", "1", *PROBLEM]


@needs_netcdf()
@pytest.mark.parametrize(
    ("arguments", "io"),
    [
        (["--num_writers", "1"], "romio321"),
        (["--num_writers", "6", "--no_chunking"], "ompio"),
        (["--num_writers", "2", "--gather_3d", "--write_barrier"], "romio321"),
        (["--num_writers", "3", "--collective", "--original_hints", "--extra_info"], "romio321"),
    ],
)
def test_a_shared_file_is_the_same_by_any_writers(tmp_path: Path, arguments: list[str], io: str) -> None:
    done = good(checkpoint(tmp_path, *SMALL, *arguments, "--check", io=io))
    assert "Verification: successful" in done.text
    assert np.array_equal(netcdf_fields(tmp_path / "checkpoint.nc4", SHAPE), fields(*SHAPE[:2], EDGE))


@needs_netcdf()
def test_split_files_hold_the_rows_that_their_writers_have(tmp_path: Path) -> None:
    """Two ranks have 4 and 3 rows of 7 cells, which cannot be divided into 12 equal files of 42 / 12 rows."""
    edge, names = 7, [f"checkpoint_{number:03d}.nc4" for number in range(12)]
    problem = ["--nx", "1", "--ny", "2", "--im_world", "7", *PROBLEM[2:], "--split_file"]
    good(checkpoint(tmp_path, *problem, "--num_writers", "12", ranks=12))
    rows = [4, 3] * 6
    parts = [
        netcdf_fields(tmp_path / name, (ARRAYS, LEVELS, count, edge)) for name, count in zip(names, rows, strict=True)
    ]
    assert np.array_equal(np.concatenate(parts, axis=2), fields(ARRAYS, LEVELS, edge))
    done = good(restart(tmp_path, *problem, "--num_readers", "12", "--remove", ranks=12))
    assert "Verification: successful" in done.text
    assert not list(tmp_path.glob("*.nc4"))


@needs_netcdf()
def test_a_restart_on_other_ranks_reads_the_same_values(tmp_path: Path) -> None:
    good(checkpoint(tmp_path, "--nx", "2", "--ny", "1", *PROBLEM, "--num_writers", "6", ranks=12))
    for arguments in (["--num_readers", "1"], ["--num_readers", "3", "--scatter_3d", "--read_barrier"]):
        done = good(restart(tmp_path, *SMALL, *arguments))
        assert "Verification: successful" in done.text


HEADER = """netcdf checkpoint {
dimensions:
	lon = 8 ;
	lat = 48 ;
	lev = 3 ;
variables:
	float VAR001(lev, lat, lon) ;
	float VAR002(lev, lat, lon) ;
}
"""


def ncdump(path: Path, *arguments: str) -> str:
    return subprocess.run(["ncdump", *arguments, path], capture_output=True, text=True, check=True).stdout


@needs_netcdf()
@pytest.mark.parametrize(("arguments", "chunk"), [([], "1, 24, 8"), (["--gather_3d"], "3, 24, 8")])
def test_header_and_chunks_are_the_originals(tmp_path: Path, arguments: list[str], chunk: str) -> None:
    good(checkpoint(tmp_path, *SMALL, "--num_writers", "2", *arguments))
    assert ncdump(tmp_path / "checkpoint.nc4", "-h") == HEADER
    special = ncdump(tmp_path / "checkpoint.nc4", "-h", "-s")
    assert special.count(f":_ChunkSizes = {chunk} ;") == special.count(':_NoFill = "true" ;') == ARRAYS


@pytest.mark.parametrize("whole", [False, True])
def test_binary_files_are_one_writers_fortran_records(tmp_path: Path, whole: bool) -> None:
    record = 6 * EDGE * EDGE * (LEVELS if whole else 1)
    gather, scatter = (["--gather_3d"], ["--scatter_3d"]) if whole else ([], [])
    for writers in ("1", "3"):
        good(checkpoint(tmp_path, *SMALL, "--write_binary", *gather, "--num_writers", writers))
        found = binary_fields(tmp_path / "checkpoint.bin", SHAPE, record)
        assert np.array_equal(found, fields(*SHAPE[:2], EDGE))
    done = good(restart(tmp_path, *SMALL, "--read_binary", *scatter, "--num_readers", "2"))
    assert "Verification: successful" in done.text


def test_a_wrong_value_is_found_with_its_place(tmp_path: Path) -> None:
    good(checkpoint(tmp_path, *SMALL, "--write_binary"))
    record = 4 * 6 * EDGE * EDGE + 8
    with (tmp_path / "checkpoint.bin").open("r+b") as file:
        file.seek(4 * record + 4 + 4 * (10 * EDGE + 5))
        file.write(np.float32(2.5).tobytes())
    done = restart(tmp_path, *SMALL, "--read_binary")
    assert done.status == 1
    assert (
        "Verification: unsuccessful (1 wrong values; the first: VAR002(level 2, lat 11, lon 6) is 2.5, not" in done.text
    )


def test_static_data_is_the_number_of_the_rank(tmp_path: Path) -> None:
    good(checkpoint(tmp_path, *SMALL, "--write_binary", "--static_data"))
    found = binary_fields(tmp_path / "checkpoint.bin", SHAPE, 6 * EDGE * EDGE)
    assert (found == np.repeat(np.arange(6, dtype=np.float32), EDGE)[:, None]).all()
    good(restart(tmp_path, *SMALL, "--read_binary", "--static_data"))
    done = restart(tmp_path, *SMALL, "--read_binary")
    assert (done.status, messages(done)) == (1, [])
