"""Where the data of a sweep lies: in the folder that was asked for, else in memory or beside the results."""

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
"""A file system in memory, as Linux has it."""

SHARE = 0.5
"""Of the memory that is free now, what data may take at most."""


def data_folder(experiment: Experiment, folder: Path, storage: Backend, needed: int) -> Path:
    """The folder for runs that write `needed` bytes each, of a sweep whose results go to `folder`.

    Storage that is a model of time needs no disk, and a busy disk would only spoil its runs: their data lies in memory
    where there is room for it, unless they run on other machines, or some of it shall stay. Such a folder is this
    user's and this sweep's own.
    """
    if experiment.directory is not None:
        return experiment.directory / experiment.name
    here = not LAUNCHERS[experiment.launcher].elsewhere
    if storage.times_by_model and here and experiment.keep.data == NEVER and needed <= room_in_memory():
        mark = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:8]
        return MEMORY / f"iolens-data-{os.geteuid()}" / f"{experiment.name}-{mark}"
    return folder / "data"


def room_in_memory() -> int:
    """Bytes that files in memory may take; 0 where there is no place for them."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return 0
    free = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    return min(shutil.disk_usage(MEMORY).free, int(SHARE * 1024 * int(free[1])) if free else 0)
