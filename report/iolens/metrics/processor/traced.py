"""Everything that was timed call by call, in rows of single ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.io import rank_io

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


@once_per_job
def traced_rows(job: Job) -> pd.DataFrame | None:
    """rank, group, function, file, region, calls, time (seconds); None where nothing was timed."""
    import pandas as pd

    moved = rank_io(job)
    parts = [] if moved is None else [moved[["rank", "group", "function", "file", "calls", "time"]].assign(region="")]
    return pd.concat(parts, ignore_index=True) if parts else None
