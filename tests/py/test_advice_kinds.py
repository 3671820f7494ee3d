"""Tests that faults are named as what they are: jobs with the numbers of other people's logs, and programs that are run
with the profiler.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import profiler_harness as harness
import pytest
from iolens.advise import Diagnosis, diagnosis
from iolens.log import Job, read_log
from job_example import MIB, frame, job_of
from processor_example import USE
from test_advise_rules import layouts


def ids(found: Diagnosis) -> list[str]:
    """Returns the ids of the findings that are worth a change, in their order."""
    return [one.id for one in found.worth]


def striped(run_time: float, nprocs: int, posix: dict[str, Any], stripes: int, **upper: Any) -> Job:
    """Returns a job of Darshan with one shared file on some stripes; `upper`: the record of MPI-IO."""
    frames = {"POSIX": frame("POSIX", [{"id": 1, "rank": -1} | posix]), "LUSTRE": layouts({1: [*range(stripes)]})}
    if upper:
        frames["MPI-IO"] = frame("MPI-IO", [{"id": 1, "rank": -1} | upper])
    return job_of(run_time, nprocs=nprocs, version="3.21", frames=frames, names={1: "/scratch/data"})


SMALL_PIECES = {
    "OPENS": 65,
    "WRITES": 655_384,
    "SIZE_WRITE_100_1K": 655_378,
    "BYTES_WRITTEN": 167_784_116,
    "MAX_BYTE_WRITTEN": 42_949_695_833,
    "SLOWEST_RANK_BYTES": 167_784_116,
    "F_WRITE_TIME": 86.15,
    "F_META_TIME": 0.73,
    "F_SLOWEST_RANK_TIME": 70.06,
}
"""One aggregator of 64 ranks that writes pieces of 256 B below collective calls."""


def test_an_aggregator_that_writes_small_pieces_is_no_lack_of_targets() -> None:
    upper = {"COLL_OPENS": 64, "COLL_WRITES": 768, "BYTES_WRITTEN": 167_784_116, "SIZE_WRITE_AGG_100K_1M": 640}
    found = diagnosis(striped(72.0, 64, SMALL_PIECES, 1, **upper, F_WRITE_TIME=4584.5, F_SLOWEST_RANK_TIME=71.87))
    assert ids(found) == ["not-aggregated"]
    assert "655,384 POSIX writes of 256 B on average that lie apart" in found.findings[0].evidence


@pytest.mark.parametrize(("stripes", "said"), [(1, ["narrow-stripes"]), (8, [])])
def test_one_stripe_is_blamed_where_its_target_was_busy(stripes: int, said: list[str]) -> None:
    """The same 64 GiB by 64 ranks took 219 s on one stripe; a run with eight stripes saves more than 1 - 1/8 of it."""
    posix = {"OPENS": 64, "WRITES": 65_536, "BYTES_WRITTEN": 65_536 * MIB, "MAX_BYTE_WRITTEN": 65_536 * MIB - 1}
    posix |= {"SIZE_WRITE_100K_1M": 65_536, "F_WRITE_TIME": 14_000.0, "F_SLOWEST_RANK_TIME": 219.0}
    posix |= {"F_WRITE_START_TIMESTAMP": 10.0, "F_WRITE_END_TIMESTAMP": 240.0, "F_CLOSE_END_TIMESTAMP": 241.0}
    found = diagnosis(striped(366.0, 64, posix, stripes))
    assert [one for one in ids(found) if one == "narrow-stripes"] == said
    for one in found.findings:
        if one.id == "narrow-stripes":
            assert one.bound == pytest.approx(231 / 365)
            assert "about 52 %, at most 64 % of the run" in one.gain_words
            assert one.gain is not None
            assert one.gain < 222 / 366 < (one.bound or 0.0)  # The run with eight stripes took 144 s.


def test_a_file_that_one_rank_writes_and_another_reads_is_not_shared_by_two_at_a_time() -> None:
    rows = [
        {
            "id": 1,
            "rank": 7,
            "WRITES": 1024,
            "BYTES_WRITTEN": 1024 * MIB,
            "MAX_BYTE_WRITTEN": 1024 * MIB - 1,
            "F_WRITE_TIME": 9.0,
        },
        {
            "id": 1,
            "rank": 55,
            "READS": 1024,
            "BYTES_READ": 1024 * MIB,
            "MAX_BYTE_READ": 1024 * MIB - 1,
            "F_READ_TIME": 9.0,
        },
    ]
    frames = {"POSIX": frame("POSIX", rows), "LUSTRE": layouts({1: [0]})}
    found = diagnosis(job_of(20.0, nprocs=64, frames=frames, names={1: "/scratch/data"}))
    assert "narrow-stripes" not in [one.id for one in found.findings]


def test_a_rate_is_compared_with_that_of_all_processes_that_moved_bytes() -> None:
    """Each of 64 files has two ranks, of which one writes 1 GiB: 64 processes write, not 2."""
    rows = [
        {
            "id": key + 1,
            "rank": (key + shift) % 64,
            "OPENS": 1,
            "WRITES": 1024 * (shift == 0),
            "F_WRITE_TIME": 4.7 * (shift == 0),
        }
        | {"BYTES_WRITTEN": 1024 * MIB * (shift == 0), "MAX_BYTE_WRITTEN": 1024 * MIB - 1}
        for key in range(64)
        for shift in (0, 16)
    ]
    names = {key + 1: f"/scratch/{key}" for key in range(64)}
    found = diagnosis(job_of(60.0, nprocs=64, frames={"POSIX": frame("POSIX", rows)}, names=names))
    assert "above-device" not in [one.id for one in found.findings]


def test_small_stripes_are_no_fault_of_files_that_are_read() -> None:
    posix = {
        "READS": 12_288,
        "BYTES_READ": 12_288 * 128 * MIB,
        "MAX_BYTE_READ": (2 << 40) - 1,
        "SIZE_READ_100M_1G": 12_288,
    }
    found = diagnosis(striped(85.0, 2048, posix | {"F_READ_TIME": 143_000.0, "F_SLOWEST_RANK_TIME": 76.3}, 24))
    assert "stripe-size" not in ids(found)


def test_unequal_opens_are_no_unequal_transfers() -> None:
    """128 ranks write 20 MiB in 0.018 s each, and create their files in 0.01 to 0.6 s."""
    meta = np.linspace(0.0, 1.0, 128) ** 4 * 0.57 + 0.002
    rows = [
        {
            "id": rank + 1,
            "rank": rank,
            "OPENS": 1,
            "WRITES": 20,
            "BYTES_WRITTEN": 20 * MIB,
            "MAX_BYTE_WRITTEN": 20 * MIB - 1,
        }
        | {"F_WRITE_TIME": 0.0184, "F_META_TIME": float(each)}
        for rank, each in enumerate(meta)
    ]
    names = {key: f"/lustre/out-{key}" for key in range(1, 129)}
    assert ids(diagnosis(job_of(2.0, nprocs=128, frames={"POSIX": frame("POSIX", rows)}, names=names))) == []


@pytest.mark.parametrize("calls", [21, 900, 1500])
def test_costly_small_writes_are_named_whatever_their_number(calls: int) -> None:
    row = {
        "id": 1,
        "rank": 0,
        "WRITES": calls,
        "SIZE_WRITE_1K_10K": calls,
        "BYTES_WRITTEN": 4096 * calls,
        "SEQ_WRITES": calls,
    }
    row["MAX_BYTE_WRITTEN"] = 4096 * calls - 1
    made = job_of(
        10.0, nprocs=1, frames={"POSIX": frame("POSIX", [row | {"F_WRITE_TIME": 9.9}])}, names={1: "/scratch/a"}
    )
    assert ids(diagnosis(made)) == ["small-writes"]


@pytest.mark.parametrize("kind", ["unlinks", "renames"])
def test_unlinks_and_renames_are_metadata(kind: str) -> None:
    row = {"id": 1, "rank": 0, "OPENS": 1, "WRITES": 1, "BYTES_WRITTEN": 10, "F_WRITE_TIME": 0.001}
    private: dict[str, Any] = {}
    if kind == "renames":
        row |= {"RENAME_SOURCES": 60_000, "F_META_TIME": 6.0}
    else:
        extra = {"file": np.uint64(1), "rank": 0, "unlinks": 20_000, "seconds": 6.0, "sync_seconds": 0.0}
        private["posix_extra"] = pd.DataFrame([extra])
    made = job_of(10.0, nprocs=1, frames={"POSIX": frame("POSIX", [row])}, names={1: "/scratch/a"}, private=private)
    found = diagnosis(made)
    assert ids(found) == ["metadata-storm"]
    assert f"0 {kind}" in found.findings[0].evidence


def test_a_large_input_that_every_rank_reads_is_named() -> None:
    size = 160 * MIB
    row = {"id": 1, "rank": -1, "OPENS": 16, "READS": 16 * 160, "BYTES_READ": 16 * size, "MAX_BYTE_READ": size - 1}
    row |= {"F_READ_TIME": 64.0, "F_SLOWEST_RANK_TIME": 4.1, "SIZE_READ_100K_1M": 16 * 160}
    made = job_of(10.0, nprocs=16, frames={"POSIX": frame("POSIX", [row])}, names={1: "/scratch/input"})
    assert ids(diagnosis(made)) == ["all-read-one"]


def test_reads_of_a_pipe_are_no_small_reads() -> None:
    row: dict[str, Any] = {
        "id": 1,
        "rank": 0,
        "READS": 20_000,
        "BYTES_READ": 400_000,
        "F_READ_TIME": 9.0,
        "MAX_BYTE_READ": 399_999,
    }
    made = job_of(10.0, nprocs=1, frames={"STDIO": frame("STDIO", [row])}, names={1: "<STDIN>"})
    found = diagnosis(made)
    assert found.verdict.sentence.startswith("Bound by standard input;")
    assert ids(found) == ["standard-input"]


@pytest.mark.parametrize(("writes", "name"), [(1, "polled-file"), (300_000, "metadata-storm")])
def test_a_flag_file_that_is_polled_is_named(writes: int, name: str) -> None:
    row: dict[str, Any] = {
        "id": 1,
        "rank": 0,
        "OPENS": 300_000,
        "READS": 300_000,
        "BYTES_READ": 300_000,
        "WRITES": writes,
    }
    row |= {"BYTES_WRITTEN": writes, "F_META_TIME": 4.0, "F_READ_TIME": 1.0, "SIZE_READ_0_100": 300_000}
    made = job_of(10.0, nprocs=1, frames={"POSIX": frame("POSIX", [row])}, names={1: "/scratch/flag"})
    assert ids(diagnosis(made))[0] == name


def test_columns_of_a_dataset_in_chunks_of_rows_are_named_though_accesses_are_few() -> None:
    dataset: dict[str, Any] = {
        "id": 7,
        "rank": 0,
        "READS": 12,
        "BYTES_READ": 192_000,
        "DATATYPE_SIZE": 4,
        "F_READ_TIME": 5.0,
    }
    dataset |= {"CHUNK_SIZE_D1": 1, "CHUNK_SIZE_D2": 20_000, "OPENS": 1}
    posix: dict[str, Any] = {
        "id": 1,
        "rank": 0,
        "READS": 48_000,
        "BYTES_READ": 48_000 * 80_000,
        "SIZE_READ_10K_100K": 48_000,
    }
    posix |= {"MAX_BYTE_READ": 320_000_000, "F_READ_TIME": 5.0}
    frames = {
        "H5D": frame("H5D", [dataset]),
        "H5F": frame("H5F", [{"id": 1, "rank": 0}]),
        "POSIX": frame("POSIX", [posix]),
    }
    assert ids(diagnosis(job_of(10.0, nprocs=1, frames=frames, names={1: "/scratch/c.h5"})))[0] == "hdf5-chunks"


@pytest.mark.parametrize(
    ("on_core", "waited", "kind"), [(0.3, 9.1, "cores"), (0.3, 0.1, "asleep"), (9.2, 0.1, "compute")]
)
def test_the_headline_is_about_the_largest_part_of_the_time(on_core: float, waited: float, kind: str) -> None:
    """I/O took 0.6 s of 10 s, and small writes are a finding; but the process spent its time elsewhere."""
    row = {
        "id": 1,
        "rank": 0,
        "WRITES": 5000,
        "SIZE_WRITE_0_100": 5000,
        "BYTES_WRITTEN": 400_000,
        "F_WRITE_TIME": 0.6,
        "SEQ_WRITES": 5000,
    }
    used = dict.fromkeys(USE.split(), 0.0) | {"rank": 0, "ranks": 1, "seconds": 10.0, "user_time": on_core}
    used |= {"first_on_core": on_core, "first_runnable": waited}
    frames, private = (
        {"POSIX": frame("POSIX", [row | {"MAX_BYTE_WRITTEN": 399_999}])},
        {"process": pd.DataFrame([used])},
    )
    found = diagnosis(job_of(10.0, nprocs=1, frames=frames, names={1: "/scratch/a"}, private=private))
    assert ids(found) == ["small-writes"]
    assert found.verdict.kind == kind


def test_two_megabytes_with_a_sync_each_are_no_small_transfers() -> None:
    row = {"id": 1, "rank": 0, "WRITES": 120, "SIZE_WRITE_1M_4M": 120, "BYTES_WRITTEN": 240 * MIB, "FSYNCS": 120}
    row |= {"MAX_BYTE_WRITTEN": 240 * MIB - 1, "F_WRITE_TIME": 9.0}
    found = diagnosis(job_of(10.0, nprocs=1, frames={"POSIX": frame("POSIX", [row])}, names={1: "/scratch/a"}))
    assert ids(found) == ["sync-each-write"]
    assert found.verdict.sentence == "Bound by syncs; a remedy can save about 90 % of the run."


@pytest.mark.parametrize("flag", ["O_SYNC", "O_DSYNC"])
def test_files_opened_for_synchronous_writing_are_named(flag: str, tmp_path: Path) -> None:
    """The log has the flag. How long a write waits depends on the machine, so that the time is put into the record."""
    harness.build_library()
    script = tmp_path / "program.py"
    script.write_text(
        f"import os\nfd = os.open('out', os.O_CREAT | os.O_WRONLY | os.{flag})\n"
        "for _ in range(30): os.write(fd, bytes(2 << 20))\n"
    )
    assert harness.run(Path(sys.executable), str(script), folder=tmp_path).returncode == 0
    (path,) = harness.logs(tmp_path)
    job = read_log(path)
    extra = job.private["posix_extra"]
    assert extra["sync_opens"].sum() == 1
    (key,) = extra.loc[extra["sync_opens"] > 0, "file"]
    row = {"id": int(key), "rank": 0, "WRITES": 30, "BYTES_WRITTEN": 60 << 20, "MAX_BYTE_WRITTEN": (60 << 20) - 1}
    posix = frame("POSIX", [row | {"SIZE_WRITE_1M_4M": 30, "F_WRITE_TIME": 9.0}])
    made = job_of(10.0, nprocs=1, frames={"POSIX": posix}, names=dict(job.names), private={"posix_extra": extra})
    found = diagnosis(made)
    assert ids(found) == ["sync-open"]
    assert found.verdict.sentence.startswith("Bound by syncs;")
