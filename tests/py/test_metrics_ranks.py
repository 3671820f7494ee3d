"""Tests the activity of each rank and differences between ranks, computed by hand for small made-up jobs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from iolens.log import Job
from iolens.metrics.files.writers import moved_by_rank
from iolens.metrics.job import balance, cost
from iolens.metrics.job.interfaces import mpiio, private_counts
from iolens.metrics.job.ranks import rank_times
from iolens.metrics.processor.io.ranks import rank_io
from iolens.metrics.times import timespans
from iolens.pages.exhibits.ranks import PROCESSES, RANK_BALANCE
from job_example import MIB, SHARED, frame, job, small_job


@pytest.fixture
def made() -> Job:
    return small_job()


def test_spans(made: Job) -> None:
    own = timespans.rank_spans(made).frame()
    # The records of rank 2 are for <STDIN> alone, which does not count.
    assert own.values.tolist() == [["read", 0, 0.5, 0.75]]
    shared_file = timespans.shared_spans(made).frame()
    assert shared_file[["path", "kind", "start", "end"]].values.tolist() == [["/scratch/shared.dat", "write", 1.0, 9.0]]


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
    assert width == pytest.approx(0.2)  # The job ends in bin 99, so two of its bins make a column.
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
        for module in ("POSIX", "MPI-IO")  # POSIX also counts the bytes that MPI-IO moves.
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
    """Makes the region `process` with these rows (rank, ranks); other columns are 1 unless given."""
    frame = pd.DataFrame({"rank": [rank for rank, _ in ranks], "ranks": [count for _, count in ranks]})
    return frame.assign(**dict.fromkeys(private_counts.MEASURES, 1)).assign(**columns)


def test_what_processes_took() -> None:
    table = usage_of((1, 1), (0, 1), (2, 1), (3, 1), max_rss=[5.0 * MIB, MIB, MIB, MIB], user_time=[1.0, 4.0, 1.0, 2.0])
    here = job({}, process=table)
    found = private_counts.usage(here).frame().set_index("what")
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
    assert private_counts.usage(job({})) is None


def test_ranks_known_as_a_sum_have_no_most() -> None:
    table = usage_of((2, 1), (-1, 3), max_rss=[9, 7], user_time=[1.0, 5.0])
    here = job({}, process=table)
    found = private_counts.usage(here).frame().set_index("what")
    memory, spent = found.loc["largest resident set"], found.loc["processor time in the program"]
    assert (memory["most"], memory["most_rank"]) == (9, 2)
    assert math.isnan(memory["mean"])
    assert (spent["total"], spent["mean"]) == (6, 1.5)
    assert math.isnan(spent["most"])
    assert PROCESSES.figures(here) == []


def test_who_really_wrote(made: Job) -> None:
    columns = ["file", "rank", "writes", "bytes_written", "largest_write", "common_write", "common_write_count"]
    rows = [(1, 2, 3, 30, 16, 8, 2), (1, 0, 5, 50, 12, 12, 4), (1, 1, 0, 0, 0, 0, 0)]
    ranks = pd.DataFrame(rows, columns=columns).assign(writes_not_aligned=[3, 1, 0], write_time=[0.5, 0.25, 0.0])
    found = mpiio.aggregators(job({}, {1: "/scratch/shared.dat"}, file_ranks=ranks)).frame()
    assert found is not None
    assert found.iloc[0].to_dict() == {
        "path": "/scratch/shared.dat",
        "files": 1,
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
    assert mpiio.listed_ranks(ranks) == words


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


def test_a_single_process_shares_with_nobody() -> None:
    posix = frame("POSIX", [SHARED])
    alone = replace(job({"POSIX": posix}, {1: "/a"}), nprocs=1)
    assert timespans.shared_spans(alone).frame().empty
    assert list(timespans.rank_spans(alone).frame()["rank"]) == [0]
    spent = cost.average_io(alone).frame().groupby("kind")["seconds"].sum()
    assert dict(spent) == {"independent": 4.4}
    assert not timespans.shared_spans(job({"POSIX": posix}, {1: "/a"})).frame().empty
    assert timespans.shared_spans(job({"POSIX": posix}, {1: "<STDOUT>"})).frame().empty
