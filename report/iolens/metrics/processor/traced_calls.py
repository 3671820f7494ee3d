"""Functions that were traced by group (`iolens run --trace`, `--apa`): calls and time of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask, kept
from iolens.metrics.processor.nodes import chains, said
from iolens.metrics.processor.traced import OWN, group_rows

if TYPE_CHECKING:
    from iolens.log import Job
    from iolens.log.records import Records

KEYS = ("group", "function")
SUMS = ["calls", "time", "bytes", "throttled"]


@once_per_job
def traced_calls(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """group, function, calls, time (seconds), bytes: of an average rank; most and most_rank (time of the slowest rank;
    -1: ranks are known together only); throttled (ranks that stopped counting), most time first.

    A time has all that the function called, so that times of the group `functions` hold one another. None where no
    group was traced.
    """
    rows = group_rows(job)
    if rows is None:
        return None
    rows = kept(rows.beside({"function": np.array(names(job, rows), object)}), ask.where)
    same = Groups(rows["group"], rows["function"], rows["rank"])
    each = rows.take(*KEYS, "rank").where(same.first).beside({name: same.sum(rows[name]) for name in SUMS})
    each = ordered(ordered(each, *KEYS, "rank"), "-time")
    functions = Groups(each["group"], each["function"])
    sums = {name: functions.sum(each[name]) for name in SUMS}
    means = {name: sums[name] / max(job.nprocs, 1) for name in SUMS[:3]}
    slowest = {"most": each["time"][functions.first], "most_rank": each["rank"][functions.first]}
    found = each.take(*KEYS).where(functions.first).beside({**sums, **means, **slowest})
    return ordered(ordered(found, *KEYS), "-time")


def names(job: Job, rows: Records) -> list[str]:
    """The functions' names; of the program's own, from its symbols."""
    known = chains(job) if (rows["group"] == OWN).any() else {}
    columns = (rows[name].tolist() for name in ("rank", "node", "group", "function"))
    return [
        said(known[rank, node][-1]) if group == OWN and known.get((rank, node)) else function or "(others)"
        for rank, node, group, function in zip(*columns, strict=True)
    ]
