"""A job's metrics: against libdarshan-util's accumulator on real logs, and by hand on a small made-up job."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from darshan.backend import cffi_backend as backend
from iolens.log import Job, Mount, read_log
from iolens.log.fixed import overflowed
from iolens.log.layouts import MODULES
from iolens.metrics import balance, cost, files, mpiio, operations, ost, processes, shared, striping, timespans, traces
from iolens.metrics.processor.io import rank_io
from iolens.metrics.ranks import rank_times
from iolens.metrics.writers import moved_by_rank
from iolens.pages import job_words, words
from iolens.pages.cells import NUMBER
from iolens.pages.exhibits.mpiio import no_hints
from iolens.pages.exhibits.operations import OPERATIONS, PATTERN
from iolens.pages.exhibits.ranks import PROCESSES, RANK_BALANCE
from iolens.pages.exhibits.striping import TARGET_BYTES
from iolens.pages.exhibits.timeline import PLACES

LOGS = sorted((Path(__file__).parents[1] / "data").rglob("*.darshan"))
MIB = 1 << 20


def frame(module: str, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Records of a module; counters that are not given are 0."""
    prefix = MODULES[module].prefix
    columns = ["id", "rank", *MODULES[module].names]
    full = [{name: row.get(name.removeprefix(f"{prefix}_"), 0) for name in columns} for row in rows]
    made = pd.DataFrame(full, columns=columns)
    return made.astype({name: float for name in columns if "_F_" in name})


def job(frames: dict[str, pd.DataFrame], names: dict[int, str] | None = None, **private: Any) -> Job:
    """A job of 4 processes that ran 10 s."""
    return Job(
        path=Path("made.darshan"),
        version="3.41",
        byte_order="little",
        compression="zlib",
        exe="/bin/app",
        command="/bin/app -x",
        uid=1,
        jobid=7,
        start=0.0,
        end=10.0,
        run_time=10.0,
        nprocs=4,
        metadata={},
        mounts=(Mount("ext4", "/"), Mount("lustre", "/scratch"), Mount("nfs", "/scratch/home")),
        names=names or {},
        modules=(),
        frames=frames,
        private=private,
    )


SHARED = {
    "id": 1,
    "rank": -1,
    "WRITES": 8,
    "SEQ_WRITES": 6,
    "CONSEC_WRITES": 4,
    "BYTES_WRITTEN": 8 * MIB,
    "MAX_BYTE_WRITTEN": 8 * MIB - 1,
    "F_WRITE_TIME": 4.0,
    "F_META_TIME": 0.4,
    "F_SLOWEST_RANK_TIME": 2.0,
    "FASTEST_RANK": 3,
    "SLOWEST_RANK": 1,
    "SLOWEST_RANK_BYTES": 4 * MIB,
    "F_FASTEST_RANK_TIME": 0.5,
    "F_VARIANCE_RANK_TIME": 0.25,
    "F_VARIANCE_RANK_BYTES": 16.0,
    "SIZE_WRITE_100K_1M": 8,
    "ACCESS1_ACCESS": MIB,
    "ACCESS1_COUNT": 8,
    "F_WRITE_START_TIMESTAMP": 1.0,
    "F_WRITE_END_TIMESTAMP": 9.0,
}
OWN = {
    "id": 2,
    "rank": 0,
    "READS": 2,
    "BYTES_READ": 200,
    "MAX_BYTE_READ": 199,
    "F_READ_TIME": 1.0,
    "ACCESS1_ACCESS": 100,
    "ACCESS1_COUNT": 2,
    "SIZE_READ_0_100": 2,
    "STATS": -1,
    "F_READ_START_TIMESTAMP": 0.5,
    "F_READ_END_TIMESTAMP": 0.75,
}
ALSO = {**OWN, "id": 3, "F_READ_TIME": 2.0, "rank": 0}
OTHER = {**OWN, "id": 4, "F_READ_TIME": 2.5, "rank": 2}


@pytest.fixture
def made() -> Job:
    names = {1: "/scratch/shared.dat", 2: "/scratch/home/a", 3: "/etc/b", 4: "<STDIN>"}
    return job({"POSIX": frame("POSIX", [SHARED, OWN, ALSO, OTHER])}, names)


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
    """libdarshan-util's derived metrics of a module."""
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
    # rank 0 spends 1 + 2 s in files of its own, rank 2 2.5 s; the shared file's slowest rank 2 s
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


def test_costly_files_stand_in_one_list() -> None:
    slow = [{"id": n, "rank": 0, "F_READ_TIME": 10.0 + n, "BYTES_READ": 1} for n in range(1, 17)]
    large = [{"id": 100 + n, "rank": 0, "F_READ_TIME": 1.0, "BYTES_READ": MIB * n} for n in range(1, 15)]
    found = files.costly_files(job({"POSIX": frame("POSIX", [*slow, *large])})).frame()
    # by time: 16 to 2; by bytes: all of the large ones and one of the slow ones, which move one byte each
    assert found["path"][:15].tolist() == [f"record {n}" for n in range(16, 1, -1)]
    assert {f"record {100 + n}" for n in range(1, 15)} <= set(found["path"][15:])
    assert found["path"].is_unique


def test_files_by_use(made: Job) -> None:
    counts = files.file_counts(made).frame().set_index("category")
    assert counts["files"].to_dict() == {
        "total opened": 4,
        "read-only": 3,
        "write-only": 1,
        "read and written": 0,
        "neither read nor written": 0,
    }
    assert counts.loc["write-only", "largest_size"] == 8 * MIB
    assert counts.loc["read-only", "average_size"] == 200


def test_a_path_belongs_to_the_longest_mount_point(made: Job) -> None:
    found = files.file_systems(made).frame().set_index("mount")
    assert found["type"].to_dict() == {
        "/scratch": "lustre",
        "/scratch/home": "nfs",
        "/": "ext4",
        "(no mount point)": "",
    }
    assert found.loc["/scratch", "bytes_written"] == 8 * MIB
    assert found["files"].tolist() == [1, 1, 1, 1]


def test_a_mount_point_is_no_mere_prefix() -> None:
    kinds = {"/": "ext4", "/scratch": "lustre"}
    assert files.mounts_of(["/scratch2/a", "/scratch/a"], kinds) == ["/", "/scratch"]


def test_files_that_took_most_time(made: Job) -> None:
    found = files.top_files(made, "seconds").frame()
    assert found["path"].tolist() == ["<STDIN>", "/scratch/shared.dat", "/etc/b", "/scratch/home/a"]
    assert found["seconds"].tolist() == [2.5, 2.0, 2.0, 1.0]


def test_records_of_one_file_on_several_ranks_are_one_file() -> None:
    rows = [{**OWN, "rank": rank, "F_READ_TIME": 1.0 + rank} for rank in range(3)]
    found = files.files(job({"POSIX": frame("POSIX", rows)}), "POSIX").frame()
    assert found[["processes", "bytes_read", "seconds", "size"]].values.tolist() == [[3, 600, 3.0, 200]]


def test_spans(made: Job) -> None:
    own = timespans.rank_spans(made).frame()
    assert own.values.tolist() == [["read", 0, 0.5, 0.75]]  # without <STDIN> of rank 2
    shared_file = timespans.shared_spans(made).frame()
    assert shared_file[["path", "kind", "start", "end"]].values.tolist() == [["/scratch/shared.dat", "write", 1.0, 9.0]]


def test_variance_of_shared_files(made: Job) -> None:
    found = shared.variance(made).frame().iloc[0]
    assert (found["fastest_rank"], found["slowest_rank"], found["processes"]) == (3, 1, 4)
    assert (found["sigma_seconds"], found["sigma_bytes"]) == (0.5, 4.0)


def test_a_file_of_some_ranks_is_grouped() -> None:
    rows = [{**OWN, "rank": rank, "F_READ_TIME": 1.0 + rank, "BYTES_READ": 100 * rank} for rank in (1, 3)]
    found = shared.variance(job({"POSIX": frame("POSIX", rows)}, {OWN["id"]: "/scratch/part"})).frame()
    row = found.iloc[0]
    assert (row["path"], row["processes"], row["fastest_rank"], row["slowest_rank"]) == ("/scratch/part", 2, 1, 3)
    assert row["sigma_seconds"] == pytest.approx(1.0)
    assert row["sigma_bytes"] == pytest.approx(100.0)


def test_activity_adds_up_groups_of_ranks_and_bins() -> None:
    rows = [
        {"module": "POSIX", "rank": rank, "width": 0.1, "bin": bin_, "written": rank + 1, "read": bin_}
        for rank in range(4)
        for bin_ in range(200)
    ]
    found = timespans.activity(job({"HEATMAP": pd.DataFrame(rows)}), "POSIX", rows=2, columns=50)
    assert found is not None
    written, read, width = found
    assert written.shape == read.shape == (2, 50)
    assert width == pytest.approx(0.2)  # the job ends in bin 99
    assert written[1, 0] == (3 + 4) * 2
    assert read.sum() == 4 * sum(range(100))


def test_a_rank_that_moved_nothing_has_an_empty_row() -> None:
    row = {"module": "POSIX", "rank": 1, "width": 0.1, "bin": 0, "written": 5, "read": 0}
    found = timespans.activity(job({"HEATMAP": pd.DataFrame([row])}), "POSIX")
    assert found is not None
    assert found[0].sum(axis=1).tolist() == [0, 5, 0, 0]


def test_balance_of_the_ranks() -> None:
    moved = {0: (100, 0), 1: (300, 0), 3: (100, 50)}
    rows = [
        {"module": module, "rank": rank, "width": 0.1, "bin": 0, "written": written, "read": read}
        for module in ("POSIX", "MPI-IO")  # what MPI-IO moves reaches the file through POSIX
        for rank, (written, read) in moved.items()
    ]
    here = job({"HEATMAP": pd.DataFrame(rows)})
    written, read = balance.rank_balance(here).frame().to_dict("records")[::-1]
    assert (written["what"], written["least"], written["least_rank"]) == ("written", 0, 2)
    assert (written["median"], written["most"], written["most_rank"]) == (100, 300, 1)
    assert written["imbalance"] == pytest.approx(300 / 125)
    assert (read["most_rank"], read["imbalance"]) == (3, 4)
    (figure,) = RANK_BALANCE.figures(here)
    assert figure.figure.axes[0].get_xlim() == (-0.5, 3.5)
    assert balance.rank_balance(job({})) is None


def usage_of(*ranks: tuple[int, int], **columns: list[float]) -> pd.DataFrame:
    """The region `process` of rows (rank, ranks), all else 1 unless it is given."""
    frame = pd.DataFrame({"rank": [rank for rank, _ in ranks], "ranks": [count for _, count in ranks]})
    return frame.assign(**dict.fromkeys(processes.MEASURES, 1)).assign(**columns)


def test_what_processes_took() -> None:
    table = usage_of((1, 1), (0, 1), (2, 1), (3, 1), max_rss=[5.0 * MIB, MIB, MIB, MIB], user_time=[1.0, 4.0, 1.0, 2.0])
    here = job({}, process=table)
    found = processes.usage(here).frame().set_index("what")
    memory, spent = found.loc["largest resident set"], found.loc["processor time in the program"]
    assert math.isnan(memory["total"])
    assert (memory["mean"], memory["most"], memory["most_rank"]) == (2 * MIB, 5 * MIB, 1)
    assert (spent["total"], spent["mean"], spent["most"], spent["most_rank"]) == (8, 2, 4, 0)
    assert PROCESSES.table(here).rows[:2] == [
        ["largest resident set", "n/a", "2 MiB", "5 MiB", "1"],
        ["processor time in the program", "8.00 s", "2.00 s", "4.00 s", "0"],
    ]
    assert [figure.title for figure in PROCESSES.figures(here)] == [
        "Largest resident set of each rank",
        "Processor time of each rank",
    ]
    assert processes.usage(job({})) is None


def test_ranks_known_as_a_sum_have_no_most() -> None:
    table = usage_of((2, 1), (-1, 3), max_rss=[9, 7], user_time=[1.0, 5.0])
    here = job({}, process=table)
    found = processes.usage(here).frame().set_index("what")
    memory, spent = found.loc["largest resident set"], found.loc["processor time in the program"]
    assert (memory["most"], memory["most_rank"]) == (9, 2)
    assert math.isnan(memory["mean"])
    assert (spent["total"], spent["mean"]) == (6, 1.5)
    assert math.isnan(spent["most"])
    assert PROCESSES.figures(here) == []


def test_places_are_the_cells_that_calls_cover() -> None:
    columns = ["id", "op", "offset", "length", "start", "end"]
    rows = [
        (1, "write", 0, 250, 0.0, 0.1),  # the lower quarter, first of ten seconds
        (1, "write", 500, 500, 4.0, 6.9),
        (1, "read", 250, 1, 9.5, 9.6),
        (1, "read", -1, 100, 0.0, 9.0),  # nobody knows where
        (2, "write", 0, 100, 0.0, 9.0),  # a file with fewer bytes
    ]
    made = job({"DXT_POSIX": pd.DataFrame(rows, columns=columns)}, {1: "/scratch/busy"})
    found = traces.places(made, "DXT_POSIX", rows=4, columns=10)
    assert found is not None
    assert (found.path, found.end, found.seconds, found.calls) == ("/scratch/busy", 1000, 10.0, 3)
    assert np.argwhere(found.written).tolist() == [[0, 0], [2, 4], [2, 5], [2, 6], [3, 4], [3, 5], [3, 6]]
    assert np.argwhere(found.read).tolist() == [[1, 9]]
    assert traces.places(made, "DXT_MPIIO") is None


def test_stripes_and_targets(made: Job) -> None:
    columns = ["id", "rank", "component", "stripe_size", "stripe_count", "extent_end", "pool", "osts"]
    rows = [(1, -1, 0, MIB, 2, -1, "", (4, 5)), (2, 0, 0, MIB, 1, -1, "", (5,)), (2, 1, 0, MIB, 1, -1, "", (5,))]
    lustre = job({**made.frames, "LUSTRE": pd.DataFrame(rows, columns=columns)}, dict(made.names))
    layouts = striping.layouts(lustre).frame()
    assert layouts is not None
    assert layouts[["stripe_count", "files", "bytes", "path"]].values.tolist() == [
        [2, 1, 8 * MIB, "/scratch/shared.dat"],
        [1, 1, 200, "/scratch/home/a"],
    ]
    targets = striping.targets(lustre).frame()
    assert targets is not None
    assert targets.values.tolist() == [[4, 1], [5, 2]]
    assert striping.layouts(made) is None


def test_who_really_wrote(made: Job) -> None:
    columns = ["file", "rank", "writes", "bytes_written", "largest_write", "common_write", "common_write_count"]
    rows = [(1, 2, 3, 30, 16, 8, 2), (1, 0, 5, 50, 12, 12, 4), (1, 1, 0, 0, 0, 0, 0)]
    ranks = pd.DataFrame(rows, columns=columns).assign(writes_not_aligned=[3, 1, 0], write_time=[0.5, 0.25, 0.0])
    found = mpiio.aggregators(job({}, {1: "/scratch/shared.dat"}, file_ranks=ranks)).frame()
    assert found is not None
    assert found.iloc[0].to_dict() == {
        "path": "/scratch/shared.dat",
        "writers": [0, 2],
        "others": 0,
        "bytes": 80,
        "writes": 8,
        "largest_write": 16,
        "common_write": 12,
        "not_aligned": 0.5,
        "seconds": 0.5,
    }
    assert mpiio.aggregators(made) is None


def test_ranks_without_a_row_of_their_own_are_told_apart(made: Job) -> None:
    columns = [
        "file",
        "rank",
        "ranks",
        "writes",
        "bytes_written",
        "largest_write",
        "common_write",
        "common_write_count",
    ]
    rows = [(1, 7, 1, 3, 30, 16, 8, 2), (1, -1, 99, 5, 50, 12, 0, 0), (2, 3, 1, 1, 1, 1, 1, 1)]
    ranks = pd.DataFrame(rows, columns=columns).assign(writes_not_aligned=0, write_time=[0.5, 9.0, 0.0])
    found = mpiio.aggregators(job({}, {1: "/scratch/shared.dat"}, file_ranks=ranks)).frame()
    assert found is not None
    keys = ["writers", "others", "bytes", "common_write", "seconds"]
    assert [list(row) for row in found[keys].itertuples(index=False)] == [[[7], 99, 80, 8, 0.5]]
    assert mpiio.writer_count([7], 99) == "1 to 100"


@pytest.mark.parametrize(("ranks", "words"), [([], ""), ([3], "3"), ([0, 1, 2], "0-2"), ([0, 2, 3, 9], "0, 2-3, 9")])
def test_ranks_as_ranges(ranks: list[int], words: str) -> None:
    assert mpiio.rank_list(ranks) == words


def test_bytes_below_mpi_io() -> None:
    mpi = frame("MPI-IO", [{"id": 1, "rank": -1, "BYTES_WRITTEN": 100, "BYTES_READ": 0}])
    posix = frame("POSIX", [{"id": 1, "rank": -1, "BYTES_WRITTEN": 150}, {"id": 2, "rank": 0, "BYTES_WRITTEN": 9}])
    assert mpiio.byte_ratios(job({"MPI-IO": mpi, "POSIX": posix})) == {"read": None, "write": 1.5}


def headline(made: Job) -> str:
    """The first sentence of a job's summary."""
    return job_words.verdicts(made)[0]


def test_the_headline_counts_each_byte_once() -> None:
    mpi = frame("MPI-IO", [{"id": 1, "rank": -1, "BYTES_WRITTEN": 32 * MIB}])
    posix = frame("POSIX", [{"id": 1, "rank": 0, "BYTES_WRITTEN": 40 * MIB}, {"id": 2, "rank": 0, "BYTES_READ": MIB}])
    stdio = frame("STDIO", [{"id": 3, "rank": 0, "BYTES_WRITTEN": 16 << 30, "F_WRITE_TIME": 2.0}])
    made = job({"MPI-IO": mpi, "POSIX": posix, "STDIO": stdio})
    assert list(cost.moved_once(made).items()) == [("STDIO", 16 << 30), ("MPI-IO", 32 * MIB), ("POSIX", MIB)]
    assert headline(made) == "Transferred 16 GiB through STDIO at 8 GiB/s (estimate)."
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


@pytest.mark.parametrize(
    ("module", "calls", "expected"),
    [
        ("DFS", {"READS": 2, "READXS": 1, "LOOKUPS": 3, "STATS": 1}, {"read": 3, "meta": 4}),
        ("DAOS", {"ARRAY_READS": 2, "KV_GETS": 1, "KV_OPENS": 3, "OBJ_RECX_LISTS": 1}, {"read": 3, "meta": 4}),
        ("POSIX", {"READS": 3, "OPENS": 3, "FSYNCS": 1}, {"read": 3, "meta": 4}),
    ],
)
def test_the_io_of_ranks_has_the_calls_of_every_layer(module: str, calls: dict[str, int], expected: Any) -> None:
    times = {"F_READ_TIME": 1.0, "F_META_TIME": 0.5}
    made = job({module: frame(module, [{"id": 1, "rank": 2, "BYTES_READ": MIB, **times, **calls}])}, {1: "/a"})
    rows = rank_io(made)
    assert rows is not None
    assert dict(rows.rows("function", "calls")) == expected
    assert set(rows.rows("rank", "group", "file")) == {(2, module, "/a")}
    assert rows["time"].tolist() == [1.0, 0.5]
    assert rows["bytes"].tolist() == [MIB, 0]


def test_the_io_of_ranks_counts_what_dfs_does_through_daos_once() -> None:
    layers = {
        name: frame(name, [{"id": 1, "rank": 0, "BYTES_READ": MIB, "F_READ_TIME": 1}]) for name in ("DFS", "DAOS")
    }
    rows = rank_io(job(layers))
    assert rows is not None
    assert list(rows.rows("group", "bytes")) == [("DFS", MIB)]
    times, moved = rank_times(job(layers)), moved_by_rank(job(layers), "read")
    assert times is not None
    assert moved is not None
    assert list(times.rows("rank", "seconds", "bytes")) == [(0, 1.0, MIB)]
    assert moved.tolist() == [MIB, 0, 0, 0]


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


def lustre(rows: list[tuple[int, tuple[int, ...]]]) -> pd.DataFrame:
    """A layout of one component a file: id and targets."""
    columns = {"rank": 0, "component": 0, "stripe_size": MIB, "mirror": -1, "extent_start": 0, "extent_end": -1}
    return pd.DataFrame(
        [{"id": key, **columns, "stripe_count": len(osts), "osts": osts, "pool": ""} for key, osts in rows]
    )


def test_a_file_with_stripes_is_on_lustre_whatever_a_container_mounts() -> None:
    posix = frame("POSIX", [{"id": 1, "rank": 0, "BYTES_WRITTEN": MIB}, {"id": 2, "rank": 0, "BYTES_WRITTEN": 1}])
    made = job({"POSIX": posix, "LUSTRE": lustre([(1, (3, 4))])}, {1: "/data/a", 2: "/data/b"})
    assert [(row.mount, row.type, row.files) for row in files.file_systems(made).frame().itertuples()] == [
        ("/", "lustre", 1),
        ("/", "ext4", 1),
    ]
    assert job_words.main_file_system(made) == "/ (lustre)"


def test_bytes_of_single_stripes_are_those_of_their_targets_and_a_slow_one_is_named() -> None:
    own = [{"id": n, "rank": n, "BYTES_WRITTEN": 8 * MIB, "F_WRITE_TIME": 8.0 if n == 2 else 1.0} for n in range(4)]
    made = job({"POSIX": frame("POSIX", own), "LUSTRE": lustre([(n, (10 + n,)) for n in range(4)])})
    table = ost.target_bytes(made).table
    assert list(table["bytes"]) == [8 * MIB] * 4
    assert list(table["seconds"]) == [1.0, 1.0, 8.0, 1.0]
    assert list(ost.slow_targets(made)["ost"]) == [12]
    assert TARGET_BYTES.table(made).note.startswith(
        "Target 12 was slow: a process that used it moved 1 MiB a second, one of the median target 8 MiB."
    )
    striped = job({"POSIX": frame("POSIX", own), "LUSTRE": lustre([(0, (1, 2)), (1, (1,))])})
    assert ost.target_bytes(striped).table is None


def test_a_single_process_shares_with_nobody() -> None:
    posix = frame("POSIX", [SHARED])
    alone = replace(job({"POSIX": posix}, {1: "/a"}), nprocs=1)
    assert timespans.shared_spans(alone).frame().empty
    assert list(timespans.rank_spans(alone).frame()["rank"]) == [0]
    spent = cost.average_io(alone).frame().groupby("kind")["seconds"].sum()
    assert dict(spent) == {"independent": 4.4}
    assert not timespans.shared_spans(job({"POSIX": posix}, {1: "/a"})).frame().empty
    assert timespans.shared_spans(job({"POSIX": posix}, {1: "<STDOUT>"})).frame().empty


def test_bytes_that_posix_did_not_see_are_a_gap_and_no_ratio() -> None:
    mpi = frame("MPI-IO", [{"id": 1, "rank": 0, "BYTES_WRITTEN": 5 * MIB}])
    made = job({"MPI-IO": mpi, "POSIX": frame("POSIX", [{"id": 1, "rank": 0, "OPENS": 1}])})
    assert mpiio.byte_ratios(made) == {"read": None, "write": None}
    assert "POSIX saw next to none of 5 MiB that MPI-IO wrote" in job_words.verdicts(made)[1]


def test_what_a_log_does_not_know_is_no_fact_of_it() -> None:
    known, of_log = job_words.facts(job({}))
    assert {"MPI library", "compiler", "storage"}.isdisjoint(dict(of_log))
    assert dict(known)["run time"] == "10 s"
    whole = replace(job({}), version="3.21", run_time=1.0)
    assert dict(job_words.facts(whole)[0])["run time"] == "at most 1 s (this log counts whole seconds)"
    assert dict(job_words.facts(replace(whole, run_time=37517.0))[0])["run time"] == "10 h 25 min"


def test_large_numbers_have_the_unit_that_people_use() -> None:
    assert [words.duration(value) for value in (0.5, 98.7, 99.7, 125, 37517, None)] == [
        *("0.50 s", "98.7 s", "1 min 40 s", "2 min 5 s", "10 h 25 min", "n/a")
    ]
    assert [words.speed(value) for value in (24530, 673, 0.5, None)] == ["24.0 GiB/s", "673 MiB/s", "512 KiB/s", "n/a"]
    assert words.seconds(37517.2) == "37,517"
    assert all(NUMBER.match(cell) for cell in ("10 h 25 min", "1 min 40 s", "24.0 GiB/s", "37,517", "98.7 s"))


def test_an_overflow_is_remarked() -> None:
    values = np.array([[5, 5], [-1, -7], [-9, 3]])
    said = overflowed(values, ["POSIX_READS", "POSIX_BYTES_READ", "POSIX_STRIDE1_STRIDE"])
    assert said == "POSIX_BYTES_READ overflowed to negative values, which count as 0: sums are too small."
    assert overflowed(np.array([[-9]]), ["POSIX_RENAMED_FROM"]) == ""
    assert overflowed(np.array([[5], [-1], [3]]), ["a", "b", "c"]) == ""


def test_a_trace_that_ended_early_says_of_how_many_calls() -> None:
    traced = pd.DataFrame({"id": 1, "rank": 0, "op": "write", "offset": [0, 8], "length": 8, "start": 0.1, "end": 0.2})
    made = job({"POSIX": frame("POSIX", [{"id": 1, "rank": 0, "WRITES": 1000000}]), "DXT_POSIX": traced}, {1: "/a"})
    assert (traces.places(made, "DXT_POSIX").calls, traces.places(made, "DXT_POSIX").made) == (2, 1000000)
    (block,) = PLACES.figures(made)
    assert "2 of 1,000,000 calls of all ranks were traced" in block.caption


def test_a_file_without_time_and_bytes_worth_speaking_of_has_no_line() -> None:
    rows = [
        {"id": n, "rank": 0, "F_META_TIME": t, "BYTES_WRITTEN": b}
        for n, t, b in ((1, 5.0, 0), (2, 1e-5, 9), (3, 1e-5, 0))
    ]
    made = job({"POSIX": frame("POSIX", rows)})
    assert list(files.costly_files(made).frame()["id"]) == [1, 2]
    assert list(files.every_file(made).frame()["id"]) == [1, 2, 3]


@pytest.mark.parametrize(
    ("private", "said"),
    [({}, "does not record them"), ({"mpiio_hints": pd.DataFrame()}, "none was given")],
)
def test_no_hints_are_not_hints_that_nobody_recorded(private: dict[str, Any], said: str) -> None:
    assert said in no_hints(job({"MPI-IO": pd.DataFrame()}, **private))
    assert no_hints(job({})) == ""
