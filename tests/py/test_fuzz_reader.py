"""Gives damaged logs to the reader: a fixed sample of tests/fuzz/reader.py, and the faults that its long runs found."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from iolens.advise import diagnosis
from iolens.log import LogError, read_log
from iolens.log.format import container
from iolens.log.format.fallback import read_with_darshan
from iolens.log.reader import read_module
from iolens.log.rewrite import Contents, put_together, split_log
from iolens.pages.wording.job_judgement import spoken
from iolens.pages.wording.job_lists import advice_json, advice_text, job_json

TESTS = Path(__file__).resolve().parents[1]
LOGS = sorted((TESTS / "data").rglob("*.darshan"))
OURS = TESTS / "data/iolens/mpi_calls.darshan"

sys.path.insert(0, str(TESTS / "fuzz"))
import reader as fuzzer  # noqa: E402


def rewritten(folder: Path, **changes: Any) -> Path:
    """Returns the path of a sample log that was written again with other contents."""
    log = container.open_container(OURS)
    path = folder / "changed.darshan"
    path.write_bytes(put_together(log, dataclasses.replace(split_log(log), **changes)))
    return path


def contents() -> Contents:
    return split_log(container.open_container(OURS))


def only_damage(path: Path) -> str:
    """Returns the sentence of a log of which a single region is damaged; the other regions must have been read."""
    job = read_log(path)
    assert job.records or job.private
    (said,) = job.missing
    return said


def test_a_sample_of_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzer.reader, "read_with_darshan", lambda path, module: (None, "it is left out here"))
    tally = fuzzer.fuzz(count=250, seed=0, pages=100)
    assert tally.failures == {}
    assert tally.read > 50
    assert tally.refused > 50


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_log_put_together_again_is_the_same(path: Path, tmp_path: Path) -> None:
    log = container.open_container(path)
    again = tmp_path / path.name
    again.write_bytes(put_together(log, split_log(log)))
    assert split_log(container.open_container(again)) == split_log(log)
    first, second = read_log(path), read_log(again)
    assert (second.names, second.metadata, second.mounts) == (first.names, first.metadata, first.mounts)
    assert all(second.frames[name].equals(frame) for name, frame in first.frames.items())


def with_private(folder: Path, name: str, **values: Any) -> Path:
    """Returns a sample log with other values in the JSON of a private region's first chunk."""
    regions = []
    for region in contents().private or ():
        head, newline, body = region.chunks[0].partition(b"\n")
        if region.name == name:
            head = json.dumps({**json.loads(head), **values}).encode()
        regions.append(dataclasses.replace(region, chunks=(head + newline + body, *region.chunks[1:])))
    return rewritten(folder, private=tuple(regions))


@pytest.mark.parametrize(
    "values",
    [
        {"hosts": 3},
        {"rank_host": 3},
        {"rank_host": [0, {}, 0]},
        {"rank_host": [0, "x", 0]},
        {"rank_host": [0, 7, 0]},
        {"programs": [1, 2]},
        {"programs": "ocean"},
        {"rank_program": [0]},
        {"programs": ["a", "b"], "rank_program": [0, -2, 1]},
        {"partial": 1},
        {"environment": []},
    ],
)
def test_a_job_region_of_wrong_types_is_damage(values: dict[str, Any], tmp_path: Path) -> None:
    assert "private region job cannot be read" in only_damage(with_private(tmp_path, "job", **values))


@pytest.mark.parametrize(
    "column",
    [
        {"name": "path", "dtype": "<u8"},
        {"name": "file", "dtype": "|O"},
        {"name": "file", "dtype": "<M8[s]"},
        {"name": "file", "dtype": [["a", "<u8"]]},
        {"name": ["file"], "dtype": "<u8"},
    ],
)
def test_a_table_of_wrong_columns_is_damage(column: dict[str, Any], tmp_path: Path) -> None:
    region = next(one for one in contents().private or () if one.name == "file_ranks")
    columns = json.loads(region.chunks[0].partition(b"\n")[0])["columns"]
    changed = with_private(tmp_path, "file_ranks", columns=[column, *columns[1:]])
    assert "private region file_ranks cannot be read" in only_damage(changed)


@pytest.mark.parametrize(("name", "column"), [("file_ranks", "rank"), ("mpi_peers", "peer")])
@pytest.mark.parametrize("value", [1 << 15, -(1 << 31)])
def test_a_row_of_a_rank_that_the_job_does_not_have_is_damage(
    name: str, column: str, value: int, tmp_path: Path
) -> None:
    """Code that adds up a rank's rows in an array would end with a fault of memory."""
    source = OURS if name == "file_ranks" else TESTS / "advice/logs/small-messages.darshan"
    log = container.open_container(source)
    private = list(split_log(log).private or ())
    place = next(place for place, one in enumerate(private) if one.name == name)
    head, newline, body = private[place].chunks[0].partition(b"\n")
    header = json.loads(head)
    (before,) = (at for at, one in enumerate(header["columns"]) if one["name"] == column)
    kinds = [np.dtype(one["dtype"]) for one in header["columns"]]
    begin = header["rows"] * sum(kind.itemsize for kind in kinds[:before])
    changed = body[:begin] + np.array(value, kinds[before]).tobytes() + body[begin + kinds[before].itemsize :]
    private[place] = dataclasses.replace(private[place], chunks=(head + newline + changed, *private[place].chunks[1:]))
    path = tmp_path / "changed.darshan"
    path.write_bytes(put_together(log, dataclasses.replace(split_log(log), private=tuple(private))))
    assert f"private region {name} cannot be read (a row has a {column} that a job of" in only_damage(path)


@pytest.mark.parametrize("directory", [b"[" * 100_000, b'{"regions": [{"name": 1}]}', b'{"regions": 7}', b"{}"])
def test_a_wrong_directory_is_damage(directory: bytes, tmp_path: Path) -> None:
    path = tmp_path / "directory.darshan"
    data = OURS.read_bytes()[:-32]
    path.write_bytes(
        data + directory + fuzzer.container.struct.pack("<8sQQQ", b"iolens01", len(data), len(directory), 0)
    )
    assert "directory of its private regions" in only_damage(path)


def test_a_record_that_does_not_end_costs_only_the_records_behind_it(tmp_path: Path) -> None:
    """Darshan 3.4.4 wrote layouts of which one has an impossible number of targets; its own tools read the rest."""
    source = next(path for path in LOGS if "LUSTRE" in read_log(path).records)
    log, whole = container.open_container(source), read_log(source)
    split, path = split_log(log), tmp_path / "layouts.darshan"
    damaged = split.modules["LUSTRE"] + b"\1\0\0\0" * 16
    path.write_bytes(put_together(log, dataclasses.replace(split, modules={**split.modules, "LUSTRE": damaged})))
    said, job = only_damage(path), read_log(path)
    rows = len(whole.records["LUSTRE"])
    assert said.endswith(
        f"a record of its LUSTRE region is truncated. Only the first {rows:,} rows of LUSTRE are there."
    )
    assert {name: frame for name, frame in job.frames.items() if not frame.equals(whole.frames[name])} == {}
    assert job.frames.keys() == whole.frames.keys()
    assert diagnosis(job).confidence in ("", "low")
    outputs = (advice_text(job, diagnosis(job)), advice_json(job, diagnosis(job)), job_json(job), " ".join(spoken(job)))
    assert all("LUSTRE region is truncated" in " ".join(text.split()) for text in outputs)


def test_a_log_without_a_readable_module_is_refused(tmp_path: Path) -> None:
    broken = dict.fromkeys(contents().modules, b"\1\2\3")
    with pytest.raises(LogError, match="region"):
        read_log(rewritten(tmp_path, modules=broken))


def test_a_small_region_cannot_take_all_memory(tmp_path: Path) -> None:
    bomb = bytes(container.INFLATED_LEAST + 704)
    with pytest.raises(LogError, match="it is larger than 64 MiB after decompression"):
        read_log(rewritten(tmp_path, modules={"POSIX": bomb}))
    others = {name: content for name, content in contents().modules.items() if name != "POSIX"}
    assert "it is larger than 64 MiB after" in only_damage(rewritten(tmp_path, modules={"POSIX": bomb, **others}))
    assert len(zlib.compress(bomb)) < 100_000


@pytest.mark.parametrize(("module", "head"), [("HEATMAP", 48), ("DXT_POSIX", 104)])
def test_records_of_nothing_cost_nothing(module: str, head: int, tmp_path: Path) -> None:
    begin = time.process_time()
    job = read_log(rewritten(tmp_path, modules={module: bytes(head * 200_000)}))
    assert job.frames[module].empty
    assert time.process_time() - begin < 20


def test_a_version_that_only_libdarshan_util_knows() -> None:
    """The fallback reads the same counters in a process of its own; if that process crashes, the crash is only
    reported.
    """
    import darshan

    assert darshan.DarshanReport  # Skips the test if the package has no library.
    small = next(path for path in LOGS if path.name == "mpi-io-test-x86_64-3.5.0.darshan")
    frame, reason = read_with_darshan(small, "POSIX")
    assert reason == ""
    assert isinstance(frame, pd.DataFrame)
    mine, _, _ = read_module(container.open_container(small), container.open_container(small).modules[0])
    assert mine is not None
    assert frame["id"].tolist() == mine["id"].tolist()
    assert frame["POSIX_OPENS"].tolist() == mine["POSIX_OPENS"].tolist()


def test_a_log_that_libdarshan_util_fails_on(tmp_path: Path) -> None:
    (tmp_path / "no.darshan").write_bytes(b"nothing")
    frame, reason = read_with_darshan(tmp_path / "no.darshan", "POSIX")
    assert frame is None
    assert "darshan" in reason
