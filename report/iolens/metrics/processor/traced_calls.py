"""Functions that were traced by group (`iolens run --trace`, `--apa`): calls and time of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask, kept
from iolens.metrics.processor.nodes import chains, said
from iolens.metrics.processor.traced import OWN, group_rows

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

SUMS = ["calls", "time", "bytes", "throttled"]


@once_per_job
def traced_calls(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """group, function, calls, time (seconds), bytes: of an average rank; most and most_rank (time of the slowest rank;
    -1: ranks are known together only); throttled (ranks that stopped counting), most time first.

    A time has all that the function called, so that times of the group `functions` hold one another. None where no
    group was traced.
    """
    rows = group_rows(job)
    if rows is None:
        return None
    rows = kept(rows.assign(function=names(job, rows)), ask.where)
    keys = ["group", "function"]
    each = rows.groupby([*keys, "rank"])[SUMS].sum().reset_index()
    most = each.sort_values("time", ascending=False, kind="stable").drop_duplicates(keys).set_index(keys)
    found = each.groupby(keys)[SUMS].sum()
    found[["calls", "time", "bytes"]] /= max(job.nprocs, 1)
    found = found.join(most[["time", "rank"]].rename(columns={"time": "most", "rank": "most_rank"}))
    return found.sort_values("time", ascending=False, kind="stable").reset_index()


def names(job: Job, rows: pd.DataFrame) -> list[str]:
    """The functions' names; of the program's own, from its symbols."""
    known = chains(job) if (rows["group"] == OWN).any() else {}
    columns = (rows[name].tolist() for name in ("rank", "node", "group", "function"))
    return [
        said(known[rank, node][-1]) if group == OWN and known.get((rank, node)) else function or "(others)"
        for rank, node, group, function in zip(*columns, strict=True)
    ]
