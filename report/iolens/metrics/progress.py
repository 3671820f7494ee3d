"""What a job does now: the difference of two looks at it, and how its ranks share the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.cost import all_performance
from iolens.metrics.files import LOWEST
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


@dataclass(frozen=True)
class LayerProgress:
    """A layer so far, and since the look before: bytes per second, None on the first look."""

    module: str
    files: int
    bytes_read: int
    bytes_written: int
    seconds: float
    read_rate: float | None
    write_rate: float | None


def layers_since(job: Job, before: Job | None) -> list[LayerProgress]:
    """Every layer of the job; rates are differences of bytes over the difference of the jobs' run times."""
    earlier = {one.module: one for one in all_performance(before)} if before else {}
    passed = job.run_time - before.run_time if before else 0.0
    rows = []
    for now in all_performance(job):
        then = earlier.get(now.module)
        read, written = (then.bytes_read, then.bytes_written) if then else (0, 0)
        moved = (now.bytes_read - read, now.bytes_written - written)
        rates = [delta / passed if passed > 0 else None for delta in moved]
        rows.append(LayerProgress(now.module, now.files, now.bytes_read, now.bytes_written, now.seconds, *rates))
    return rows


@once_per_job
def rank_bytes(job: Job) -> pd.DataFrame | None:
    """Bytes `read` and `written` by each rank (index) at POSIX and STDIO, from the heat maps; None without them."""
    frame = job.frames.get("HEATMAP")
    if frame is None:
        return None
    found = frame[frame["module"].isin(LOWEST)].groupby("rank")[["read", "written"]].sum()
    return found.reindex(np.arange(max(job.nprocs, 1)), fill_value=0)
