"""How evenly the ranks share the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.files import lowest_of
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


@once_per_job
def rank_bytes(job: Job) -> pd.DataFrame | None:
    """Bytes `read` and `written` by each rank (index) at the lowest layers, from the heat maps; None without them."""
    frame = job.frames.get("HEATMAP")
    if frame is None:
        return None
    found = (
        frame[frame["module"].isin(lowest_of(set(frame["module"].unique())))].groupby("rank")[["read", "written"]].sum()
    )
    return found.reindex(np.arange(max(job.nprocs, 1)), fill_value=0)


@once_per_job
def rank_balance(job: Job) -> pd.DataFrame | None:
    """How evenly `rank_bytes` lie on the ranks, one row for what was read and for what was written.

    Columns: what, least and least_rank, median, most and most_rank (bytes; the lowest rank of equals), imbalance (most
    over mean; 1: even). A kind without bytes is left out. None without heat maps or with a single process.
    """
    import pandas as pd

    found = rank_bytes(job)
    if found is None or len(found) < 2:
        return None
    rows = [
        (what, each.min(), each.idxmin(), each.median(), each.max(), each.idxmax(), each.max() / each.mean())
        for what, each in found.items()
        if each.any()
    ]
    return pd.DataFrame(rows, columns=["what", "least", "least_rank", "median", "most", "most_rank", "imbalance"])
