"""The samples of a log, corrected so that no more of them count as running than the kernel's processor time allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.lazy import pd

if TYPE_CHECKING:
    from iolens.log.job import Job


def held_samples(job: Job) -> pd.DataFrame | None:
    """Returns the private table `samples` with a column `waits`, False if the thread ran; None if it is empty.

    A thread that has just got a core is sampled as running (kind 0), although it waited for a core during most of the
    period. A thread may have more running samples than its processor time has periods. If the excess is larger than the
    error of a count (its square root), each place of the thread keeps the same share of its running samples, in whole
    periods. The remaining samples count as waiting, in separate rows. Samples by the processor's clock never wait and
    are left unchanged, as are those of a thread whose processor time a damaged log does not give as a number.
    """
    rows, threads = job.private.get("samples"), job.private.get("sampling")
    if rows is None or rows.empty:
        return None
    rows = rows.assign(waits=rows["kind"] > 0)
    if "on_core" not in rows or threads is None or threads.empty or (threads["timer"] == "cpu").any():
        return rows
    return _reduced_to_core_time(rows, float(threads["asked_hz"].max()))


def _reduced_to_core_time(rows: pd.DataFrame, hz: float) -> pd.DataFrame:
    """Returns the rows with the running samples of each thread reduced to its processor time."""
    running = rows[~rows["waits"]]
    same = [running["rank"], running["thread"]]
    seen = running["count"].groupby(same).transform("sum")
    counted = hz * running["on_core"].groupby(same).transform("sum")
    too_many = seen - counted > np.sqrt(seen)
    if not too_many.any():
        return rows
    share = (counted / seen).where(too_many & np.isfinite(counted), 1.0)
    until = np.floor((running["count"] * share).groupby(same).cumsum() + 0.5)
    kept = until.groupby(same).diff().fillna(until).astype(np.int64)
    waiting = running.assign(count=running["count"] - kept, waits=True, on_core=0.0)
    return pd.concat(
        [running.assign(count=kept), rows[rows["waits"]], waiting[waiting["count"] > 0]], ignore_index=True
    )
