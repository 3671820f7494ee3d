"""Choose the place of a sweep's data: the requested folder, else memory or a folder beside the results."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.storage.backend import Backend
from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.keep import NEVER

MEMORY = Path("/dev/shm")
"""The file system in memory that Linux provides."""

_SHARE = 0.5
"""Largest part of the free memory that data may take."""


def data_folder(experiment: Experiment, folder: Path, storage: Backend, needed: int) -> Path:
    """Returns the folder for runs that write `needed` bytes each, for a sweep whose results go to `folder`.

    Storage that only models time needs no disk, and a busy disk would disturb its runs. Its data therefore lies in
    memory if there is room, unless the runs use other machines or data is kept. The folder belongs to this user and
    this sweep alone.
    """
    if experiment.directory is not None:
        return experiment.directory / experiment.name
    here = not LAUNCHERS[experiment.launcher].elsewhere
    if storage.times_by_model and here and experiment.keep.data == NEVER and needed <= room_in_memory():
        mark = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:8]
        return MEMORY / f"iolens-data-{os.geteuid()}" / f"{experiment.name}-{mark}"
    return folder / "data"


def room_in_memory() -> int:
    """Returns the bytes that files in memory may take; 0 if there is no such file system."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return 0
    free = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    return min(shutil.disk_usage(MEMORY).free, int(_SHARE * 1024 * int(free[1])) if free else 0)
