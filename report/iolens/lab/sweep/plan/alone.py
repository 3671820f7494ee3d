"""Allows only one sweep at a time in a folder: two sweeps would delete each other's files and disturb each other's
timing.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from iolens.errors import IolensError


@contextmanager
def alone(*folders: Path) -> Iterator[None]:
    """Locks the folders against other sweeps, and creates missing ones; raises IolensError if another sweep holds a
    lock.

    The kernel releases a lock when the process ends. If a launcher is still running, it has inherited the lock and
    keeps it until its run has ended, because it still writes to the folder. On a file system without locks nothing is
    locked.
    """
    with ExitStack() as held:
        for folder in sorted({folder.resolve() for folder in folders}):
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            os.set_inheritable(descriptor, True)
            held.callback(_release, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise IolensError(
                    f"{folder} is in use by another sweep, or by the last run of a killed sweep; wait until it ends"
                ) from None
            except OSError:
                continue
        yield


def _release(descriptor: int) -> None:
    """Releases the lock of a folder, even if a child process has inherited it and is still running."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
