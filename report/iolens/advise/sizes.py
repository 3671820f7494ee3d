"""Files whose transfers are mostly small: what the rules about sizes have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from iolens.advise import say
from iolens.advise.rule import Seen
from iolens.metrics.share import slowest_seconds
from iolens.metrics.use import by_file, small_calls

if TYPE_CHECKING:
    import pandas as pd

    from iolens.advise.limits import Limits
    from iolens.log import Job


def small(
    job: Job, limits: Limits, kind: str, chosen: Callable[[pd.DataFrame], np.ndarray], remedy: str
) -> Seen | None:
    """What small POSIX reads or writes (`kind` READ or WRITE) cost in the `chosen` files that MPI-IO does not know."""
    table = by_file(job, "POSIX")
    if table is None:
        return None
    calls, few = table[f"{kind}S"].to_numpy(), small_calls(table, kind, limits["small_transfer"])
    foreign = job.frames.get("MPI-IO")
    free = np.ones(len(table), bool) if foreign is None else ~table.index.isin(foreign["id"])
    mask = chosen(table) & free & (calls > 0) & (few >= limits["small_share"] * calls)
    if few[mask].sum() < max(1.0, limits["few_calls"]):
        return None
    by_count = table[mask].iloc[np.argsort(-few[mask], kind="stable")]
    spent = slowest_seconds(job, "POSIX", by_count.index, (kind,))
    moved = float(by_count["BYTES_READ" if kind == "READ" else "BYTES_WRITTEN"].sum())
    word, total = kind.lower(), float(calls[mask].sum())
    evidence = (
        f"{say.percent(few[mask].sum() / total)} of {say.count(total, word)} {'from' if kind == 'READ' else 'to'} "
        f"{say.files(job, by_count.index)} carry at most {say.size(limits['small_transfer'])} "
        f"({say.size(moved / total)} on average) and took {say.seconds(spent)} of the slowest rank."
    )
    return Seen(evidence, spent, f"These {word}s for nothing: their time on the slowest rank.", remedy)
