"""Times in private tables are corrected at the end of recording, as those of Darshan's records are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import Job, read_log

SLEEPER = """
import os, signal, threading, time

def give_up(*_):
    raise InterruptedError

threading.Thread(target=time.sleep, args=(60,), daemon=True).start()  # It lives when recording ends.
thread = threading.Thread(target=time.sleep, args=(0.4,))
thread.start()
os.mkfifo("nobody-writes")
signal.signal(signal.SIGALRM, give_up)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    os.open("nobody-writes", os.O_RDONLY)
except InterruptedError:
    thread.join()
"""

CONNECT = """
import socket, threading, time
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(0)  # There is room for one, so that the next one waits.
first = socket.create_connection(server.getsockname())
threading.Timer(0.3, server.accept).start()
begin = time.monotonic()
second = socket.create_connection(server.getsockname())
print(time.monotonic() - begin)
"""


@pytest.fixture
def sprinting(tmp_path: Path) -> str:
    """Returns the libraries to preload: the profiler, and a clock by which it at first assumes twice the true length of
    its ticks.
    """
    harness.build_library()
    shim = tmp_path / "sprinting.so"
    source = harness.ROOT / "tests/c/sprinting_clock.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, source], check=True)
    return f"{harness.PRELOAD}:{shim}"


def _longest_log(folder: Path) -> Job:
    return max(map(read_log, harness.logs(folder)), key=lambda job: job.run_time)


def test_syncs_take_as_long_in_both_tables(sprinting: str, tmp_path: Path) -> None:
    """Only the program's syncs count as writing to the file that is synced."""
    done = harness.run(harness.build_program("posix_meta"), folder=tmp_path, LD_PRELOAD=sprinting)
    assert (done.returncode, done.stderr) == (0, "")
    job = _longest_log(tmp_path)
    posix = job.frames["POSIX"].set_index("id")
    syncs = job.private["posix_extra"].set_index("file")["sync_seconds"]
    (synced,) = posix.index[posix["POSIX_FDSYNCS"] > 0]
    assert syncs[synced] == pytest.approx(posix["POSIX_F_WRITE_TIME"][synced], rel=1e-9)


def test_waits_for_locks_take_as_long_as_by_the_programs_clock(sprinting: str, tmp_path: Path) -> None:
    done = harness.run(harness.build_program("posix_locks"), folder=tmp_path, LD_PRELOAD=sprinting)
    job = max(map(read_log, harness.logs(tmp_path)), key=lambda job: len(job.tables["file_locks"]))
    lines = (line.split() for line in done.stdout.splitlines() if line.startswith("LOCKS"))
    own = {name: (float(spent), float(waited)) for _, name, *_, spent, waited in lines}
    for file, *found in job.tables["file_locks"].rows("file", "seconds", "longest"):
        assert found == [pytest.approx(most, rel=0.3) for most in own[Path(job.names[file]).name]]


def test_failed_calls_threads_and_the_process_end_within_the_run(sprinting: str, tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    settings = {"LD_PRELOAD": sprinting, "IOLENS_RUN": "1"}
    done = harness.run(Path(sys.executable), "-S", "sleeper.py", folder=tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    job = _longest_log(tmp_path)
    (interrupted,) = (row for row in job.tables["failed_calls"].rows("seconds", "calls") if row[0] > 0.1)
    assert interrupted[0] <= job.run_time
    threads = job.private["threads"]
    assert len(threads) == 2
    assert (threads["begin"] + threads["seconds"]).max() <= job.run_time
    (process,) = job.private["process"].itertuples()
    # The time of the process is read a moment after recording ended, so that it may exceed the run time.
    assert process.seconds < 1.5 * job.run_time


def test_a_connection_takes_as_long_as_by_the_programs_clock(sprinting: str, tmp_path: Path) -> None:
    done = harness.run(Path(sys.executable), "-S", "-c", CONNECT, folder=tmp_path, LD_PRELOAD=sprinting)
    assert (done.returncode, done.stderr) == (0, "")
    (table,) = (
        job.tables["connections"] for job in map(read_log, harness.logs(tmp_path)) if "connections" in job.tables
    )
    ((seconds,),) = table.rows("connect_seconds")
    assert seconds == pytest.approx(float(done.stdout), rel=0.3)
