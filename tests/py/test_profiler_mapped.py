"""Tests mapped files: bytes that storage delivered for them, compared with the kernel's own count for the process."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.advise.limits import changed
from iolens.advise.rules import needless_rules
from iolens.log import Job, read_log
from iolens.pages.exhibits.files import MAPPED_FILES

BYTES = 32 << 20
PAGE = 4096
MEMORY = {"tmpfs", "ramfs"}

PYTHON = """
import sqlite3, sys
import numpy
what, step, path = sys.argv[1:]
numbers = numpy.arange(1 << 20)
def write():
    if what == "numpy":
        numpy.save(path, numbers)
    elif what == "sqlite":
        with sqlite3.connect(path) as base:
            base.execute("create table t(x)")
            base.executemany("insert into t values (?)", ((f"{i:01000}",) for i in range(8000)))
    elif what == "safetensors":
        save_file({"a": numbers}, path)
    elif what == "pyarrow":
        table = pyarrow.table({"a": numbers})
        with pyarrow.OSFile(path, "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    elif what == "lmdb":
        with lmdb.open(path, subdir=False, map_size=1 << 26) as base, base.begin(write=True) as change:
            change.put(b"key", numbers.tobytes())
def read():
    if what == "numpy":
        assert numpy.load(path, mmap_mode="r").sum() == numbers.sum()
    elif what == "sqlite":
        with sqlite3.connect(path) as base:
            assert base.execute("pragma mmap_size=100000000").fetchone() == (100000000,)
            assert base.execute("select sum(length(x)) from t").fetchone() == (8000000,)
    elif what == "safetensors":
        with safe_open(path, framework="numpy") as tensors:
            assert tensors.get_tensor("a").sum() == numbers.sum()
    elif what == "pyarrow":
        with pyarrow.memory_map(path) as source:
            assert pyarrow.ipc.open_file(source).read_all()["a"].to_numpy().sum() == numbers.sum()
    elif what == "lmdb":
        with lmdb.open(path, subdir=False, map_size=1 << 26, readonly=True) as base, base.begin() as known:
            assert known.get(b"key") == numbers.tobytes()
def delivered():
    (line,) = (line for line in open("/proc/self/io") if line.startswith("read_bytes"))
    return int(line.split()[1])
if what == "safetensors":
    from safetensors.numpy import save_file, safe_open
elif what == "pyarrow":
    import pyarrow
elif what == "lmdb":
    import lmdb
if step == "write":
    write()
else:
    before = delivered()
    read()
    print(delivered() - before)
"""
"""Makes a file with a package that maps it, and reads it; prints the bytes that storage delivered meanwhile."""


def file_system(path: Path) -> str:
    """Returns the type of the file system at a path."""
    return subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True, check=True).stdout.strip()


def on_overlay(path: Path) -> bool:
    """Returns True if the path lies on overlayfs."""
    return file_system(path) in ("overlayfs", "overlay", "UNKNOWN (0x794c7630)")


def cold_file(folder: Path, size: int = BYTES) -> Path:
    """Writes a file to storage, so that its pages can be dropped from the page cache."""
    path = folder / "mapped.dat"
    with path.open("wb") as file:
        file.write(os.urandom(size))
        file.flush()
        os.fsync(file.fileno())
    return path


def in_page_cache(path: Path) -> int:
    """Returns the bytes of a file's pages that the kernel has in memory."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        resident = (ctypes.c_ubyte * -(-len(mapped) // PAGE))()
        first = ctypes.c_char.from_buffer(mapped)
        failed = ctypes.CDLL(None).mincore(ctypes.byref(first), ctypes.c_size_t(len(mapped)), resident)
        del first
    assert failed == 0
    return PAGE * sum(state & 1 for state in resident)


def run_pattern(pattern: str, path: Path, folder: Path, **settings: str) -> tuple[Job, int, int]:
    """Returns the log of a pattern, and the bytes read and written that /proc/self/io counted in it."""
    harness.build_library()
    done = harness.run(harness.build_program("posix_mapped"), pattern, str(path), folder=folder, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = harness.logs(folder)
    _, read, written = done.stdout.split()
    return read_log(log), int(read), int(written)


def mapping(job: Job) -> dict[str, float]:
    """Returns the one row of the table."""
    table = job.tables["mapped_files"]
    (row,) = table.rows(*table.names)
    return dict(zip(table.names, row, strict=True))


@pytest.mark.parametrize(
    "pattern", ["sequential", "random", "strided", "written", "populated", "left", "moved", "shrunk"]
)
def test_fetched_bytes_are_those_that_the_kernel_counted(pattern: str, tmp_path: Path) -> None:
    if file_system(tmp_path) in MEMORY:
        pytest.skip("the folder of this test lies in memory")
    job, read, written = run_pattern(pattern, cold_file(tmp_path), tmp_path)
    if not read:
        pytest.skip("the kernel counts no bytes read from this file system")
    row = mapping(job)
    if pattern == "populated" and on_overlay(tmp_path):
        assert (row["mappings"], row["told"], row["bytes"]) == (1, 0, BYTES)
        pytest.skip("the pages of overlayfs cannot be asked for before they are mapped")
    assert (row["mappings"], row["told"], row["bytes"]) == (1, 1, BYTES)
    assert row["fetched"] == pytest.approx(read, rel=0.05)
    assert row["storage_read"] == pytest.approx(read, rel=0.05)
    assert row["storage_written"] == pytest.approx(written, rel=0.05)
    assert (row["writable"], row["syncs"], row["sync_seconds"] > 0) == (
        (1, 1, True) if pattern == "written" else (0, 0, False)
    )
    assert (row["random_advice"], row["major_faults"] > 0) == (pattern == "random", pattern != "populated")
    assert row["reached"] >= (64 * PAGE if pattern in {"random", "strided"} else BYTES)
    assert row["reached"] <= row["fetched"] * 1.05
    shown = MAPPED_FILES.table(job)
    assert shown is not None
    assert "not known" not in shown.columns


@pytest.mark.parametrize("parts", [0, 1, 4, 100, 400])
@pytest.mark.parametrize("is_reserved", [False, True])
def test_nothing_is_fetched_from_holes(is_reserved: bool, parts: int, tmp_path: Path) -> None:
    """Storage delivers nothing for a hole, or for room that was only reserved, although touching it fills the page
    cache. A file in more pieces than the profiler looks at counts as one without holes.
    """
    if file_system(tmp_path) in MEMORY:
        pytest.skip("the folder of this test lies in memory")
    path = cold_file(tmp_path, 0)
    with path.open("r+b") as file:
        file.truncate(BYTES)
        if is_reserved:
            os.posix_fallocate(file.fileno(), 0, BYTES)
        for number in range(parts):
            file.seek(number * BYTES // max(parts, 1) // PAGE * PAGE)
            file.write(os.urandom((4 << 20) // max(parts, 1) // PAGE * PAGE))
        file.flush()
        os.fsync(file.fileno())
    job, read, _ = run_pattern("sequential", path, tmp_path)
    if (path.stat().st_blocks * 512 >= BYTES) != is_reserved or (parts and not read):
        pytest.skip("this file system has no holes, or the kernel counts no bytes read from it")
    row = mapping(job)
    assert row["told"] == 1
    assert row["reached"] == BYTES
    assert row["fetched"] == (BYTES if parts > 256 else pytest.approx(read, rel=0.05))


def test_pages_that_were_there_before_are_not_fetched(tmp_path: Path) -> None:
    job, read, _ = run_pattern("warm", cold_file(tmp_path), tmp_path)
    row = mapping(job)
    if file_system(tmp_path) in MEMORY:
        pytest.skip("the folder of this test lies in memory")
    assert (read, row["fetched"], row["reached"], row["major_faults"]) == (0, 0, BYTES, 0)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no /dev/shm")
def test_nothing_is_said_of_files_kept_in_memory(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        job, _, _ = run_pattern("warm", cold_file(Path(folder)), tmp_path, IOLENS_INCLUDE=folder)
    row = mapping(job)
    assert (row["mappings"], row["told"], row["in_memory"], row["fetched"]) == (1, 0, 1, 0)
    (shown,) = MAPPED_FILES.metric(job).rows("fetched", "reached", "lacks")
    assert (str(shown[0]), str(shown[1]), shown[2]) == ("nan", "nan", "kept in memory")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_nothing_is_said_of_files_whose_pages_the_kernel_hides() -> None:
    """mincore reports all pages of a file as resident to a user who neither owns the file nor may write it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        for open_to_all in (folder, folder / "logs"):
            open_to_all.chmod(0o777)
        job, _, _ = run_pattern("stranger", cold_file(folder), folder, IOLENS_SPOOL="")
        if file_system(folder) in MEMORY:
            pytest.skip("the folder of this test lies in memory")
    row = mapping(job)
    assert (row["mappings"], row["told"], row["forbidden"], row["fetched"]) == (1, 0, 1, 0)


def test_scattered_touches_are_a_finding_and_touches_in_order_are_not(tmp_path: Path) -> None:
    if file_system(tmp_path) in MEMORY:
        pytest.skip("the folder of this test lies in memory")
    limits = changed(["few_calls=64"])
    for pattern, found in (("random", True), ("sequential", False)):
        folder = tmp_path / pattern
        folder.mkdir()
        job, _, _ = run_pattern(pattern, cold_file(folder), folder)
        seen = needless_rules.MAPPED_RANDOM.check(job, limits)
        assert (seen is not None) == found
        assert seen is None or "64 page faults waited for storage, which delivered 256 KiB" in seen.evidence


@pytest.mark.parametrize("package", ["numpy", "sqlite", "safetensors", "pyarrow", "lmdb"])
def test_bytes_fetched_by_packages_that_map_files_are_those_of_the_kernel(package: str, tmp_path: Path) -> None:
    """A machine short of memory reads parts of the package again, which the kernel counts for the process as well."""
    if package not in {"numpy", "sqlite"}:
        pytest.importorskip(package)
    if file_system(tmp_path) in MEMORY:
        pytest.skip("the folder of this test lies in memory")
    harness.build_library()
    path = tmp_path / "data.npy"
    for step in ("write", "read"):  # A first run brings the package's own files into the page cache.
        subprocess.run([sys.executable, "-c", PYTHON, package, step, path], check=True, capture_output=True)
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    done = harness.run(sys.executable, "-c", PYTHON, package, "read", str(path), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    if int(done.stdout) == 0:
        pytest.skip("the kernel counts no bytes read from this file system")
    job = max(map(read_log, harness.logs(tmp_path)), key=lambda job: len(job.tables.get("mapped_files", ())))
    rows = job.tables["mapped_files"].rows("file", "told", "fetched")
    found = {job.names[file]: fetched for file, told, fetched in rows if told > 0}
    assert 0.95 * in_page_cache(path) <= found[str(path)] <= 1.05 * int(done.stdout)
