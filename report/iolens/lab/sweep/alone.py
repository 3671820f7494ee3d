"""One sweep at a time in a folder: two would remove each other's files, and spoil each other's timing."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iolens.errors import IolensError


@contextmanager
def alone(*folders: Path) -> Iterator[None]:
    """Hold these folders, made where they are missing, against other sweeps; raises IolensError where one holds any of
    them. The kernel gives them back however the process ends. Where a file system has no locks, nobody is kept off."""
    with ExitStack() as held:
        for folder in sorted({folder.resolve() for folder in folders}):
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            held.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise IolensError(f"{folder} is in use by another sweep that is under way; wait for it") from None
            except OSError:
                continue
        yield
