"""How evenly the ranks share the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.files import LOWEST
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


@once_per_job
def rank_bytes(job: Job) -> pd.DataFrame | None:
    """Bytes `read` and `written` by each rank (index) at POSIX and STDIO, from the heat maps; None without them."""
    frame = job.frames.get("HEATMAP")
    if frame is None:
        return None
    found = frame[frame["module"].isin(LOWEST)].groupby("rank")[["read", "written"]].sum()
    return found.reindex(np.arange(max(job.nprocs, 1)), fill_value=0)
