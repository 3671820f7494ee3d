"""Private tables are checked when the log is read, and converted to arrays when they are first used."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from iolens.fleet.job_rows import Met, read_rows
from iolens.log import read_log, reader
from iolens.log.format import fixed
from iolens.log.format.columns import Columns
from iolens.log.known import check_region
from iolens.log.records import Records

LOG = Path(__file__).parents[1] / "advice/logs/all-read.darshan"
NAMED = [{"name": "rank", "dtype": "<i8"}, {"name": "what", "dtype": "S4"}]


def part(rows: int, body: bytes, **said: object) -> bytes:
    return json.dumps({"rows": rows, **said}).encode() + b"\n" + body


def two_parts() -> Columns:
    first = part(2, np.array([1, 2], "<i8").tobytes() + b"ab\0\0cdef", columns=NAMED)
    return Columns([first, part(1, np.array([3], "<i8").tobytes() + "ü\0\0".encode())])


def test_arrays_are_made_of_all_parts_when_one_is_asked_for():
    table = two_parts()
    assert (list(table), len(table), table.kind("what"), table.kind("else")) == (["rank", "what"], 2, "O", "-")
    assert len(Records(table, count=table.rows)) == 3
    assert not table.made
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["what"].tolist() == ["ab", "cdef", "ü"]
    assert table.stored is None, "what was stored lies in memory beside the arrays"
    assert table.get("else") is None


def test_of_each_part_the_first_rows_are_kept():
    whole = two_parts()
    first = Columns([part(2, np.array([1, 2], "<i8").tobytes() + b"ab\0\0cdef", columns=NAMED)] * 2, most=1)
    assert (first.rows, first.left_out, whole.left_out) == (2, 2, 0)
    assert first["rank"].tolist() == [1, 1]
    assert first["what"].tolist() == ["ab", "ab"]


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([part(2, bytes(23), columns=NAMED)], "column what is cut off"),
        ([part(-1, bytes(24), columns=NAMED)], "column rank is cut off"),
        ([part(0, b"", columns=NAMED), part(0, b"", columns=NAMED[:1])], "different columns"),
        ([part(0, b"", columns=[{"name": "rank", "dtype": "O"}])], "of type 'O'"),
        ([b"{}"], "no header line"),
        ([b"[]\n"], "not an object"),
    ],
)
def test_parts_that_do_not_fit_are_met_before_anything_is_asked_for(parts, reason):
    with pytest.raises(ValueError, match=reason):
        Columns(parts)


def test_a_region_is_checked_without_making_it():
    table = Columns([part(1, bytes(12), columns=NAMED)])
    check_region("unfollowed", table)
    with pytest.raises(ValueError, match="it has no column file of the right type"):
        check_region("mpiio_hints", table)
    assert not table.made


def test_a_table_that_nobody_asks_for_is_not_made(monkeypatch):
    jobs = []

    def kept(*args):
        jobs.append(reader.job_of(*args))
        return jobs[-1]

    monkeypatch.setattr("iolens.fleet.job_rows.job_of", kept)
    state = LOG.stat()
    read_rows(Met(str(LOG), state.st_size, state.st_mtime_ns), advice=True)
    job = jobs[-1]
    assert "mpiio_extra" in job.tables
    assert not job.tables["mpiio_extra"].single.made
    assert read_log(LOG).tables["mpiio_extra"]["rank"].tolist() == job.tables["mpiio_extra"]["rank"].tolist()


def test_a_counter_with_one_value_in_a_large_log_takes_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
    from large_log import write_log

    write_log(tmp_path / "many.darshan", 300)
    usual = read_log(tmp_path / "many.darshan").records["POSIX"]
    monkeypatch.setattr(fixed, "_SMALL", 0)
    large = read_log(tmp_path / "many.darshan").records["POSIX"]
    assert large["POSIX_MMAPS"].strides == large["POSIX_F_META_TIME"].strides == (0,)
    assert large["POSIX_WRITES"].strides == (8,)
    pd.testing.assert_frame_equal(usual.frame(), large.frame())
    assert [*large.where(np.arange(3)).rows()] == [*usual.where(np.arange(3)).rows()]
