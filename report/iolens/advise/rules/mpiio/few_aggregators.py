"""The rule about fewer aggregators than storage targets or nodes."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.capacity import useful_aggregators
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.stripes.striping import file_stripes
from iolens.metrics.files.use import most_first, under_mpiio
from iolens.metrics.files.writers import writer_counts
from iolens.metrics.job.spent import slowest_seconds


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for collectively written files with fewer writing ranks than stripes, or than nodes."""
    pair, layout = under_mpiio(job), file_stripes(job)
    if pair is None:
        return None
    upper, lower = pair
    writers = writer_counts(job, lower, 0)
    wanted = np.minimum(upper["ranks"], useful_aggregators(job, lower["id"]))
    written = (upper["COLL_WRITES"] + upper["SPLIT_WRITES"] > 0) & (lower["BYTES_WRITTEN"] >= limits["much_bytes"])
    chosen = written & (writers > 0) & (writers < wanted)
    if not chosen.any():
        return None
    rows = most_first(lower["BYTES_WRITTEN"], chosen)
    ids, at = lower["id"][rows], rows[0]
    has, wants = int(writers[at]), int(wanted[at])
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    whole = _whole(layout, lower["id"][at], wants)
    evidence = (
        f"{say.count(has, 'rank')} wrote {say.files(job, ids[:1])} for {say.count(float(upper['ranks'][at]), 'rank')} "
        f"over {whole}{say.and_others(len(ids) - 1)}; the writes took {say.seconds(spent)} of the slowest "
        f"({say.size(float(lower['BYTES_WRITTEN'][rows].sum()))}, "
        f"{say.rate(float(lower['BYTES_WRITTEN'][rows].sum()), spent)})."
    )
    # If there are few aggregators, the other ranks wait for the exchange of data as well as for the writes.
    whole_time = max(spent, slowest_seconds(job, "MPI-IO", ids, ("WRITE",)), key=lambda each: each.about)
    bound = (
        f"It assumes {wants} aggregators instead of {has} for the same writes, which saves 1 − {has}/{wants} of the "
        "time in MPI-IO."
    )
    hints = (f"cb_nodes {wants}", "cb_config_list *:*", "romio_cb_write enable")
    return Seen(evidence, whole_time * (1 - has / wants), bound, "{hints}", hints)


def _whole(layout: Records | None, key: int, wanted: int) -> str:
    """Returns the number that the aggregators are compared with, in words: the file's stripes or, if these are unknown,
    the nodes.
    """
    if layout is None or not (layout["id"] == key).any():
        return say.count(wanted, "node")
    stripes = int(layout["stripes"][layout["id"] == key][0])
    return say.count(stripes, "stripe")


RULE = Rule(
    id="few-aggregators",
    title="Fewer aggregators than targets or nodes",
    says="a file with much data is written collectively by fewer ranks than it has stripes with data or, if its "
    "stripes are unknown, than the job has nodes",
    limits=("much_bytes",),
    why="Each aggregator is one client with one network link; targets without their own aggregator wait for their "
    "turn.",
    read_more="ROMIO hints cb_nodes and cb_config_list: man MPI_File_open; MPI 4.1, section 14.2.8",
    check=check,
    gauges=("balance", "stripes"),
    bounds="few writers",
)
