"""Read a log file into a Job with pandas frames."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from iolens.log.format.container import LogError
from iolens.log.job import Job, ModuleInfo, Mount

__all__ = ["Job", "LogError", "ModuleInfo", "Mount", "read_log"]


def read_log(path: Path | str, parts: Collection[str] = ()) -> Job:
    """Reads a log of Darshan 3.0 or later or of this profiler, or only some of its modules and private regions; raises
    LogError if what is read is damaged, or if the file is not a log.
    """
    # The module is imported only here because it needs numpy, which users of other names in this package may lack.
    from iolens.log import reader

    return reader.read_log(path, parts)
