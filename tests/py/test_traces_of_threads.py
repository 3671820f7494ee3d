"""Traces that name the thread of each access: DXT_POSIX 2 and DXT_MPIIO 3, in a log that Darshan wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from iolens.cli.main import main
from iolens.log import read_log
from iolens.metrics.traces import threads

DATA = Path(__file__).resolve().parents[1] / "data"
LOG = DATA / "darshan/dxt-threads-3.5-dev.darshan"


def test_each_access_has_its_thread() -> None:
    job = read_log(LOG)
    frame = job.frames["DXT_POSIX"]
    frame = frame[frame["id"].map(job.names).str.endswith("/threads.out")]
    assert len(frame) == 30
    for row in frame.itertuples():
        k = row.offset // 10000
        assert (row.rank, row.thread) == divmod(k, 3)
        assert row.length == (500 + 100 * k if row.op == "write" else 100)


def test_what_each_thread_moved() -> None:
    found = threads(read_log(LOG))
    assert found is not None
    found = found[(found["layer"] == "POSIX") & (found["thread"] < 3)]
    told = [tuple(row) for row in found[["rank", "thread", "calls", "read", "written"]].to_numpy().tolist()]
    assert told == [(k // 3, k % 3, 5, 100, 4 * (500 + 100 * k)) for k in range(6)]
    assert (found["seconds"] > 0).all()


def test_older_traces_tell_no_threads() -> None:
    job = read_log(DATA / "darshan/hdf5_diagonal_write_half_ranks_dxt.darshan")
    assert "thread" not in job.frames["DXT_POSIX"]
    assert threads(job) is None


def test_threads_are_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(LOG), "--csv", str(tmp_path)]) == 0
    (table,) = tmp_path.glob("*threads.csv")
    assert table.read_text().splitlines()[0] == "layer,rank,thread,calls,read,written,seconds"
