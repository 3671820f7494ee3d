"""Tests a job's time, speed and operations: on real logs against libdarshan-util's accumulator, and on a job that the
test makes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from darshan.backend import cffi_backend as backend
from iolens.log import Job, read_log
from iolens.log.format.fixed import overflowed
from iolens.metrics.files import overview as files
from iolens.metrics.files.writers import moved_by_rank
from iolens.metrics.job import balance, cost
from iolens.metrics.job.interfaces import mpiio, operations
from iolens.metrics.job.ranks import rank_times
from iolens.metrics.job.unknown import unknown
from iolens.metrics.processor.io.ranks import rank_io
from iolens.metrics.times import timespans
from iolens.pages.base import words
from iolens.pages.exhibits.operations import OPERATIONS, PATTERN, no_hints
from iolens.pages.text.lines import NUMBER
from iolens.pages.wording import job_words as job_words
from job_example import MIB, frame, job, small_job

LOGS = sorted((Path(__file__).parents[1] / "data").rglob("*.darshan"))


@pytest.fixture
def made() -> Job:
    return small_job()


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("module", ["POSIX", "MPI-IO", "STDIO"])
def test_the_speed_is_libdarshan_utils(path: Path, module: str) -> None:
    found = read_log(path)
    if module not in found.frames or found.byte_order == "big":
        return
    derived = accumulated(path, module, found)
    ours = cost.performance(found, module)
    assert ours.bytes_read + ours.bytes_written == derived.total_bytes
    assert ours.seconds == pytest.approx(derived.agg_time_by_slowest, rel=1e-9)
    assert (ours.mib_per_second or 0.0) == pytest.approx(derived.agg_perf_by_slowest, rel=1e-9)
    assert ours.files == derived.category_counters[0].count


def accumulated(path: Path, module: str, found: Job) -> Any:
    """Returns libdarshan-util's derived metrics of a module."""
    log = backend.log_open(str(path))
    rows = []
    while (record := backend.log_get_record(log, module, dtype="pandas")) is not None:
        rows.append(record)
    backend.log_close(log)
    tables = {kind: pd.concat([row[kind] for row in rows], ignore_index=True) for kind in ("counters", "fcounters")}
    return backend.accumulate_records(tables, module, found.nprocs).derived_metrics


def test_time_of_an_average_process(made: Job) -> None:
    row = cost.io_cost(made).frame().iloc[0]
    assert (row["read"], row["write"], row["meta"]) == pytest.approx((5.5 / 4, 1.0, 0.1))
    assert row["other"] == pytest.approx(10 - 5.5 / 4 - 1.1)


def test_speed_by_slowest(made: Job) -> None:
    found = cost.performance(made, "POSIX")
    # Rank 0 spends 1 + 2 s in its own files and rank 2 2.5 s; the slowest rank of the shared file spends 2 s in it.
    assert found.seconds == pytest.approx(5.0)
    assert found.mib_per_second == pytest.approx((8 * MIB + 600) / MIB / 5.0)


def test_no_time_is_no_speed() -> None:
    found = cost.performance(job({"POSIX": frame("POSIX", [{"id": 1, "rank": 0}])}), "POSIX")
    assert found.mib_per_second is None


def test_average_io_in_own_and_shared_files(made: Job) -> None:
    found = cost.average_io(made).frame().set_index(["kind", "what"])
    assert found.loc[("shared", "write"), "seconds"] == pytest.approx(1.0)
    assert found.loc[("shared", "write"), "bytes"] == pytest.approx(2 * MIB)
    assert found.loc[("independent", "read"), "bytes"] == pytest.approx(150)
    assert math.isnan(found.loc[("shared", "metadata"), "bytes"])


def test_operations_not_recorded_are_not_zero(made: Job) -> None:
    counts = operations.operation_counts(made).frame().set_index("operation")["count"]
    assert (counts["read"], counts["write"]) == (6, 8)
    unknown = job({"POSIX": frame("POSIX", [{"id": 1, "rank": 0, "STATS": -1}])})
    counts = operations.operation_counts(unknown).frame().set_index("operation")["count"]
    assert math.isnan(counts["stat"])
    assert counts["read"] == 0


def test_sizes_and_order(made: Job) -> None:
    sizes = operations.access_sizes(made, "POSIX").frame().set_index("bucket")
    assert (sizes.loc["0_100", "reads"], sizes.loc["100K_1M", "writes"], sizes["writes"].sum()) == (6, 8, 8)
    common = operations.common_sizes(made, "POSIX").frame()
    assert common.values.tolist() == [[MIB, 8], [100, 6]]
    pattern = operations.access_pattern(made)
    assert pattern is not None
    assert [*pattern.rows()][1] == ("write", 8, 6, 4, 0.75, 0.5)
    (figure,) = PATTERN.figures(made)
    assert [text.get_text() for text in figure.figure.axes[0].texts][-3:] == ["50 %", "25 %", "25 %"]


def test_calls_on_standard_streams_are_told_from_those_on_files() -> None:
    rows = [{"id": 1, "rank": 0, "WRITES": 9000, "OPENS": 1}, {"id": 2, "rank": 0, "WRITES": 5, "OPENS": 2}]
    printing = job({"STDIO": frame("STDIO", rows)}, {1: "<STDOUT>", 2: "/scratch/notes"})
    found = operations.operations_called(printing).frame().set_index("operation")
    assert found.loc["write", ["count", "on_streams"]].tolist() == [9005, 9000]
    assert found.loc["open", ["count", "on_streams"]].tolist() == [3, 1]
    (figure,) = OPERATIONS.figures(printing)
    assert [round(bar.get_width()) for bar in figure.figure.axes[0].patches] == [5, 2]
    assert figure.caption.endswith("Without 9,001 calls on standard input, output and error.")


def test_bytes_below_mpi_io() -> None:
    mpi = frame("MPI-IO", [{"id": 1, "rank": -1, "BYTES_WRITTEN": 100, "BYTES_READ": 0}])
    posix = frame("POSIX", [{"id": 1, "rank": -1, "BYTES_WRITTEN": 150}, {"id": 2, "rank": 0, "BYTES_WRITTEN": 9}])
    assert mpiio.byte_ratios(job({"MPI-IO": mpi, "POSIX": posix})) == {"read": None, "write": 1.5}


def headline(made: Job) -> str:
    """Returns the first sentence of a job's summary."""
    return job_words.verdicts(made)[0]


def test_the_headline_counts_each_byte_once() -> None:
    mpi = frame("MPI-IO", [{"id": 1, "rank": -1, "BYTES_WRITTEN": 32 * MIB}])
    posix = frame("POSIX", [{"id": 1, "rank": 0, "BYTES_WRITTEN": 40 * MIB}, {"id": 2, "rank": 0, "BYTES_READ": MIB}])
    stdio = frame("STDIO", [{"id": 3, "rank": 0, "BYTES_WRITTEN": 16 << 30, "F_WRITE_TIME": 2.0}])
    made = job({"MPI-IO": mpi, "POSIX": posix, "STDIO": stdio})
    assert list(cost.moved_once(made).items()) == [("STDIO", 16 << 30), ("MPI-IO", 32 * MIB), ("POSIX", MIB)]
    assert headline(made) == "Transferred 16 GiB through STDIO at 8.00 GiB/s (estimate)."
    even = job({"MPI-IO": mpi, "POSIX": posix})
    assert headline(even) == "Transferred 32 MiB through MPI-IO, and 1 MiB through POSIX."


def test_daos_moves_bytes_of_files_heatmaps_and_its_own_place() -> None:
    dfs = frame("DFS", [{"id": 1, "rank": 0, "BYTES_WRITTEN": 3 * MIB, "F_WRITE_TIME": 1.0}])
    below = frame("DAOS", [{"id": 9, "rank": 0, "BYTES_WRITTEN": 3 * MIB}])
    bins = pd.DataFrame({"module": "DFS", "rank": [0], "bin": [0], "width": [1.0], "written": [3 * MIB], "read": [0]})
    made = job({"DFS": dfs, "DAOS": below, "HEATMAP": bins}, {1: "/a"})
    place = files.file_systems(made).frame().iloc[0]
    assert (place["mount"], place["type"], place["bytes_written"]) == ("(DAOS)", "daos", 3 * MIB)
    assert list(files.all_files(made).frame()["id"]) == [1]
    assert balance.rank_bytes(made)["written"].sum() == 3 * MIB
    assert timespans.mapped(made) == ["DFS"]
    assert cost.moved_once(made) == {"DFS": 3 * MIB}
    mpi = frame("MPI-IO", [{"id": 7, "rank": 0, "BYTES_WRITTEN": 3 * MIB}])
    assert cost.moved_once(job({"DFS": dfs, "MPI-IO": mpi})) == {"MPI-IO": 3 * MIB}


def test_sums_of_bytes_and_calls_are_exact_beyond_what_a_double_holds() -> None:
    many = 1 << 60
    one = {"id": 1, "OPENS": 1, "WRITES": many + 1, "F_WRITE_TIME": 1.0}
    records = [
        {**one, "rank": 0, "BYTES_WRITTEN": many + 1},
        {**one, "rank": 1, "BYTES_WRITTEN": many + 2},
        {**one, "id": 2, "rank": 1, "BYTES_WRITTEN": 1, "BYTES_READ": many + 4, "READS": 1},
    ]
    for module in ("POSIX", "DFS"):
        made = job({module: frame(module, records)}, {1: "/a", 2: "/b"})
        every, place, io = files.all_files(made), files.file_systems(made), rank_io(made)
        assert sorted(every["bytes_written"].tolist()) == [1, 2 * many + 3]
        assert [*place["bytes_written"].tolist(), *place["bytes_read"].tolist()] == [2 * many + 4, many + 4]
        assert cost.moved_once(made) == {module: 3 * many + 8}
        assert cost.performance(made, module).bytes_written == 2 * many + 4
        times, written = rank_times(made), moved_by_rank(made, "written")
        assert io is not None
        assert times is not None
        assert written is not None
        assert sorted(io["bytes"].tolist())[-3:] == [many + 1, many + 2, many + 4]
        assert sum(io["calls"][io["function"] == "write"].tolist()) == 3 * many + 3
        assert times["bytes"].tolist() == [many + 1, 2 * many + 7]
        assert written.tolist() == [many + 1, many + 3, 0, 0]


def test_bytes_that_posix_did_not_see_are_a_gap_and_no_ratio() -> None:
    mpi = frame("MPI-IO", [{"id": 1, "rank": 0, "BYTES_WRITTEN": 5 * MIB}])
    made = job({"MPI-IO": mpi, "POSIX": frame("POSIX", [{"id": 1, "rank": 0, "OPENS": 1}])})
    assert mpiio.byte_ratios(made) == {"read": None, "write": None}
    assert "how 5 MiB of MPI-IO reached the files" in unknown(made)["what"].tolist()


def test_what_a_log_does_not_know_is_no_fact_of_it() -> None:
    known, of_log = job_words.fact_columns(job({}))
    assert {"MPI library", "compiler", "storage"}.isdisjoint(dict(of_log))
    assert dict(known)["run time"] == "10 s"
    whole = replace(job({}), version="3.21", run_time=1.0)
    assert dict(job_words.fact_columns(whole)[0])["run time"] == "at most 1 s (this log counts whole seconds)"
    assert dict(job_words.fact_columns(replace(whole, run_time=37517.0))[0])["run time"] == "10 h 25 min"


def test_large_numbers_have_the_unit_that_people_use() -> None:
    assert [words.duration(value) for value in (0.5, 98.7, 99.7, 125, 37517, None)] == [
        *("0.50 s", "99 s", "1 min 40 s", "2 min 5 s", "10 h 25 min", "n/a")
    ]
    assert [words.speed(value) for value in (24530, 673, 0.5, None)] == ["24.0 GiB/s", "673 MiB/s", "512 KiB/s", "n/a"]
    assert words.seconds(37517.2) == "37,517"
    cells = ("10 h 25 min", "1 min 40 s", "24.0 GiB/s", "37,517", "98.7 s", "871.740 M/s", "3.64 /s")
    assert all(NUMBER.match(cell) for cell in cells)


def test_an_overflow_is_remarked() -> None:
    values = np.array([[5, 5], [-1, -7], [-9, 3]])
    said = overflowed(values, ["POSIX_READS", "POSIX_BYTES_READ", "POSIX_STRIDE1_STRIDE"])
    assert said == "POSIX_BYTES_READ overflowed to negative values, which are counted as 0, so sums are too small."
    assert overflowed(np.array([[-9]]), ["POSIX_RENAMED_FROM"]) == ""
    assert overflowed(np.array([[5], [-1], [3]]), ["a", "b", "c"]) == ""


@pytest.mark.parametrize(
    ("private", "said"),
    [({}, "does not record them"), ({"mpiio_hints": pd.DataFrame()}, "the program gave no hints")],
)
def test_no_hints_are_not_hints_that_nobody_recorded(private: dict[str, Any], said: str) -> None:
    assert said in no_hints(job({"MPI-IO": pd.DataFrame()}, **private))
    assert no_hints(job({})) == ""
