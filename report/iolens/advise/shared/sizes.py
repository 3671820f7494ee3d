"""Files with mostly small transfers, for the rules about transfer sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Seen
from iolens.advise.shared.counts import enough_calls
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import by_file, small_calls, unknown_to_mpiio
from iolens.metrics.job.spent import slowest_seconds


def small(job: Job, limits: Limits, kind: str, chosen: Callable[[Records], np.ndarray], remedy: str) -> Seen | None:
    """Returns the cost of small POSIX reads or writes (`kind` READ or WRITE) in the `chosen` files that MPI-IO does not
    know.
    """
    table = by_file(job, "POSIX")
    if table is None:
        return None
    calls = table[f"{kind}S"]
    if not calls.any():
        return None
    few = small_calls(table, kind, limits["small_transfer"])
    mask = (calls > 0) & (few >= limits["small_share"] * calls)
    if few[mask].sum() < min(limits["some_calls"], max(1.0, limits["few_calls"])):
        return None
    mask &= unknown_to_mpiio(job, "POSIX")
    mask[mask] = chosen(table.where(mask))
    rows = np.flatnonzero(mask)
    by_count = table.where(rows[np.argsort(-few[rows], kind="stable")])
    spent = slowest_seconds(job, "POSIX", by_count["id"], (kind,))
    if not enough_calls(job, limits, float(few[mask].sum()), spent):
        return None
    moved = float(by_count["BYTES_READ" if kind == "READ" else "BYTES_WRITTEN"].sum())
    word, total = kind.lower(), float(calls[mask].sum())
    evidence = (
        f"{say.percent(few[mask].sum() / total)} of {say.count(total, word)} {'from' if kind == 'READ' else 'to'} "
        f"{say.files(job, by_count['id'])} carry at most {say.size(limits['small_transfer'])} "
        f"({say.size(moved / total)} on average) and took {say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, f"It assumes that these {word}s take no time on the slowest rank.", remedy)
