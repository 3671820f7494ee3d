"""Failed calls on files, by operation and error, and folders that the loader misses, equal those that strace saw."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.advise import findings
from iolens.lab.installation import find_library
from iolens.log import read_log
from iolens.metrics.job.interfaces.private_counts import failed_calls
from iolens.metrics.job.share import BEFORE, ENTRIES, FIRST, searched_in_vain, start_up
from iolens.metrics.job.share import MISSING as MISSING_ENTRIES
from iolens.pages.exhibits.files import FAILED_CALLS
from iolens.pages.exhibits.overview import START_UP

SEARCHER = """
import os, sys
for number in range(int(sys.argv[1])):
    for look in (os.stat, os.lstat, open):
        try:
            look(f"nowhere/{number}")
        except OSError:
            pass
fd = os.open("there", os.O_RDWR | os.O_CREAT, 0o600)
for call in (lambda: os.read(os.open("there", os.O_WRONLY), 8), lambda: os.write(os.open("there", os.O_RDONLY), b"x")):
    try:
        call()
    except OSError:
        pass
try:
    os.open("there/below", os.O_RDONLY)
except OSError:
    pass
"""

IMPORTER = """
import subprocess, sys, wave
open("used", "w").close()
try:
    import nowhere_at_all
except ImportError:
    subprocess.run([sys.executable, "-S", "-c", "open('used').close(); import wave"], check=True)
"""
"""Each process uses a file, without which it would leave no log."""

OPERATIONS = {"open": "open", "openat": "open", "creat": "open"}
OPERATIONS |= dict.fromkeys(("stat", "lstat", "fstat", "newfstatat", "statx"), "stat")
OPERATIONS |= {"read": "read", "pread64": "read", "write": "write", "pwrite64": "write"}


def answered(folder: Path, *words: str, **settings: str) -> Counter[tuple[str, str]]:
    """Returns the failed calls of Python and its children by operation and error, as strace saw them."""
    command = ["strace", "-ff", "-o", folder / "trace", "-e", f"trace={','.join(OPERATIONS)}", sys.executable, *words]
    subprocess.run(command, cwd=folder, env={**os.environ, **settings}, check=True)
    failed: list[tuple[str, str]] = []
    for trace in folder.glob("trace.*"):
        failed += re.findall(r"^(\w+)\(.* = -1 (\w+) \(", trace.read_text(), re.M)
        trace.unlink()
    return Counter((OPERATIONS[call], error) for call, error in failed)


def recorded(folder: Path, *words: str, **settings: str) -> Counter[tuple[str, str]]:
    """Returns the failed calls of Python and its children from the logs."""
    done = harness.run(Path(sys.executable), *words, folder=folder, **settings)
    assert done.returncode == 0, done.stderr
    found: Counter[tuple[str, str]] = Counter()
    for log in harness.logs(folder):
        rows = failed_calls(read_log(log)).rows("operation", "error", "calls")
        found.update({(operation, error): int(calls) for operation, error, calls in rows})
        log.unlink()
    return found


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_failures_are_those_that_the_kernel_answered(tmp_path: Path) -> None:
    """Starting Python makes calls that fail, and only strace sees those of the loader. The difference of two runs
    leaves them out.
    """
    harness.build_library()
    (tmp_path / "search.py").write_text(SEARCHER)
    few, many = (recorded(tmp_path, "-S", "search.py", number) for number in ("1", "81"))
    assert many - few == answered(tmp_path, "-S", "search.py", "81") - answered(tmp_path, "-S", "search.py", "1")
    assert many - few == Counter({("stat", "ENOENT"): 160, ("open", "ENOENT"): 80})
    assert (many["read", "EBADF"], many["write", "EBADF"], many["open", "ENOTDIR"]) == (1, 1, 1)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("dead", [1, 80])
def test_dead_entries_of_pythons_path_fail_as_often_as_strace_saw(dead: int, tmp_path: Path) -> None:
    """Python and a second Python that it starts look into each entry of the path. The difference of two runs leaves out
    all other failures.
    """
    harness.build_library()
    words = ("-S", "-c", IMPORTER)
    paths = {"PYTHONPATH": ":".join(f"/nowhere/{number}" for number in range(dead))}
    ours = recorded(tmp_path, *words, **paths) - recorded(tmp_path, *words)
    assert ours == answered(tmp_path, *words, **paths) - answered(tmp_path, *words)
    assert ours["stat", "ENOENT"] >= 2 * dead


def test_many_missing_paths_are_a_finding(tmp_path: Path) -> None:
    harness.build_library()
    (tmp_path / "search.py").write_text(SEARCHER)
    assert harness.run(Path(sys.executable), "-S", "search.py", "2000", folder=tmp_path).returncode == 0
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    (one,) = (finding for finding in findings(job) if finding.id == "missing-paths")
    missing = [row for row in failed_calls(job).rows("error", "calls") if row[0] in ("ENOENT", "ENOTDIR")]
    assert f"{sum(calls for _, calls in missing):,} opens and stats" in one.evidence
    shown = FAILED_CALLS.table(job)
    assert shown is not None
    assert ["stat", "ENOENT"] in [row[:2] for row in shown.rows]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("many", [1, 80])
def test_entries_of_the_search_path_are_those_that_the_loader_missed(many: int, tmp_path: Path) -> None:
    """strace sees the folders in which the loader looks for libraries, before any library can record that."""
    harness.build_library()
    paths = [str(tmp_path / "lib"), *(f"/nowhere/{number}" for number in range(many))]
    # None of these counts as missing: the loader leaves out a folder that is named twice, and the other two depend on
    # the program.
    paths += ["/nowhere/0/", "/nowhere/$LIB", "relative"]
    Path(paths[0]).mkdir()
    settings = harness.environment(tmp_path, LD_LIBRARY_PATH=":".join(paths))
    ours = [f"-E{name}={value}" for name, value in settings.items() if name.startswith(("IOLENS_", "LD_"))]
    subprocess.run(["strace", "-o", "trace", *ours, harness.build_program("posix_pattern")], cwd=tmp_path, check=True)
    answers = re.findall(r'^\w+\(.*"(/nowhere/\d+)[/"].* = -1 ENOENT', (tmp_path / "trace").read_text(), re.M)
    job = read_log(harness.logs(tmp_path)[0])
    facts = {what: most for what, _, most in start_up(job).rows("what", "least", "most")}
    # At its end, rank 0 looks into each folder once more.
    assert (facts[ENTRIES], facts[MISSING_ENTRIES]) == (many + 4, many) == (many + 4, len(set(answers)))
    assert len(answers) - many >= 2 * many
    assert facts[BEFORE] < 600
    assert facts[FIRST] >= 0


def test_standard_streams_are_no_files_of_the_program(tmp_path: Path) -> None:
    """The program writes to standard output and imports a module before it opens a file of its own."""
    harness.build_library()
    program = "import sys; print(1, flush=True); import wave, time; time.sleep(0.4); open('own', 'wb').close()"
    command, settings = [sys.executable, "-S", "-c", program], harness.environment(tmp_path)
    subprocess.run(command, cwd=tmp_path, env=settings, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    (log,) = harness.logs(tmp_path)
    facts = {what: most for what, _, most in start_up(read_log(log)).rows("what", "least", "most")}
    assert facts[FIRST] >= 0.4


def test_entries_behind_the_c_library_are_not_said_to_be_searched(tmp_path: Path) -> None:
    harness.build_library()
    linked = subprocess.run(["ldd", harness.build_program("posix_pattern")], capture_output=True, text=True, check=True)
    found = re.search(r"libc\.so\.6 => (/.*)/libc\.so\.6", linked.stdout)
    if found is None:
        pytest.skip("the C library has another name here")
    harness.run(
        harness.build_program("posix_pattern"), folder=tmp_path, LD_LIBRARY_PATH=f"/nowhere/1:{found[1]}:/nowhere/2"
    )
    assert searched_in_vain(read_log(harness.logs(tmp_path)[0])) == (3, 1, 1)


def test_missing_folders_of_many_loaders_are_a_finding(tmp_path: Path) -> None:
    harness.build_library()
    missing = ":".join(f"/nowhere/{number}" for number in range(600))
    harness.run(harness.build_program("posix_pattern"), folder=tmp_path, LD_LIBRARY_PATH=missing)
    job = read_log(harness.logs(tmp_path)[0])
    (one,) = (finding for finding in findings(job) if finding.id == "missing-paths")
    assert "600 of the 600 entries of LD_LIBRARY_PATH are not folders" in one.evidence
    assert "in 1 process: at least 1,200 calls" in one.evidence
    assert START_UP.table(job) is not None


def test_a_log_whose_calls_all_succeeded_has_no_finding_of_missing_paths(tmp_path: Path) -> None:
    harness.build_library()
    harness.run(harness.build_program("posix_locks"), folder=tmp_path)
    job = max(map(read_log, harness.logs(tmp_path)), key=lambda job: len(job.tables.get("file_locks", ())))
    without = replace(job, private={**job.private, "failed_calls": job.private["file_locks"].iloc[:0]})
    assert "missing-paths" not in {finding.id for finding in findings(without)}


def test_calls_with_bad_addresses_fail_as_without_the_libraries(tmp_path: Path) -> None:
    """No library may read an address that the kernel would not have read."""
    library, program = harness.build_library(), harness.build_program("posix_bad_addresses", "-w")
    bare = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    for chain in (str(library), f"{library}:{find_library('libost.so')}"):
        settings = {**harness.environment(tmp_path), "LD_PRELOAD": chain, "OST_MOUNT": str(tmp_path)}
        done = subprocess.run([program], cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, bare)
