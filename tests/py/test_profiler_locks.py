"""Tests locks on files: how many were taken, refused and waited for, and how long, against the program's own clock."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.advise import findings
from iolens.advise.limits import DEFAULTS
from iolens.advise.rules import file_rules
from iolens.log import read_log
from iolens.pages.exhibits.files import FILE_LOCKS
from patience import PATIENCE

NUMBERS = ("locks", "exclusive", "refused", "waits")


def test_locks_are_counted_and_timed_in_each_way(tmp_path: Path) -> None:
    harness.build_library()
    done = harness.run(harness.build_program("posix_locks"), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    job = max(map(read_log, harness.logs(tmp_path)), key=lambda job: len(job.tables["file_locks"]))
    table = job.tables["file_locks"]
    found = {Path(job.names[row[0]]).name: row[1:] for row in table.rows("file", *NUMBERS, "seconds", "longest")}
    expected = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("LOCKS")]
    assert set(found) == {words[0] for words in expected}
    for name, *counts, spent, waited in expected:
        *numbers, seconds, longest = found[name]
        assert numbers == [int(count) for count in counts], name
        # On a busy machine, time may pass between the program's reading of the clock and the profiler's.
        assert 0.297 < longest < 1.01 * float(waited)
        assert longest <= seconds < 1.01 * float(spent)
    shown = FILE_LOCKS.table(job)
    assert shown is not None
    assert len(shown.rows) == 4


@pytest.mark.skipif(shutil.which("flock") is None, reason="flock(1) is missing")
def test_a_program_that_only_locks_a_given_descriptor_has_a_log(tmp_path: Path) -> None:
    """Shell scripts take locks in this way: flock(1), which does nothing else, locks a descriptor that the shell
    opened.
    """
    harness.build_library()
    script = f"flock -x 9 9>{tmp_path}/lock"
    done = harness.run("sh", "-c", script, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = [log for log in harness.logs(tmp_path) if "_flock_" in log.name]
    job = read_log(log)
    (row,) = job.tables["file_locks"].rows("file", *NUMBERS)
    assert (job.names[row[0]], row[1:]) == (f"{tmp_path}/lock", (1, 1, 0, 0))


HOLDER = """
import fcntl, os, sys, time
with open("held", "r+b") as held:
    fcntl.flock(held, fcntl.LOCK_EX)
    if os.fork() == 0:
        with open("held", "r+b") as again:
            with open("child", "w") as file:
                file.write(str(os.getpid()))
            LOCK
    time.sleep(1000)
"""


@pytest.mark.parametrize("lock", ["fcntl.flock(again, fcntl.LOCK_EX)", "fcntl.lockf(again, fcntl.LOCK_EX)"])
def test_a_program_killed_while_it_waits_for_a_lock_leaves_the_wait(lock: str, tmp_path: Path) -> None:
    """A job that waits for a lock until its time limit is killed in that call."""
    harness.build_library()
    (tmp_path / "held").touch()
    text = HOLDER.replace("LOCK\n", f"{lock}\n").replace("fcntl.flock(held", f"{lock[:11]}(held")
    settings = harness.environment(tmp_path, IOLENS_SPOOL=str(tmp_path))
    command = [sys.executable, "-S", "-c", text]
    program = subprocess.Popen(command, cwd=tmp_path, env=settings, start_new_session=True)
    limit = time.monotonic() + PATIENCE
    said = tmp_path / "child"
    while not (said.exists() and said.read_text()) and time.monotonic() < limit:
        time.sleep(0.01)
    child = said.read_text()
    while "(sleeping)" not in Path(f"/proc/{child}/status").read_text() and time.monotonic() < limit:
        time.sleep(0.01)
    os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    for spool in tmp_path.glob("iolens-*/*.spool"):
        subprocess.run([harness.BUILD / "bin/iolens-recover", "merge", spool], check=False, capture_output=True)
    tables = [read_log(log).tables for log in harness.logs(tmp_path)]
    rows = [row for each in tables if "file_locks" in each for row in each["file_locks"].rows("locks", "unended")]
    assert sorted(rows) == [(0, 1), (1, 0)]
    (job,) = (read_log(log) for log in harness.logs(tmp_path) if f"-{child}_" in log.name)
    (row,) = FILE_LOCKS.metric(job).rows("unended")
    assert row == (1,)
    seen = file_rules.LOCK_WAITS.check(job, DEFAULTS)
    assert seen is not None
    assert "1 call waited for a lock of " in seen.evidence
    assert seen.seconds is None


def test_waits_for_locks_are_a_finding(tmp_path: Path) -> None:
    harness.build_library()
    harness.run(harness.build_program("posix_locks"), folder=tmp_path)
    job = max(map(read_log, harness.logs(tmp_path)), key=lambda job: len(job.tables["file_locks"]))
    (one,) = (finding for finding in findings(job) if finding.id == "lock-waits")
    waited = sum(job.tables["file_locks"]["seconds"])
    assert one.gain is not None
    assert one.gain * job.run_time == pytest.approx(waited, rel=0.01)
    assert "HDF5" not in one.remedy
