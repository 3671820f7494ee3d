"""Shells that stop themselves until all have begun, so that runs are under way at the same time on any machine."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from recovery_program import wait_until

HOLD = ": >began-$NAME-$$; kill -STOP $$; "
"""Beginning of a shell's script. The name of the file that it makes tells its process; an opened file alone does not
make the profiler write a log.
"""


def let_go(cwd: Path, count: int) -> None:
    """Waits until `count` shells in this folder have stopped, and lets all of them go on."""
    wait_until(lambda: len(_stopped(cwd)) == count)
    for pid in _stopped(cwd):
        os.kill(pid, signal.SIGCONT)


def _stopped(cwd: Path) -> list[int]:
    pids = [int(path.name.rpartition("-")[2]) for path in cwd.glob("began-*")]
    return [pid for pid in pids if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"]
