"""One sweep at a time in a folder: two would remove each other's files, and spoil each other's timing."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from iolens.errors import IolensError


@contextmanager
def alone(*folders: Path) -> Iterator[None]:
    """Hold these folders, made where they are missing, against other sweeps; raises IolensError where one holds any of
    them. The kernel gives them back however the process ends, but not before the run has ended that was under way: its
    launcher inherits them, as that of a sweep that was killed goes on writing there. Where a file system has no locks,
    nobody is kept off."""
    with ExitStack() as held:
        for folder in sorted({folder.resolve() for folder in folders}):
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            os.set_inheritable(descriptor, True)
            held.callback(release, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise IolensError(
                    f"{folder} is in use by another sweep that is under way, or by the last run of one that was "
                    "killed; wait for it"
                ) from None
            except OSError:
                continue
        yield


def release(descriptor: int) -> None:
    """Give a folder back, whoever has inherited it and lives on."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
