"""Transfers to GPUs, asked of stand-ins for cuFile and hipFile: no machine of the tests has a GPU."""

from __future__ import annotations

import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.advise.limits import changed
from iolens.advise.rules import gpu_fallback
from iolens.log import Job, read_log
from iolens.pages.exhibits.gpu import GPU_STORAGE

ENDED_BEFORE, CRASHED, SILENT, NO_STATISTICS, OTHER_LAYOUT = -1, -2, -3, -5, -6
HIPFILE = "-DSTATISTICS=hipFileGetStatsL3"


def stand_in(folder: Path, name: str, *flags: str) -> Path:
    """Builds a library that stands for cuFile, or by its flags for hipFile."""
    library = folder / name
    source = harness.ROOT / "tests/c/gpu_storage_stub.c"
    subprocess.run(["gcc", "-std=gnu11", *flags, "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def asked(way: str, folder: Path, *flags: str, name: str = "libcufile.so.0", **settings: str) -> Job:
    """Returns the log of a program that loaded the library, and checks that asking the library changed no output."""
    harness.build_library()
    library = stand_in(folder, name, *flags)
    program = harness.build_program("gpu_storage", "-ldl")
    if way == "linked":
        settings["LD_PRELOAD"] = f"{harness.PRELOAD}:{library}"
    done = harness.run(program, way, str(library), folder=folder, **settings)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    assert not list(folder.glob("core*"))
    (log,) = harness.logs(folder)
    return read_log(log)


@pytest.mark.parametrize("way", ["linked", "late", "quick"])
@pytest.mark.parametrize(
    ("called", "name", "flags"), [("cuFile", "libcufile.so.0", ()), ("hipFile", "libhipfile.so.0", (HIPFILE,))]
)
def test_each_counter_is_the_one_that_the_library_told(
    called: str, name: str, flags: tuple[str, ...], way: str, tmp_path: Path
) -> None:
    """The n-th counter of the library is 1000 for each GPU less n; cufile.h has their order."""
    job = asked(way, tmp_path, *flags, name=name)
    table = job.tables["gpu_storage"]
    names = "bytes_read reads posix_reads unaligned_reads failed_reads".split()
    names += "bytes_written writes posix_writes unaligned_writes failed_writes".split()
    found = {row[0]: row[1:] for row in table.rows("gpu", *names)}
    offsets = (0, 4, 7, 8, 12, 13, 17, 20, 21, 23)
    assert found == {gpu: tuple(1000 * (gpu + 1) - offset for offset in offsets) for gpu in (0, 1)}
    assert set(table["library"].tolist()) == {called}
    assert table["uuid"].tolist() == ["a0" * 16, "a1" * 16]
    assert table["read_seconds"].tolist() == pytest.approx([0.000997, 0.001997])
    assert table["write_seconds"].tolist() == pytest.approx([0.000984, 0.001984])
    seen = gpu_fallback.RULE.check(job, changed([]))
    assert seen is not None
    assert f"{called} carried out 5,946 of 5,958 transfers" in seen.evidence
    assert gpu_fallback.RULE.check(job, changed(["gpu_fallback=1.1"])) is None


@pytest.mark.parametrize(
    ("way", "end", "error", "said"),
    [
        ("linked", "refuse", 5022, "error 5022"),
        ("linked", "crash", CRASHED, "crashed"),
        ("late", "abort", CRASHED, "crashed"),
        ("linked", "leave", CRASHED, "crashed"),
        ("late", "hang", SILENT, "did not answer"),
        ("linked", "move", OTHER_LAYOUT, "contradict"),
        ("closed", "", ENDED_BEFORE, "unloaded"),
        ("unseen", "", ENDED_BEFORE, "unloaded"),
    ],
)
def test_a_library_that_fails_is_named_and_does_no_harm(
    way: str, end: str, error: int, said: str, tmp_path: Path
) -> None:
    job = asked(way, tmp_path, **({"STUB_END": end} if end else {}))
    assert list(job.tables["gpu_storage"].rows("gpu", "error", "reads")) == [(-1, error, 0)]
    (shown,) = GPU_STORAGE.metric(job).rows("reads", "lacks")
    assert str(shown[0]) == "nan"
    assert said in shown[1]
    assert gpu_fallback.RULE.check(job, changed([])) is None


def test_a_library_without_statistics_is_named(tmp_path: Path) -> None:
    job = asked("linked", tmp_path, "-DWITHOUT_STATISTICS")
    assert list(job.tables["gpu_storage"].rows("gpu", "error")) == [(-1, NO_STATISTICS)]


def test_a_program_with_both_libraries_has_rows_of_both(tmp_path: Path) -> None:
    harness.build_library()
    libraries = [stand_in(tmp_path, "libcufile.so.0"), stand_in(tmp_path, "libhipfile.so.0", HIPFILE)]
    preload = ":".join(map(str, (harness.PRELOAD, *libraries)))
    program = harness.build_program("gpu_storage", "-ldl")
    done = harness.run(program, "linked", str(libraries[0]), folder=tmp_path, LD_PRELOAD=preload)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    (log,) = harness.logs(tmp_path)
    rows = read_log(log).tables["gpu_storage"].rows("library", "gpu", "reads")
    assert list(rows) == [(name, gpu, 996 + 1000 * gpu) for name in ("cuFile", "hipFile") for gpu in (0, 1)]


def test_no_row_where_no_such_library_is_loaded(tmp_path: Path) -> None:
    assert "gpu_storage" not in asked("late", tmp_path, name="libcufile_rdma.so.1").tables
