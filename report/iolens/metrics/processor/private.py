"""The private tables of a log, for those who only want their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


def table(job: Job, name: str) -> pd.DataFrame | None:
    """The rows of a private table (profiler/TABLES.md); None where the log has none."""
    found = job.private.get(name)
    return None if found is None or isinstance(found, dict) or found.empty else found
