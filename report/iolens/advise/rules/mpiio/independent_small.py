"""The rule about small independent MPI-IO accesses to a file of several ranks."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.remedies import COLLECTIVE
from iolens.log import Job
from iolens.metrics.files.use import by_file, small_calls
from iolens.metrics.job.spent import slowest_seconds


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of several ranks whose MPI-IO calls are mostly independent and small."""
    table = by_file(job, "MPI-IO")
    if table is None:
        return None
    single = np.asarray(sum(table[name] for name in ("INDEP_READS", "INDEP_WRITES", "NB_READS", "NB_WRITES")))
    together = np.asarray(sum(table[name] for name in ("COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES")))
    few = small_calls(table, "READ", limits["small_transfer"]) + small_calls(table, "WRITE", limits["small_transfer"])
    calls = single + together
    chosen = (table["ranks"] > 1) & (calls > 0) & (together <= 0.1 * single) & (few >= limits["small_share"] * calls)
    if few[chosen].sum() < max(1.0, limits["few_calls"]):
        return None
    ids = table["id"][chosen]
    spent = slowest_seconds(job, "MPI-IO", ids, ("READ", "WRITE"))
    moved = float((table["BYTES_READ"] + table["BYTES_WRITTEN"])[chosen].sum())
    evidence = (
        f"{say.count(float(single[chosen].sum()), 'independent MPI-IO call')} on {say.files(job, ids)}, "
        f"{say.size(moved / float(calls[chosen].sum()))} each on average, took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that all of these calls take no time on the slowest rank.", COLLECTIVE)


RULE = Rule(
    id="independent-small",
    title="Small independent MPI-IO calls",
    says="there are many MPI-IO calls on files of several ranks, most are small, and nine of ten are independent",
    limits=("small_transfer", "small_share", "few_calls"),
    why="Only in collective calls can the library combine the pieces of all ranks into large transfers.",
    read_more="MPI 4.1, section 14.4.2; ROMIO: https://www.mcs.anl.gov/projects/romio",
    check=check,
    gauges=("size",),
    bounds="small transfers",
)
