"""The report of a training job names the stage that holds up the others: with planted sleeps, with waits in turn, and
without samples.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from iolens.cli.main import main
from iolens.errors import IolensError
from iolens.forest.forest import read_forest
from iolens.forest.pipeline import input_pipeline
from iolens.log import read_log
from training_loader import SLOW_READS, WORKERS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
from pipeline import gains, recorded, row_of, times

MAPPED = """
import ctypes, mmap, multiprocessing, os
def load(_):
    file = os.open("data", os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    with mmap.mmap(file, 0, prot=mmap.PROT_READ) as data:
        found = sum(data[place] for place in range(0, len(data), 4096))
    os.close(file)
    ctypes.CDLL(None).usleep(50000)
    return found
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert sum(pool.map(load, range(20), 1)) == 0
        pool.close()
        pool.join()
"""
"""A program whose workers read a mapped file that the page cache does not hold."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the library whose reads take the planted time."""
    found = tmp_path_factory.mktemp("library") / "slow.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(found)], input=SLOW_READS, text=True, check=True
    )
    return found


@pytest.mark.parametrize(
    ("stage", "kind", "format"),
    [
        ("reading", "fork", "webdataset"),
        ("decoding", "spawn", "raw"),
        ("training", "forkserver", "raw"),
        ("reading", "pool", "numpy"),
        ("reading", "fork", "threaded"),
        ("decoding", "fork", "threaded"),
    ],
)
def test_the_planted_stage_is_named(tmp_path: Path, library: Path, stage: str, kind: str, format: str) -> None:
    recorded(tmp_path, library, sys.executable, kind, times(stage, 3), format=format)
    row = row_of(tmp_path)
    assert (row["limit"], row["workers"], row["reason"]) == (stage, WORKERS, ""), row
    assert 0 <= row["faster_storage"] <= row["more_workers"] <= row["seconds"]


def test_no_more_is_gained_than_the_bounds_allow(tmp_path: Path, library: Path) -> None:
    """Removing the planted time of reading, or using more workers, saves no more than the bound that the report
    prints.
    """
    record = partial(recorded, library=library, python=sys.executable, kind="fork")
    seconds = times("reading", 3)
    record(tmp_path, seconds=seconds)
    row = row_of(tmp_path)
    for bound, saved in gains(tmp_path, record, seconds).items():
        assert saved <= row[bound] + 0.1 * row["seconds"], (bound, saved, row)


def test_a_single_batch_under_way_makes_both_sides_wait(
    tmp_path: Path, library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(tmp_path, library, sys.executable, "fork", (0.0, 0.02, 0.02), ahead=0)
    assert row_of(tmp_path)["limit"] == "queueing"
    assert main(["show", str(tmp_path / "run")]) == 0
    assert "held up by queueing" in " ".join(capsys.readouterr().out.split())


def test_without_samples_the_stage_is_not_known(
    tmp_path: Path, library: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A narrow terminal would wrap long file names in the cell that holds the reason.
    monkeypatch.setenv("COLUMNS", "300")
    recorded(tmp_path, library, sys.executable, "fork", (0.01, 0.01, 0.01), options=())
    row = row_of(tmp_path)
    assert row["limit"] == ""
    assert "--sample" in row["reason"]
    assert np.isnan([row["waits"], row["faster_storage"]]).all()
    assert row["reading"] > 0
    assert main(["show", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert "record with iolens run" in " ".join(said.split())
    assert "gain at most" not in said.partition("Main processes")[0]


def test_page_faults_of_mapped_files_are_no_decoding(tmp_path: Path) -> None:
    with (tmp_path / "data").open("wb") as file:
        file.write(bytes(4 << 20))
        os.fsync(file.fileno())
    (tmp_path / "mapped.py").write_text(MAPPED)
    command = [sys.executable, "-m", "iolens.cli.main", "run", "--sample", "--output", "run", "--"]
    subprocess.run([*command, sys.executable, "mapped.py"], cwd=tmp_path, check=True, capture_output=True)
    tables = [read_log(log).tables.get("mapped_files") for log in (tmp_path / "run").glob("*.darshan")]
    if not any((table["fetched"] > 0).any() for table in tables if table is not None):
        pytest.skip("no page of the mapped file came from storage: the folder for tests is in memory")
    row = row_of(tmp_path)
    assert (row["limit"], "mapped" in row["reason"]) == ("", True)
    assert row["faster_storage"] == row["waits"]


def test_processes_without_workers_are_no_pipeline(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(IolensError, match="no log"):
        read_forest(tmp_path / "empty")
    script = "cat data > copy; (cat copy)"
    (tmp_path / "data").write_text("text")
    command = [sys.executable, "-m", "iolens.cli.main", "run", "--output", "run", "--", "bash", "-c", script]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert input_pipeline(read_forest(tmp_path / "run")) is None
