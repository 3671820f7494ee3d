"""Bytes read for the first time and again, from single transfers (DXT)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


@once_per_job
def cold_and_warm(job: Job) -> pd.DataFrame | None:
    """One row a file of which a rank read the same transfers again, by `id`: cold and warm (bytes per second of the
    first reading and of later ones), bytes (read again).

    A transfer is read again when the same rank has read the same offset and length of the file before. None without
    traces or without such transfers.
    """
    import pandas as pd

    traced = job.frames.get("DXT_POSIX")
    if traced is None:
        return None
    reads = traced[(traced["op"] == "read") & (traced["length"] > 0)].sort_values("start", kind="stable")
    again = reads.duplicated(["id", "rank", "offset", "length"])
    if not again.any():
        return None
    spent = reads["end"] - reads["start"]
    rows = pd.DataFrame({"id": reads["id"], "again": again, "bytes": reads["length"], "seconds": spent})
    sums = rows.groupby(["id", "again"])[["bytes", "seconds"]].sum().unstack(fill_value=0)
    seconds = sums["seconds"].replace(0, np.nan)
    found = pd.DataFrame(
        {
            "cold": sums["bytes"][False] / seconds[False],
            "warm": sums["bytes"][True] / seconds[True],
            "bytes": sums["bytes"][True],
        }
    )
    return found.dropna()
