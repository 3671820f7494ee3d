"""Tests files, their cost and their place, compared with values computed by hand for small made-up jobs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from iolens.log import Job
from iolens.metrics.files import costly_files, special_uses
from iolens.metrics.files import overview as files
from iolens.metrics.files.stripes import ost, striping
from iolens.metrics.times import traces
from iolens.pages.exhibits.striping import TARGET_BYTES
from iolens.pages.exhibits.timelines import PLACES
from iolens.pages.wording import job_words as job_words
from job_example import MIB, OWN, frame, job, small_job


@pytest.fixture
def made() -> Job:
    return small_job()


def test_costly_files_stand_in_one_list() -> None:
    slow = [{"id": n, "rank": 0, "F_READ_TIME": 10.0 + n, "BYTES_READ": 1} for n in range(1, 17)]
    large = [{"id": 100 + n, "rank": 0, "F_READ_TIME": 1.0, "BYTES_READ": MIB * n} for n in range(1, 15)]
    found = costly_files.costly_files(job({"POSIX": frame("POSIX", [*slow, *large])})).frame()
    # The first 15 rows are the slowest files, by their time. Then come the files with the most bytes: the large files,
    # and the last of the slow files.
    assert found["path"][:15].tolist() == [f"record {n}" for n in range(16, 1, -1)]
    assert {f"record {100 + n}" for n in range(1, 15)} <= set(found["path"][15:])
    assert found["path"].is_unique


def test_files_by_use(made: Job) -> None:
    counts = files.file_counts(made).frame().set_index("category")
    assert counts["files"].to_dict() == {
        "all files": 4,
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
    found = costly_files.top_files(made, "seconds").frame()
    assert found["path"].tolist() == ["<STDIN>", "/scratch/shared.dat", "/etc/b", "/scratch/home/a"]
    assert found["seconds"].tolist() == [2.5, 2.0, 2.0, 1.0]


def test_records_of_one_file_on_several_ranks_are_one_file() -> None:
    rows = [{**OWN, "rank": rank, "F_READ_TIME": 1.0 + rank} for rank in range(3)]
    found = files.files(job({"POSIX": frame("POSIX", rows)}), "POSIX").frame()
    assert found[["processes", "bytes_read", "seconds", "size"]].values.tolist() == [[3, 600, 3.0, 200]]


def test_variance_of_shared_files(made: Job) -> None:
    found = special_uses.variance(made).frame().iloc[0]
    assert (found["fastest_rank"], found["slowest_rank"], found["processes"]) == (3, 1, 4)
    assert (found["sigma_seconds"], found["sigma_bytes"]) == (0.5, 4.0)


def test_a_file_of_some_ranks_is_grouped() -> None:
    rows = [{**OWN, "rank": rank, "F_READ_TIME": 1.0 + rank, "BYTES_READ": 100 * rank} for rank in (1, 3)]
    found = special_uses.variance(job({"POSIX": frame("POSIX", rows)}, {OWN["id"]: "/scratch/part"})).frame()
    row = found.iloc[0]
    assert (row["path"], row["processes"], row["fastest_rank"], row["slowest_rank"]) == ("/scratch/part", 2, 1, 3)
    assert row["sigma_seconds"] == pytest.approx(1.0)
    assert row["sigma_bytes"] == pytest.approx(100.0)


def test_places_are_the_cells_that_calls_cover() -> None:
    columns = ["id", "op", "offset", "length", "start", "end"]
    rows = [
        # This call covers the first quarter of the file, within the first of ten seconds.
        (1, "write", 0, 250, 0.0, 0.1),
        (1, "write", 500, 500, 4.0, 6.9),
        (1, "read", 250, 1, 9.5, 9.6),
        (1, "read", -1, 100, 0.0, 9.0),  # The offset of this access is unknown.
        (2, "write", 0, 100, 0.0, 9.0),  # This access is to another file, which has fewer bytes.
    ]
    made = job({"DXT_POSIX": pd.DataFrame(rows, columns=columns)}, {1: "/scratch/busy"})
    found = traces.transfer_places(made, "DXT_POSIX", rows=4, columns=10)
    assert found is not None
    assert (found.path, found.end, found.seconds, found.calls) == ("/scratch/busy", 1000, 10.0, 4)
    assert np.argwhere(found.written).tolist() == [[0, 0], [2, 4], [2, 5], [2, 6], [3, 4], [3, 5], [3, 6]]
    assert np.argwhere(found.read).tolist() == [[1, 9]]
    assert traces.transfer_places(made, "DXT_MPIIO") is None


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


def lustre(rows: list[tuple[int, tuple[int, ...]]]) -> pd.DataFrame:
    """Returns layouts with one component per file, from the ids of files and their targets."""
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
        "Target 12 was slow: a process that used it moved 1.00 MiB/s, a process on the median target 8.00 MiB/s."
    )
    striped = job({"POSIX": frame("POSIX", own), "LUSTRE": lustre([(0, (1, 2)), (1, (1,))])})
    assert ost.target_bytes(striped).table is None


def test_a_trace_that_ended_early_says_of_how_many_calls() -> None:
    traced = pd.DataFrame({"id": 1, "rank": 0, "op": "write", "offset": [0, 8], "length": 8, "start": 0.1, "end": 0.2})
    made = job({"POSIX": frame("POSIX", [{"id": 1, "rank": 0, "WRITES": 1000000}]), "DXT_POSIX": traced}, {1: "/a"})
    assert (traces.transfer_places(made, "DXT_POSIX").calls, traces.transfer_places(made, "DXT_POSIX").made) == (
        2,
        1000000,
    )
    (block,) = PLACES.figures(made)
    assert "2 of 1,000,000 calls of all ranks were traced" in block.caption


def test_a_file_without_time_and_bytes_worth_speaking_of_has_no_line() -> None:
    rows = [
        {"id": n, "rank": 0, "F_META_TIME": t, "BYTES_WRITTEN": b}
        for n, t, b in ((1, 5.0, 0), (2, 1e-5, 9), (3, 1e-5, 0))
    ]
    made = job({"POSIX": frame("POSIX", rows)})
    assert list(costly_files.costly_files(made).frame()["id"]) == [1, 2]
    assert list(costly_files.every_file(made).frame()["id"]) == [1, 2, 3]
