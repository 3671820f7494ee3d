"""Tests APMPI records: the times in MPI that Darshan's own tools show, for a program whose messages are known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import darshan
import numpy as np
import pytest
from iolens.cli.main import main
from iolens.log import Job, read_log
from iolens.metrics.processor.sampled.samples import sample_rows
from mpi_libraries import ROOT, library
from patience import PATIENCE

RANKS = 4
OURS = [16, 256, 4 << 10, 64 << 10, 1 << 20, 16 << 20]
"""Lower bounds of the size classes in the table mpi_calls, from the second class on."""
DARSHANS = {256: "0_256", 1 << 10: "256_1K", 8 << 10: "1K_8K", 256 << 10: "8K_256K", 1 << 20: "256K_1M"}
"""Upper bounds of APMPI's classes of message sizes, with their names; the last class is 1M_PLUS."""

READ = """
import json, sys, darshan
report = darshan.DarshanReport(sys.argv[1], read_all=True)
records = report.records["APMPI"]
plain = lambda record, *names: {name: record[name] for name in names}
header = plain(records[0], "sync_flag", "variance_total_mpitime")
ranks = [plain(records[i], "rank", "node_name", "all_counters") for i in range(1, len(records))]
said = {"header": header, "ranks": ranks, "names": list(report.name_records.values())}
json.dump(said, sys.stdout, default=lambda number: number.item())
"""
"""Program that reads an APMPI header. It runs in a process of its own, because libdarshan-util reads the header only as
the first record of a process.
"""

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the log of `iolens run --trace mpi` with the timed barrier."""
    return ran(tmp_path_factory.mktemp("apmpi"), RANKS, "mpi_sizes")


def ran(folder: Path, ranks: int, name: str, *words: str, options: Sequence[str] = ()) -> Path:
    """Runs a program of tests/c with the timed barrier; returns its log and its output."""
    program = library("usual").compile(ROOT / f"tests/c/{name}.c", folder / name, "-O1")
    command = [str(Path(sys.executable).parent / "iolens"), "run", "--trace", "mpi", "--mpi-sync", *options, "--"]
    command += [str(library("usual").mpirun), "-np", str(ranks), str(program), *words]
    surroundings = {**os.environ, **library("usual").environment(None)}
    done = subprocess.run(
        command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stdout)
    (made,) = folder.glob("*.darshan")
    return made


@pytest.fixture(scope="module")
def sizes(log: Path) -> list[int]:
    """Returns the bytes of each message that a rank sends."""
    words = [line.split() for line in (log.parent / "said").read_text().splitlines()]
    return [int(word[1]) for word in words if word[:1] == ["SIZE"]]


@pytest.fixture(scope="module")
def seen(log: Path) -> Any:
    """Returns the records that PyDarshan reads in a process of its own."""
    assert darshan.DarshanReport  # Skips the test if the package has no library.
    done = subprocess.run([sys.executable, "-c", READ, str(log)], capture_output=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_pydarshan_reads_what_every_rank_did(seen: Any, sizes: list[int]) -> None:
    assert [rank["rank"] for rank in seen["ranks"]] == list(range(RANKS))
    assert seen["header"]["sync_flag"] == 1
    assert "APMPI" in seen["names"]
    classes = [bisect_left(list(DARSHANS), size) for size in sizes]
    names = [*DARSHANS.values(), "1M_PLUS"]
    for rank in seen["ranks"]:
        counters = rank["all_counters"]
        for function in ("SEND", "IRECV"):
            assert counters[f"MPI_{function}_CALL_COUNT"] == len(sizes) > 20
            assert counters[f"MPI_{function}_TOTAL_BYTES"] == sum(sizes)
            for i, name in enumerate(names):
                assert counters[f"MPI_{function}_MSG_SIZE_AGG_{name}"] == classes.count(i)
        assert counters["MPI_WAIT_CALL_COUNT"] == len(sizes)
        for function, bytes_, name in (("BCAST", 1024, "256_1K"), ("ALLREDUCE", 4, "0_256")):
            assert counters[f"MPI_{function}_CALL_COUNT"] == counters[f"MPI_{function}_MSG_SIZE_AGG_{name}"] == 1
            assert counters[f"MPI_{function}_TOTAL_BYTES"] == bytes_
        assert counters["MPI_BARRIER_CALL_COUNT"] == 1
        used = {name.removesuffix("_CALL_COUNT") for name, value in counters.items() if "CALL" in name and value}
        assert used == {f"MPI_{name}" for name in ("SEND", "IRECV", "WAIT", "BCAST", "ALLREDUCE", "BARRIER")}


def test_times_are_those_of_the_processs_own_table(log: Path, seen: Any) -> None:
    calls = read_log(log).private["mpi_calls"]
    for rank in seen["ranks"]:
        counters = rank["all_counters"]
        mine = calls[calls["rank"] == rank["rank"]].set_index("function")
        for function in ("MPI_Send", "MPI_Irecv", "MPI_Wait", "MPI_Bcast", "MPI_Allreduce", "MPI_Barrier"):
            for ours, darshans in (("time", "TOTAL"), ("min_time", "MIN"), ("max_time", "MAX")):
                assert counters[f"{function.upper()}_{darshans}_TIME"] == mine.loc[function, ours]
        assert counters["MPI_BARRIER_TOTAL_SYNC_TIME"] == mine.loc["MPI_Barrier", "sync_time"] > 0
        known = mine.drop(["MPI_Init", "MPI_Finalize"], errors="ignore")
        total = known["time"].sum() + known["sync_time"].sum()
        assert counters["MPI_TOTAL_COMM_TIME"] == pytest.approx(total)
    totals = [rank["all_counters"]["MPI_TOTAL_COMM_TIME"] for rank in seen["ranks"]]
    assert seen["header"]["variance_total_mpitime"] == pytest.approx(np.var(totals), rel=1e-3, abs=1e-12)


def test_classes_of_the_own_table_are_exact_too(log: Path, sizes: list[int]) -> None:
    calls = read_log(log).private["mpi_calls"]
    classes = [bisect_right(OURS, size) for size in sizes]
    for row in calls[calls["function"] == "MPI_Send"].itertuples():
        assert [getattr(row, f"size_{i}") for i in range(7)] == [classes.count(i) for i in range(7)]


def test_the_report_reads_them_and_an_anonymous_log_names_no_node(log: Path, seen: Any, tmp_path: Path) -> None:
    frame = read_log(log).frames["APMPI"]
    assert list(frame["time"]) == [rank["all_counters"]["MPI_TOTAL_COMM_TIME"] for rank in seen["ranks"]]
    assert set(frame["node"]) == {rank["node_name"] for rank in seen["ranks"]} == set(hosts(log))
    hidden = tmp_path / "hidden.darshan"
    assert main(["anonymize", str(log), "-o", str(hidden)]) == 0
    assert set(read_log(hidden).frames["APMPI"]["node"]) == set(hosts(hidden))
    assert not set(hosts(hidden)) & set(hosts(log))
    assert list(read_log(hidden).frames["APMPI"]["time"]) == list(frame["time"])


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Returns the log of a sampled program that probes for its messages and ends while recording is switched off."""
    options = ("--late-receives", "--sample", "1000")
    return read_log(ran(tmp_path_factory.mktemp("probed"), 2, "mpi_probed", "0.3", options=options))


def test_a_program_that_ends_with_recording_switched_off_has_records(probed: Job) -> None:
    frame = probed.frames["APMPI"].set_index("rank")
    assert list(frame.index) == [0, 1]
    calls = probed.private["mpi_calls"].groupby("rank")[["time", "sync_time"]].sum()
    assert (frame["time"] <= calls.sum(axis=1)).all()
    assert frame["time"].gt(0).all()


def test_samples_of_the_profilers_own_messages_are_of_the_call_that_the_program_made(probed: Job) -> None:
    """Rank 1 waits for rank 0 in the timed barrier; the program itself neither probes nor has barriers."""
    rows = sample_rows(probed)
    assert rows is not None
    found = rows[rows["group"] == "MPI"].groupby("function")["samples"].sum()
    assert not {"MPI_Barrier", "MPI_Iprobe", "MPI_Allreduce"} & set(found.index)
    assert found["MPI_Bcast"] > 0


def hosts(log: Path) -> list[str]:
    return list(read_log(log).private["job"]["hosts"])
