"""Tests the commands that look at a running job: `iolens live`, and its snapshots."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import darshan
import pytest
from iolens.lab.installation import find_library
from iolens.lab.run.execute import snapshots_on_request
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.preload import Setup
from mpi_library import FLAVOUR
from patience import PATIENCE

SCRAPES = 40

SOURCE = Path(__file__).resolve().parents[1] / "c/spool_killed.c"


def wait_until(reached: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached() and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.fixture
def waiting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Starts a program that writes 20 files of 40 bytes and waits. Its spool is in tmp_path and has no room
    for traces. A parameter is the program's name.
    """
    program = tmp_path / getattr(request, "param", "spool_killed")
    subprocess.run(["cc", "-w", "-o", program, SOURCE], check=True)
    settings = {"LD_PRELOAD": str(find_library("libiolens.so")), "IOLENS_SPOOL": str(tmp_path)}
    settings |= {"IOLENS_INCLUDE": str(tmp_path), "IOLENS_JOBID": "4711", "IOLENS_LOGPATH": str(tmp_path)}
    settings |= {"IOLENS_DXT": "1", "IOLENS_DXT_MEMORY": "0"}
    job = subprocess.Popen([program, "wait", "20"], cwd=tmp_path, env=os.environ | settings, text=True)
    stream = tmp_path / "stream"
    wait_until(lambda: stream.exists() and stream.stat().st_size > 0)
    yield job
    job.kill()
    job.wait()


def live(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "iolens.cli.main", "live", *words]
    settings = os.environ | {"IOLENS_SPOOL": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=settings, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


@pytest.mark.parametrize("waiting", [os.fsdecode(b'\xfc"\n{}\xff\\')], indirect=True)
def test_a_program_may_have_any_name(waiting: subprocess.Popen[str], tmp_path: Path) -> None:
    for words in ([], ["--prometheus", "metrics", "--once"], ["4711", "--once"], ["4711", "--snapshot"]):
        done = live(tmp_path, *words)
        assert (done.returncode, done.stderr) == (0, "")
    assert 'direction="write"}' in (tmp_path / "metrics").read_text()
    waiting.kill()
    waiting.wait()
    words = [sys.executable, "-m", "iolens.cli.main", "recover", "--all", "-o", str(tmp_path)]
    done = subprocess.run(words, env=os.environ | {"IOLENS_SPOOL": str(tmp_path)}, check=False, timeout=PATIENCE)
    assert done.returncode == 0
    assert len(list(tmp_path.glob("*.darshan"))) == 2, "the snapshot and the recovered log"


def test_running_jobs_are_listed_and_looked_at(waiting: subprocess.Popen[str], tmp_path: Path) -> None:
    row = next(line for line in live(tmp_path).stdout.splitlines() if "spool_killed" in line)
    assert row.split()[:6] == ["4711", str(waiting.pid), "spool_killed", "1", "of", "1"]
    assert "805 B" in row
    for name in ("4711", str(waiting.pid)):
        look = live(tmp_path, name, "--once", "--interval", "0.1").stdout
        assert "spool_killed, job 4711: running for" in look
        assert "Incomplete. The DXT_POSIX module ran out of room" in look
        assert "Incomplete. A snapshot" not in look
        (posix,) = (line for line in look.splitlines() if line.strip().startswith("POSIX"))
        assert posix.split()[1:6] == ["20", "0", "B", "800", "B"]
        assert posix.split()[-2:] == ["0", "B/s"]
    assert waiting.poll() is None


def test_running_jobs_are_written_for_prometheus(waiting: subprocess.Popen[str], tmp_path: Path) -> None:
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not installed")
    done = live(tmp_path, "--prometheus", "jobs.prom", "--once")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    families = parser.text_string_to_metric_families((tmp_path / "jobs.prom").read_text())
    samples = [one for family in families for one in family.samples if one.labels["job"] == "4711"]
    assert {one.labels["application"] for one in samples} == {"spool_killed"}
    moved = {tuple(one.labels.values())[3:]: one.value for one in samples if one.name == "iolens_job_bytes_total"}
    assert moved["POSIX", "write"] == 800
    assert moved["STDIO", "write"] == 5
    assert [one.value for one in samples if one.name == "iolens_job_processes"] == [1]
    assert waiting.poll() is None


WRITER = """
import os, subprocess, sys, time
more, until = int(sys.argv[2]), time.monotonic() + float(sys.argv[3])
with open(sys.argv[1], "wb", 0) as file:
    number = 0
    while time.monotonic() < until:
        file.write(bytes(1000))
        number += 1
        if more and number % 5 == 0:
            subprocess.Popen([sys.executable, "-S", *sys.orig_argv[2:4], f"part{number}", "0", "0.1"])
        time.sleep(0.01)
"""
"""A program that writes a thousand bytes every hundredth of a second, and starts others that do so for a short time."""


def test_no_counter_of_running_jobs_falls_from_scrape_to_scrape(tmp_path: Path) -> None:
    """A job's processes begin and end while `iolens live` writes their numbers again and again."""
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not installed")
    (tmp_path / "writer.py").write_text(WRITER)
    settings = {"LD_PRELOAD": str(find_library("libiolens.so")), "IOLENS_SPOOL": str(tmp_path)}
    settings |= {"IOLENS_INCLUDE": str(tmp_path), "IOLENS_JOBID": "4711", "IOLENS_LOGPATH": str(tmp_path)}
    words = [sys.executable, "-S", "writer.py", "whole", "1", "1000"]
    job = subprocess.Popen(words, cwd=tmp_path, env=os.environ | settings, stderr=subprocess.DEVNULL)
    scraped, lines = tmp_path / "jobs.prom", ["--prometheus", "jobs.prom", "--interval", "0.001"]
    command = [sys.executable, "-m", "iolens.cli.main", "live", *lines]
    live = subprocess.Popen(command, cwd=tmp_path, env=os.environ | {"IOLENS_SPOOL": str(tmp_path)})
    seen: list[dict[tuple[str, ...], float]] = []
    last = 0
    try:
        deadline = time.monotonic() + PATIENCE
        while len(seen) < SCRAPES and time.monotonic() < deadline:
            time.sleep(0.001)
            if not scraped.exists() or scraped.stat().st_ino == last:
                continue
            with scraped.open() as file:
                last = os.fstat(file.fileno()).st_ino
                families = [*parser.text_string_to_metric_families(file.read())]
            found = [one for each in families for one in each.samples if one.name.endswith("_total")]
            seen.append({(one.name, *sorted(one.labels.values())): one.value for one in found})
    finally:
        for program in (live, job):
            program.kill()
            program.wait()
    assert len(seen) == SCRAPES
    falling = [key for old, new in itertools.pairwise(seen) for key in old if new.get(key, 0.0) < old[key]]
    assert not falling
    moved = [sum(value for key, value in one.items() if "write" in key) for one in (seen[0], seen[-1])]
    assert moved[1] > moved[0]


def test_a_scrape_of_one_job_is_refused(tmp_path: Path) -> None:
    done = live(tmp_path, "4711", "--prometheus", "jobs.prom")
    assert done.returncode == 2
    assert "give it without a job" in done.stderr


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


@pytest.mark.mpi
def test_a_signal_to_iolens_run_makes_a_snapshot(tmp_path: Path) -> None:
    program = tmp_path / "mpi_killed"
    subprocess.run(["mpicc", "-Wall", "-o", program, SOURCE.with_name("mpi_killed.c")], check=True)
    settings = {
        **mpi.environment(FLAVOUR, 8, "romio321"),
        "IOLENS_SPOOL": str(tmp_path),
        "IOLENS_INCLUDE": str(tmp_path),
    }
    words = [mpi.find_launcher(FLAVOUR), "-np", "3", str(program), "wait"]
    command = [sys.executable, "-m", "iolens.cli.main", "run", "--trace", "mpi,io", "--sample", "--output", "out", "--"]
    running = subprocess.Popen(
        [*command, *words], cwd=tmp_path, env=os.environ | settings, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: (tmp_path / "ready").exists())
    listed = next(line.split() for line in live(tmp_path).stdout.splitlines() if "mpi_killed" in line)
    look = live(tmp_path, listed[1], "--once", "--interval", "0.1").stdout
    running.send_signal(signal.SIGUSR1)
    wait_until(lambda: list((tmp_path / "out").glob("*.snapshot-1.darshan")))
    (tmp_path / "go").touch()
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, errors
    first, last = sorted((tmp_path / "out").glob("*.darshan"), key=lambda path: ".snapshot-" not in path.name)
    assert f"snapshot: {first}" in errors
    assert f"log: {last}" in errors
    partial = [darshan.DarshanReport(str(log)).metadata["job"]["metadata"].get("partial", "") for log in (first, last)]
    assert partial[0].startswith("A snapshot while the job was running")
    assert "3 of 3 ranks" in partial[0]
    assert partial[1] == ""
    barriers = [line.split()[1] for line in look.splitlines() if line.strip().startswith("MPI_Barrier")]
    assert barriers == ["1"], look
    assert "Where ranks are now" in look
    for log in (first, last):
        counters = darshan.DarshanReport(str(log), read_all=True).records["POSIX"].to_df()["counters"]
        assert counters["POSIX_BYTES_WRITTEN"].sum() == 48


def test_no_snapshot_does_not_end_the_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    missing = Setup(logs=tmp_path / "missing")
    handler = signal.getsignal(signal.SIGUSR1)
    with pytest.MonkeyPatch.context() as patch, snapshots_on_request("run", missing):
        spool = SimpleNamespace(run="run", program="app", jobid=1, spool="none")
        patch.setattr("iolens.lab.recovery.snapshot.running_jobs", lambda: [[spool]])
        signal.raise_signal(signal.SIGUSR1)
    assert "iolens: no snapshot: [Errno 2]" in capfd.readouterr().err
    assert signal.getsignal(signal.SIGUSR1) is handler


def test_a_snapshot_makes_its_folder_or_says_why_not(waiting: subprocess.Popen[str], tmp_path: Path) -> None:
    done = live(tmp_path, "4711", "--snapshot", "-o", "absent/too")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).parent == Path("absent/too")
    (tmp_path / "file").touch()
    done = live(tmp_path, "4711", "--snapshot", "-o", "file/below")
    why = "file/below: the folder cannot be made (Not a directory); name another folder"
    assert (done.returncode, done.stderr) == (1, f"iolens live: {why}\n")
    assert waiting.poll() is None


def test_no_such_job(tmp_path: Path) -> None:
    assert "no job runs under the profiler on this node" in live(tmp_path).stdout
    done = live(tmp_path, "4711")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("iolens live: no job 4711 runs under the profiler on this node")
