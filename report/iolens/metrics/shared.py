"""Files that several ranks shared: how unevenly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.files import lowest, paths
from iolens.metrics.layers import io_time
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

SIDES = ("fastest", "slowest")


@once_per_job
def variance(job: Job, limit: int = 20) -> pd.DataFrame:
    """The files of several ranks whose slowest rank took longest, in the layer that knows them lowest.

    Columns: id, module, processes, fastest_rank, fastest_seconds, fastest_bytes, the same for slowest,
    sigma_seconds, sigma_bytes (standard deviations over these ranks), path. The time of a rank is its read, write
    and metadata time. DFS and DAOS keep no deviations (NaN). Empty for a single process.
    """
    import pandas as pd

    parts = []
    for name in lowest(job) if job.nprocs > 1 else ():
        frame = job.frames[name]
        found = pd.concat([by_all(frame, name, job.nprocs), by_some(frame, name)], ignore_index=True)
        parts.append(found[found["slowest_seconds"] > 0].nlargest(limit, "slowest_seconds"))
    if not parts:
        return pd.DataFrame()
    chosen = pd.concat(parts, ignore_index=True).nlargest(limit, "slowest_seconds").reset_index(drop=True)
    return chosen.assign(path=paths(job, chosen["id"]))


def by_all(frame: pd.DataFrame, name: str, nprocs: int) -> pd.DataFrame:
    """Files that all ranks used, from their merged records (rank -1); Darshan's variances are over all ranks."""
    import pandas as pd

    shared = frame[frame["rank"] < 0]
    columns = {"id": shared["id"], "module": name, "processes": nprocs}
    for side in SIDES:
        columns[f"{side}_rank"] = shared[f"{name}_{side.upper()}_RANK"]
        columns[f"{side}_seconds"] = shared[f"{name}_F_{side.upper()}_RANK_TIME"]
        columns[f"{side}_bytes"] = shared[f"{name}_{side.upper()}_RANK_BYTES"]
    for what, column in (("TIME", "sigma_seconds"), ("BYTES", "sigma_bytes")):
        variance = f"{name}_F_VARIANCE_RANK_{what}"
        columns[column] = np.sqrt(shared[variance].clip(lower=0)) if variance in shared else np.nan
    return pd.DataFrame(columns)


def by_some(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Files that two or more ranks used but not all: each rank has a record of its own, grouped here."""
    import pandas as pd

    own = frame[(frame["rank"] >= 0) & frame["id"].duplicated(keep=False)]
    moved = own[f"{name}_BYTES_READ"].clip(lower=0) + own[f"{name}_BYTES_WRITTEN"].clip(lower=0)
    records = pd.DataFrame({"id": own["id"], "rank": own["rank"], "seconds": io_time(own, name), "bytes": moved})
    groups = records.groupby("id", sort=False)
    found = pd.DataFrame({"module": name, "processes": groups["rank"].nunique()})
    for side, place in zip(SIDES, (groups["seconds"].idxmin(), groups["seconds"].idxmax()), strict=True):
        chosen = records.loc[place].set_index("id")
        for column in ("rank", "seconds", "bytes"):
            found[f"{side}_{column}"] = chosen[column]
    for column in ("seconds", "bytes"):
        found[f"sigma_{column}"] = groups[column].std(ddof=0)
    return found[found["processes"] > 1].reset_index()
