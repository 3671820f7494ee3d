"""Tests the log of all ranks: which records are merged, the values of merged records, and the table of ranks."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import profiler_harness as harness
import pytest
from iolens.lab.run.mpi_launch import openmpi
from patience import PATIENCE

RANKS = 4
BYTES = [1000 * (rank + 1) for rank in range(RANKS)]

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the log of posix_ranks with four ranks."""
    harness.build_library()
    adapters = sorted(harness.LIBRARY.parent.glob("libiolens-openmpi.so"))
    if not (shutil.which("mpicc") and shutil.which("mpirun") and adapters):
        pytest.skip("Open MPI is not installed")
    folder = tmp_path_factory.mktemp("ranks")
    program = folder / "posix_ranks"
    source = harness.ROOT / "tests/c/posix_ranks.c"
    subprocess.run(["mpicc", "-D_GNU_SOURCE", "-w", "-o", program, source], check=True)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("IOLENS_", "DARSHAN_"))}
    env |= openmpi.openmpi_variables(["as root"], None)
    env |= {"OMPI_MCA_mpi_yield_when_idle": "1", "IOLENS_INCLUDE": str(folder)}
    command = ["mpirun", "--oversubscribe", "-np", str(RANKS), "-x", f"LD_PRELOAD={adapters[0]}:{harness.LIBRARY}"]
    result = subprocess.run(
        [*command, str(program)], cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == 5, result.stderr
    assert "iolens:" not in result.stderr
    (found,) = folder.glob("*.darshan*")
    return found


def records(log: Path, name: str) -> tuple[list[dict[str, int]], list[dict[str, float]]]:
    """Returns integer and double counters of all POSIX records of one file."""
    report = harness.read_log(log)
    (record_id,) = [key for key, path in report.name_records.items() if path.endswith(f"/{name}")]
    found = []
    for kind in ("counters", "fcounters"):
        frame = report.records["POSIX"].to_df()[kind]
        found.append(frame[frame["id"] == record_id].to_dict("records"))
    return found[0], found[1]


def test_a_file_of_all_ranks_is_one_record(log: Path) -> None:
    (ints,), (doubles,) = records(log, "all.dat")
    assert ints["rank"] == -1
    assert ints["POSIX_OPENS"] == ints["POSIX_WRITES"] == RANKS
    assert ints["POSIX_BYTES_WRITTEN"] == sum(BYTES)
    assert ints["POSIX_MAX_BYTE_WRITTEN"] == 4096 * (RANKS - 1) + BYTES[-1] - 1
    assert ints["POSIX_SEQ_WRITES"] == RANKS - 1
    assert (ints["POSIX_SIZE_WRITE_100_1K"], ints["POSIX_SIZE_WRITE_1K_10K"]) == (1, RANKS - 1)
    assert [ints[f"POSIX_ACCESS{i}_ACCESS"] for i in range(1, 5)] == BYTES[::-1]
    assert [ints[f"POSIX_ACCESS{i}_COUNT"] for i in range(1, 5)] == [1] * 4
    assert ints["POSIX_FASTEST_RANK_BYTES"] == BYTES[ints["POSIX_FASTEST_RANK"]]
    assert ints["POSIX_SLOWEST_RANK_BYTES"] == BYTES[ints["POSIX_SLOWEST_RANK"]]
    assert 0 < doubles["POSIX_F_FASTEST_RANK_TIME"] <= doubles["POSIX_F_SLOWEST_RANK_TIME"]
    assert doubles["POSIX_F_VARIANCE_RANK_BYTES"] == pytest.approx(statistics.pvariance(BYTES))


def test_the_variance_of_time_lies_between_its_bounds(log: Path) -> None:
    """The two extremes alone bound the variance over ranks from below; a quarter of their squared distance bounds it
    from above.
    """
    _, (doubles,) = records(log, "all.dat")
    spread = doubles["POSIX_F_SLOWEST_RANK_TIME"] - doubles["POSIX_F_FASTEST_RANK_TIME"]
    assert spread**2 / (2 * RANKS) * 0.999 <= doubles["POSIX_F_VARIANCE_RANK_TIME"] <= spread**2 / 4 * 1.001


def test_a_file_of_some_ranks_stays_per_rank(log: Path) -> None:
    ints, doubles = records(log, "some.dat")
    assert sorted((one["rank"], one["POSIX_BYTES_WRITTEN"]) for one in ints) == [(0, 10), (1, 10)]
    assert all(one["POSIX_F_VARIANCE_RANK_BYTES"] == 0 for one in doubles)


def test_a_file_of_one_rank_names_it(log: Path) -> None:
    for rank in range(RANKS):
        (ints,), _ = records(log, f"rank{rank}.dat")
        assert (ints["rank"], ints["POSIX_BYTES_WRITTEN"]) == (rank, 1)


def test_job(log: Path) -> None:
    job = harness.read_log(log).metadata["job"]
    assert job["nprocs"] == RANKS
    own = harness.private_region(log, "job")
    assert len(own["rank_host"]) == RANKS
    assert own["mpi"].startswith("Open MPI")
    assert not any(name.startswith("OMPI_MCA_orte_") for name in own["environment"])


def test_file_ranks_tells_the_ranks_apart(log: Path) -> None:
    table = private_table(log, "file_ranks")
    names = harness.read_log(log).name_records
    rows = {
        (Path(names[int(file)]).name, int(rank)): (int(size), int(common), int(times))
        for file, rank, size, common, times in zip(
            *(table[key] for key in ("file", "rank", "bytes_written", "common_write", "common_write_count")),
            strict=True,
        )
    }
    expected = {("all.dat", rank): (BYTES[rank], BYTES[rank], 1) for rank in range(RANKS)}
    expected |= {("some.dat", rank): (10, 10, 1) for rank in range(2)}
    assert {key: value for key, value in rows.items() if not key[0].startswith("<")} == expected
    assert all(table["first_write"] <= table["last_write"])


def private_table(path: Path, name: str) -> dict[str, np.ndarray]:
    """Returns the columns of a table, read as profiler/LOG.md describes them."""
    data = path.read_bytes()
    _, offset, size, _ = struct.unpack("<8sQQQ", data[-32:])
    (region,) = [r for r in json.loads(data[offset : offset + size])["regions"] if r["name"] == name]
    left = data[region["offset"] : region["offset"] + region["bytes"]]
    columns: dict[str, list[np.ndarray]] = {}
    named: list[dict[str, str]] = []
    while left:
        stream = zlib.decompressobj()
        head, _, body = stream.decompress(left).partition(b"\n")
        left, at, header = stream.unused_data, 0, json.loads(head)
        named = header.get("columns", named)
        for column in named:
            part = np.frombuffer(body, column["dtype"], header["rows"], at)
            columns.setdefault(column["name"], []).append(part)
            at += part.nbytes
        assert at == len(body)
    return {key: np.concatenate(parts) for key, parts in columns.items()}
