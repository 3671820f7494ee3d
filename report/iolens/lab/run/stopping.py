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
RUN, OTHER_RUN = "IOLENS_RUN", "IOLENS_OTHER_RUN"
"""Variables that name the run of a process: the first also for the profiler, the second for runs without it."""
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
    marks = {f"{name}={run}".encode() for name in (RUN, OTHER_RUN)}
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if not marks.isdisjoint((folder / "environ").read_bytes().split(b"\0")):
                found.append(int(folder.name))
    return found
