"""Failed calls on files, by operation and error, equal those that strace saw."""

from __future__ import annotations

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
from iolens.metrics.job.failed import failed_calls
from iolens.pages.exhibits.files import FAILED_CALLS

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

OPERATIONS = {"open": "open", "openat": "open", "creat": "open"}
OPERATIONS |= dict.fromkeys(("stat", "lstat", "fstat", "newfstatat", "statx"), "stat")
OPERATIONS |= {"read": "read", "pread64": "read", "write": "write", "pwrite64": "write"}


def answered(many: int, folder: Path) -> Counter[tuple[str, str]]:
    """Returns the failed calls of the search program by operation and error, as strace saw them."""
    trace = folder / "trace"
    command = [
        "strace",
        "-o",
        trace,
        "-e",
        f"trace={','.join(OPERATIONS)}",
        sys.executable,
        "-S",
        "search.py",
        str(many),
    ]
    subprocess.run(command, cwd=folder, check=True)
    failed = re.findall(r"^(\w+)\(.* = -1 (\w+) \(", trace.read_text(), re.M)
    return Counter((OPERATIONS[call], error) for call, error in failed)


def recorded(many: int, folder: Path) -> Counter[tuple[str, str]]:
    """Returns the failed calls from the log."""
    done = harness.run(Path(sys.executable), "-S", "search.py", str(many), folder=folder)
    assert done.returncode == 0, done.stderr
    log = max(harness.logs(folder), key=lambda path: path.stat().st_mtime_ns)
    rows = failed_calls(read_log(log)).rows("operation", "error", "calls")
    return Counter({(operation, error): int(calls) for operation, error, calls in rows})


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_failures_are_those_that_the_kernel_answered(tmp_path: Path) -> None:
    """Starting Python fails in some calls, and strace alone sees those of the loader; so two runs are compared by their
    difference.
    """
    harness.build_library()
    (tmp_path / "search.py").write_text(SEARCHER)
    few, many = recorded(1, tmp_path), recorded(81, tmp_path)
    assert many - few == answered(81, tmp_path) - answered(1, tmp_path)
    assert many - few == Counter({("stat", "ENOENT"): 160, ("open", "ENOENT"): 80})
    assert (many["read", "EBADF"], many["write", "EBADF"], many["open", "ENOTDIR"]) == (1, 1, 1)


def test_many_missing_paths_are_a_finding(tmp_path: Path) -> None:
    harness.build_library()
    (tmp_path / "search.py").write_text(SEARCHER)
    recorded(2000, tmp_path)
    (log,) = harness.logs(tmp_path)
    job = read_log(log)
    (one,) = (finding for finding in findings(job) if finding.id == "missing-paths")
    missing = [row for row in failed_calls(job).rows("error", "calls") if row[0] in ("ENOENT", "ENOTDIR")]
    assert f"{sum(calls for _, calls in missing):,} opens and stats" in one.evidence
    shown = FAILED_CALLS.table(job)
    assert shown is not None
    assert ["stat", "ENOENT"] in [row[:2] for row in shown.rows]


def test_a_log_whose_calls_all_succeeded_has_no_finding_of_missing_paths(tmp_path: Path) -> None:
    harness.build_library()
    harness.run(harness.build_program("posix_locks"), folder=tmp_path)
    job = max(map(read_log, harness.logs(tmp_path)), key=lambda job: len(job.tables.get("file_locks", ())))
    without = replace(job, private={**job.private, "failed_calls": job.private["file_locks"].iloc[:0]})
    assert "missing-paths" not in {finding.id for finding in findings(without)}


def test_calls_with_bad_addresses_fail_as_without_the_libraries(tmp_path: Path) -> None:
    """No library reads at an address at which the kernel did not read."""
    library, program = harness.build_library(), harness.build_program("posix_bad_addresses", "-w")
    bare = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    for chain in (str(library), f"{library}:{find_library('libost.so')}"):
        settings = {**harness.environment(tmp_path), "LD_PRELOAD": chain, "OST_MOUNT": str(tmp_path)}
        done = subprocess.run([program], cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, bare)
