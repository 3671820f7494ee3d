"""Choose the place of a sweep's data (the requested folder, else memory or a folder beside the results), and check
that it has room.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import existing
from iolens.lab.sweep.define.experiment import ALWAYS, NEVER, Experiment
from iolens.lab.sweep.define.spec import PointSpec

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


_MARGIN = 1.05
"""Free space required, relative to the data of one run."""


def needed_bytes(runs: Sequence[PointSpec]) -> int:
    """Returns the bytes that the largest of these runs needs; 0 if unknown."""
    return int(max((spec.volume or 0 for spec in runs), default=0) * _MARGIN)


def kept_bytes(runs: Sequence[PointSpec]) -> int | None:
    """Returns the bytes that the data of all these runs takes together; None if unknown."""
    volumes = [spec.volume for spec in runs]
    return None if None in volumes else sum(volume or 0 for volume in volumes)


def room_for(runs: Sequence[PointSpec]) -> int:
    """Returns the bytes that these runs need: those of the largest run or, if data is kept, of all runs that have no
    data yet.
    """
    if not any(spec.keep.data == ALWAYS for spec in runs):
        return needed_bytes(runs)
    due = [spec for spec in runs if not spec.data.is_dir()]
    return max(int((kept_bytes(due) or 0) * _MARGIN), needed_bytes(due))


def _volume(amount: int) -> str:
    """Formats a number of bytes for people."""
    return f"{amount / 1e9:.2f} GB" if amount >= 1e8 else f"{amount / 1e6:.2f} MB"


def check_space(needed: int, data: Path) -> None:
    """Raises if the data of a run does not fit; the message says how much is needed, and where."""
    place = existing(data)
    free = shutil.disk_usage(place).free
    if needed > free:
        raise IolensError(
            f"data needs {_volume(needed)} below {place}, where {_volume(free)} are free; "
            "make room, or choose another folder with DIR= (storage.directory)"
        )
