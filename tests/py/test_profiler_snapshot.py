"""Tests snapshots: a log of a process's records so far, made while the process continues."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import profiler_harness as harness
import pytest
from iolens.log import read_log

RECOVER = harness.ROOT / "build/bin/iolens-recover"
PAGE, FIRST, SECOND = 4096, 10 * 80, 30 * 80
"""Bytes that one step copies, and the number of transfers before the program's first and second stop."""


@pytest.fixture
def stops(tmp_path: Path) -> tuple[bytes, bytes]:
    """Returns the bytes of a program's spool at its first and at its second stop (SIGSTOP); the program runs with a
    trace of every transfer (DXT).
    """
    harness.build_library()
    settings = harness.environment(tmp_path, IOLENS_SPOOL=str(tmp_path), IOLENS_DXT="1")
    process = subprocess.Popen([harness.build_program("spool_phases")], cwd=tmp_path, env=settings)
    found = []
    for _ in range(2):
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        (spool,) = tmp_path.glob("iolens-*/*.spool")
        found.append(spool.read_bytes())
        process.send_signal(signal.SIGCONT)
    assert process.wait() == 0
    return found[0], found[1]


def test_a_copy_that_the_program_overtook_is_whole(stops: tuple[bytes, bytes], tmp_path: Path) -> None:
    """Joins the beginning of an older copy of the spool to the rest of a newer one, at each page: a copy looks like
    this if the program continued while it was made. The log must not report damage or lack of room.
    """
    older, newer = stops
    path = tmp_path / "1.spool"
    for cut in range(0, len(older) + 1, PAGE):
        path.write_bytes(older[:cut] + newer[cut:])
        done = subprocess.run(
            [RECOVER, "merge", "-s", "-o", tmp_path, path], capture_output=True, text=True, check=True
        )
        job = read_log(Path(done.stdout.strip()))
        (reason,) = job.partial
        assert reason.startswith("A snapshot while the process was running")
        posix = job.frames["POSIX"]
        assert FIRST <= int(posix["POSIX_READS"].sum() + posix["POSIX_WRITES"].sum()) <= SECOND
        assert FIRST <= len(job.frames["DXT_POSIX"]) <= SECOND
        Path(done.stdout.strip()).unlink()
