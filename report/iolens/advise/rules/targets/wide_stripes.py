"""The rule about many small files, each on many targets."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.log import Job
from iolens.metrics.files.stripes.striping import striped_files
from iolens.metrics.job.spent import slowest_seconds


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for many files that fill at most half of their stripes."""
    table = striped_files(job)
    if table is None:
        return None
    size = table["size"]
    chosen = (table["stripes"] >= 4) & (size <= table["stripe_size"] * table["stripes"] / 2)
    if int(chosen.sum()) < max(1.0, limits["many_files"]):
        return None
    ids = table["id"][chosen]
    spent = slowest_seconds(job, "POSIX", ids, ("META",))
    stripes, unit, data = (float(np.median(each[chosen])) for each in (table["stripes"], table["stripe_size"], size))
    evidence = (
        f"{say.count(len(ids), 'file')} have {say.count(stripes, 'stripe')} of {say.size(unit)}, but only "
        f"{say.size(data)} of data (medians); open, close and stat of them took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    bound = "It assumes that metadata calls on these files take no time on the slowest rank."
    return Seen(evidence, spent, bound, "{layout}", layout=ProposedStripes(1, None, tuple(ids.tolist())))


RULE = Rule(
    id="wide-stripes",
    title="Small files on many targets",
    says="many files have four stripes or more and fill at most half of them",
    limits=("many_files",),
    why="Each stripe is an object; open, stat and remove ask a server for every one of them.",
    read_more="https://docs.nersc.gov/performance/io/lustre/; man lfs-setstripe(1)",
    check=check,
    bounds="metadata",
)
