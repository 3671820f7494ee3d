"""The rule about aggregators whose file domains do not keep to stripes or blocks."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.stripes.ost import apart
from iolens.metrics.files.stripes.striping import block_size
from iolens.metrics.files.use import among, most_first, under_mpiio
from iolens.metrics.files.writers import writer_counts
from iolens.metrics.job.about import one_client
from iolens.metrics.job.spent import slowest_seconds


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for collectively written files of several aggregators whose large POSIX writes mostly begin inside
    a block.
    """
    pair = under_mpiio(job)
    if pair is None or one_client(job):
        return None
    upper, lower = pair
    writers, units = writer_counts(job, lower, 1), block_size(job, lower)
    chosen = (
        (upper["COLL_WRITES"] + upper["SPLIT_WRITES"] > 0)
        & (writers > 1)
        & (units >= limits["least_alignment"])
        & (lower["BYTES_WRITTEN"] > limits["small_transfer"] * lower["WRITES"])
        & (lower["BYTES_WRITTEN"] >= 0.75 * units * lower["WRITES"])
        & ~among(lower["id"], apart(job))
        & (lower["FILE_NOT_ALIGNED"] >= limits["unaligned_share"] * (lower["READS"] + lower["WRITES"]))
    )
    if not chosen.any():
        return None
    rows = most_first(lower["BYTES_WRITTEN"], chosen)
    ids = lower["id"][rows]
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    unit = int(units[rows[0]])
    share = float(lower["FILE_NOT_ALIGNED"][rows].sum() / (lower["READS"] + lower["WRITES"])[rows].sum())
    evidence = (
        f"{say.percent(share)} of the aggregators' transfers of {say.files(job, ids)} do not begin at a multiple of "
        f"{say.size(unit)}; {say.count(int(writers[rows[0]]), 'rank')} write, the slowest for {say.seconds(spent)}."
    )
    hints = (f"striping_unit {unit}", "romio_cb_write enable", f"cb_buffer_size {max(unit, 16 << 20) // unit * unit}")
    return Seen(evidence, spent, "It assumes that the writes of the slowest aggregator take no time.", "{hints}", hints)


RULE = Rule(
    id="unaligned-domains",
    title="File domains of aggregators begin inside stripes",
    says="several aggregators write a file in transfers that are not small, have at least three quarters of a block "
    "or stripe, and mostly begin inside a block or stripe",
    limits=("least_alignment", "unaligned_share", "small_transfer"),
    why="Two aggregators that share a stripe take its lock from each other in every collective call.",
    read_more="W. Liao, A. Choudhary, SC08, doi 10.1109/SC.2008.5222722",
    check=check,
    before=("shared-stripes",),
)
