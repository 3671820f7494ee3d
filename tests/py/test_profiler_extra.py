"""Calls without a slot in Darshan's records are counted in the private region; their bytes are in the POSIX record."""

from __future__ import annotations

from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log
from iolens.metrics.job.share import io_mean_seconds
from iolens.metrics.processor.io.ranks import rank_io
from iolens.pages.exhibits.files import OTHER_CALLS


def test_each_call_is_counted_and_the_bytes_it_moves(tmp_path: Path) -> None:
    harness.build_library()
    done = harness.run(harness.build_program("posix_extra"), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = harness.logs(tmp_path)
    table = read_log(path).private["posix_extra"]
    names = harness.read_log(path).name_records
    counts = table.drop(columns=["rank", "seconds", "sync_seconds"])
    counts = counts.assign(file=[names[int(key)] for key in table["file"]])
    long = counts.melt("file")
    found = {(row.file, row.variable): row.value for row in long.itertuples() if row.value}
    lines = [line.split() for line in done.stdout.splitlines()]
    expected = {(words[1], words[2]): int(words[3]) for words in lines if words[0] == "EXTRA"}
    assert found == expected
    assert (table["seconds"] >= 0).all()
    moved = {words[1]: (int(words[2]), int(words[3])) for words in lines if words[0] == "MOVED"}
    report = harness.read_log(path)
    for name, (read, written) in moved.items():
        posix = harness.counters(report, str(tmp_path / name))
        own = 4000 if name == "from.dat" else 0
        assert (posix["POSIX_BYTES_READ"], posix["POSIX_BYTES_WRITTEN"] - own) == (read, written), name
    sent = harness.counters(report, str(tmp_path / "from.dat"))
    assert sent["POSIX_MAX_BYTE_READ"] == 3999
    for expectation in harness.expectations(done.stdout):
        assert harness.differences(expectation, harness.counters(report, expectation.path)) == {}


def test_the_report_shows_them(tmp_path: Path) -> None:
    harness.build_library()
    harness.run(harness.build_program("posix_extra"), folder=tmp_path)
    (path,) = harness.logs(tmp_path)
    assert ["unlinks", "4", "4"] in OTHER_CALLS.table(read_log(path)).rows


def test_time_on_folders_and_names_is_time_of_io(tmp_path: Path) -> None:
    """The time of mkdir, rmdir, unlink and similar calls counts, although no counter of Darshan's holds it."""
    harness.build_library()
    harness.run(harness.build_program("posix_extra"), folder=tmp_path)
    job = read_log(harness.logs(tmp_path)[0])
    extra = job.private["posix_extra"]
    counted = sum(
        frame[f"{layer}_F_{kind}_TIME"].sum()
        for layer, frame in job.frames.items()
        if layer in ("POSIX", "STDIO")
        for kind in ("READ", "WRITE", "META")
    )
    assert extra["seconds"].sum() > 0
    assert io_mean_seconds(job) == pytest.approx(counted + extra["seconds"].sum())
    rows = rank_io(job)
    assert rows is not None
    assert rows["time"].sum() == pytest.approx(io_mean_seconds(job))


def test_the_time_of_syncs_is_known_apart_from_that_of_writes(tmp_path: Path) -> None:
    harness.build_library()
    harness.run(harness.build_program("posix_meta"), folder=tmp_path)
    job = read_log(harness.logs(tmp_path)[0])
    table, posix = job.private["posix_extra"], job.frames["POSIX"]
    synced = posix[posix["POSIX_FSYNCS"] + posix["POSIX_FDSYNCS"] > 0]
    seconds = dict(zip(table["file"], table["sync_seconds"], strict=True))
    assert len(synced)
    assert {key for key, spent in seconds.items() if spent > 0} == set(synced["id"])
    assert [row.id for row in synced.itertuples() if seconds[row.id] > row.POSIX_F_WRITE_TIME + 1e-6] == []
