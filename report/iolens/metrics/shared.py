"""Files that several ranks shared: how unevenly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.files import LOWEST, paths

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


def variance(job: Job, limit: int = 20) -> pd.DataFrame:
    """The shared files (rank -1) whose slowest rank took longest, in the layer that knows them lowest.

    Columns: path, module, processes, fastest_rank, fastest_seconds, fastest_bytes, the same for slowest,
    sigma_seconds, sigma_bytes: standard deviations over all ranks, the root of Darshan's population variance of a
    rank's read, write and metadata time, and of its bytes. Empty for a single process.
    """
    import pandas as pd

    parts = []
    for name in LOWEST:
        frame = job.frames.get(name)
        if frame is None or job.nprocs < 2:
            continue
        shared = frame[frame["rank"] < 0].nlargest(limit, f"{name}_F_SLOWEST_RANK_TIME")
        columns = {"id": shared["id"], "path": paths(job, shared["id"]), "module": name, "processes": job.nprocs}
        for which in ("FASTEST", "SLOWEST"):
            columns[f"{which.lower()}_rank"] = shared[f"{name}_{which}_RANK"]
            columns[f"{which.lower()}_seconds"] = shared[f"{name}_F_{which}_RANK_TIME"]
            columns[f"{which.lower()}_bytes"] = shared[f"{name}_{which}_RANK_BYTES"]
        for what, column in (("TIME", "sigma_seconds"), ("BYTES", "sigma_bytes")):
            columns[column] = np.sqrt(shared[f"{name}_F_VARIANCE_RANK_{what}"].clip(lower=0))
        parts.append(pd.DataFrame(columns))
    if not parts:
        return pd.DataFrame()
    found = pd.concat(parts, ignore_index=True)
    found = found[found["slowest_seconds"] > 0]
    return found.nlargest(limit, "slowest_seconds").reset_index(drop=True)
