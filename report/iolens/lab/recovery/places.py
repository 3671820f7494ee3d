"""The folders in which the profiler keeps spools, and the names of spools and snapshots."""

from __future__ import annotations

import os
from pathlib import Path

SNAPSHOT_MARK = ".snapshot-"
"""Part of the name of a log that was made while its job was running."""


def default_folders() -> list[Path]:
    """Returns the folders in which the profiler keeps spools on this node."""
    asked = os.environ.get("IOLENS_SPOOL")
    return [Path(folder) / f"iolens-{os.geteuid()}" for folder in ([asked] if asked else ["/dev/shm", "/tmp"])]


def spool_files(folder: Path) -> list[str]:
    """Returns the sorted paths in or below a folder that have names of spools; files that vanish during the search are
    left out.
    """
    found = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    return sorted(path for path in found if path.endswith(".spool"))
