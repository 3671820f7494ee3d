"""The private tables of a log, for code that needs only their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.lazy import pd
from iolens.log import Job

if TYPE_CHECKING:
    from iolens.log.records import Records


def table_records(job: Job, name: str) -> Records | None:
    """Returns the rows of a private table (profiler/TABLES.md); None if the log has none."""
    found = job.tables.get(name)
    return None if found is None or not len(found) else found


def table_frame(job: Job, name: str) -> pd.DataFrame | None:
    """Returns the rows of a private table as a frame; None if the log has none."""
    found = table_records(job, name)
    return None if found is None else found.frame()
