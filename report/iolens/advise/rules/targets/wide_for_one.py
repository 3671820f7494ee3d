"""The rule about many stripes for a file that a single rank uses in transfers of less than a stripe."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.log import Job
from iolens.metrics.files.stripes.striping import striped_files
from iolens.metrics.files.use import most_first
from iolens.metrics.job.spent import slowest_seconds


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of widely striped files that a single rank uses, with transfers that on average are smaller
    than a stripe.
    """
    table = striped_files(job)
    if table is None:
        return None
    calls = table["READS"] + table["WRITES"]
    chosen = (table["ranks"] == 1) & (table["stripes"] >= max(2.0, limits["enough_stripes"])) & (calls > 0)
    chosen &= table["moved"] < table["stripe_size"] * calls
    if not chosen.any():
        return None
    rows = most_first(table["stripes"], chosen)
    ids, stripes = table["id"][rows], int(table["stripes"][rows[0]])
    spent = slowest_seconds(job, "POSIX", ids, ("META",))
    mean = float(table["moved"][rows].sum() / calls[rows].sum())
    evidence = (
        f"{say.files(job, ids)}: used by one rank, on {'up to ' if len(ids) > 1 else ''}"
        f"{say.count(stripes, 'stripe')}, in transfers smaller than a stripe ({say.size(mean)} on average); open, "
        f"close and "
        f"stat took {say.seconds(spent)} on the slowest rank."
    )
    bound = f"It assumes that one target is asked instead of {stripes}: 1 − 1/{stripes} of the metadata time."
    layout = ProposedStripes(1, None, tuple(ids.tolist()))
    return Seen(evidence, spent * (1 - 1 / stripes), bound, "{layout}", layout=layout)


RULE = Rule(
    id="wide-for-one",
    title="A file of one rank has many stripes",
    says="a file that one rank uses has `enough_stripes` stripes or more, and its transfers are smaller than a stripe",
    limits=("enough_stripes",),
    why="No transfer uses two targets at once, but each open or stat asks all targets.",
    read_more="https://docs.nersc.gov/performance/io/lustre/; man lfs-setstripe(1)",
    check=check,
)
