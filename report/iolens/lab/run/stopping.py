"""Ends a command early: first its launcher, then all remaining processes of the run."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

_GRACE = 10.0
"""Maximum time in seconds that an interrupted command, and then its processes, may take to end."""
PERIOD = 0.05
"""Seconds between two checks of the processes."""


def end(process: subprocess.Popen[bytes], run: str) -> int:
    """Ends a process in good order, or by force if necessary; returns its exit status. Afterwards ends the remaining
    processes of the run, because some launchers, such as Intel's script mpirun, end without ending their ranks.
    """
    process.terminate()  # A single SIGINT does not end srun.
    try:
        status = process.wait(timeout=_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in processes_of(run):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        deadline = time.monotonic() + _GRACE
        while processes_of(run) and time.monotonic() < deadline:
            time.sleep(PERIOD)
    return status


def processes_of(run: str) -> list[int]:
    """Returns the processes on this node, of this user, whose environment has the run's name."""
    mark = f"IOLENS_RUN={run}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
