"""Read a log file into a Job with pandas frames."""

from __future__ import annotations

from pathlib import Path

from iolens.log.container import LogError
from iolens.log.job import Job, ModuleInfo, Mount

__all__ = ["Job", "LogError", "ModuleInfo", "Mount", "read_log"]


def read_log(path: Path | str) -> Job:
    """Reads a log of Darshan 3.0 or later or of this profiler; raises LogError if it is damaged or no log."""
    # Imported here because it needs numpy, which users of other names in this package may lack.
    from iolens.log import reader

    return reader.read_log(path)
