"""Looking at a job while it runs: `iolens live` and its snapshots."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import darshan
import pytest
from iolens.lab.installation import find_library

SOURCE = Path(__file__).resolve().parents[1] / "c/spool_killed.c"


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that has written 20 files of 40 bytes and waits, its spool in tmp_path."""
    program = tmp_path / "spool_killed"
    subprocess.run(["cc", "-w", "-o", program, SOURCE], check=True)
    settings = {"LD_PRELOAD": str(find_library("libiolens.so")), "IOLENS_SPOOL": str(tmp_path)}
    settings |= {"IOLENS_INCLUDE": str(tmp_path), "IOLENS_JOBID": "4711", "IOLENS_LOGPATH": str(tmp_path)}
    job = subprocess.Popen([program, "wait", "20"], cwd=tmp_path, env=os.environ | settings, text=True)
    deadline = time.monotonic() + 60
    stream = tmp_path / "stream"
    while not (stream.exists() and stream.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    yield job
    job.kill()
    job.wait()


def live(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "iolens.cli.main", "live", *words]
    settings = os.environ | {"IOLENS_SPOOL": str(folder)}
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False, timeout=60)


def test_running_jobs_are_listed_and_looked_at(waiting: subprocess.Popen[str], tmp_path: Path) -> None:
    row = next(line for line in live(tmp_path).stdout.splitlines() if "spool_killed" in line)
    assert row.split()[:6] == ["4711", str(waiting.pid), "spool_killed", "1", "of", "1"]
    assert "805 B" in row
    for name in ("4711", str(waiting.pid)):
        look = live(tmp_path, name, "--once", "--interval", "0.1").stdout
        assert "spool_killed, job 4711: running for" in look
        (posix,) = (line for line in look.splitlines() if line.strip().startswith("POSIX"))
        assert posix.split()[1:6] == ["20", "0", "B", "800", "B"]
        assert posix.split()[-2:] == ["0", "B/s"]
    assert waiting.poll() is None


def test_a_snapshot_is_a_log_and_leaves_the_job_alone(waiting: subprocess.Popen[str], tmp_path: Path) -> None:
    for number in (1, 2):
        done = live(tmp_path, "4711", "--snapshot")
        assert done.returncode == 0, done.stderr
        log = tmp_path / done.stdout.strip()
        assert log.name.endswith(f".snapshot-{number}.darshan")
        report = darshan.DarshanReport(str(log), read_all=True)
        assert int(report.records["POSIX"].to_df()["counters"]["POSIX_BYTES_WRITTEN"].sum()) == 800
        assert report.metadata["job"]["metadata"]["partial"].startswith("A snapshot while the process was running")
    assert waiting.poll() is None
    waiting.send_signal(signal.SIGTERM)
    assert waiting.wait() == -signal.SIGTERM


def test_no_such_job(tmp_path: Path) -> None:
    assert "no job runs here under the profiler" in live(tmp_path).stdout
    done = live(tmp_path, "4711")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("iolens live: no job 4711 runs here under the profiler")
