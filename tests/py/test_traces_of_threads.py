"""Tests that traces with the thread of each access are read: version 2 of DXT_POSIX and version 3 of DXT_MPIIO, in a
log that Darshan wrote.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pandas as pd
import pytest
from iolens.cli.main import main
from iolens.log import read_log
from iolens.log.format import container, dxt
from iolens.metrics.files import special_uses
from iolens.metrics.files.stripes import ost
from iolens.metrics.times import traces
from iolens.metrics.times.traces import threads

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


@pytest.mark.parametrize("path", [LOG, DATA / "darshan/hdf5_diagonal_write_half_ranks_dxt.darshan"], ids=["v2", "v1"])
def test_the_size_of_pieces_does_not_matter(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_log(path)
    alone = traces.transfer_places(whole, "DXT_POSIX")
    monkeypatch.setattr(container, "WINDOW", 7)
    monkeypatch.setattr(dxt, "STEP", 1)
    for module in (traces, special_uses, ost):
        monkeypatch.setattr(module, "PIECE", 3)
    again = read_log(path)
    pd.testing.assert_frame_equal(whole.frames["DXT_POSIX"], again.frames["DXT_POSIX"])
    found = traces.transfer_places(again, "DXT_POSIX")
    assert found is not None
    assert alone is not None
    assert (found.written == alone.written).all()
    assert (found.read == alone.read).all()
    assert (found.path, found.end, found.begin, found.seconds) == (alone.path, alone.end, alone.begin, alone.seconds)
    assert found.calls == alone.calls


def test_ten_million_accesses_are_half_a_gigabyte() -> None:
    frame = read_log(DATA / "darshan/hdf5_diagonal_write_half_ranks_dxt.darshan").frames["DXT_POSIX"]
    assert frame.memory_usage(index=False).sum() <= 50 * len(frame) + 1000


def test_a_transfer_that_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ["id", "rank", "op", "offset", "length", "start", "end"]
    rows = [(1, 0, "read", 0, 10, 5.0, 5.1), (2, 0, "read", 0, 10, 0.0, 1.0), (1, 0, "read", 0, 10, 0.0, 1.0)]
    rows += [(1, 0, "write", 0, 10, 2.0, 3.0), (1, 1, "read", 0, 10, 6.0, 7.0), (1, 0, "read", 0, 20, 8.0, 9.0)]
    monkeypatch.setattr(special_uses, "PIECE", 1)
    traced = dataclasses.replace(read_log(LOG), frames={"DXT_POSIX": pd.DataFrame(rows, columns=columns)})
    found = special_uses.cold_and_warm(traced)
    assert found is not None
    assert found["id"].tolist() == [1]
    assert found["bytes"].tolist() == [10]
    assert found["warm"].tolist() == pytest.approx([100.0])
    assert found["cold"].tolist() == pytest.approx([40 / 3.0])
