"""The rule about a file of which every stripe is written by several ranks."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.stripes.ost import stripe_writers
from iolens.metrics.files.use import by_file, joined_files, most_first
from iolens.metrics.job.about import one_client
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Give each rank, or each aggregator, its own stripes:
  - one contiguous part of a rank, as large as a stripe{layout}
  - or collective writes through ROMIO's Lustre driver, which binds
    stripes to aggregators; elsewhere: striping_unit and cb_nodes as hints,
    the stripe count a multiple of cb_nodes."""

_OWN = """:

@lustre:  lfs setstripe -c {ranks} -S SIZE_OF_A_RANKS_PART FOLDER
@other:  iolens stripe set -c {ranks} -S SIZE_OF_A_RANKS_PART FOLDER
"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files with several stripes in which at least two ranks wrote to each stripe."""
    table, posix = stripe_writers(job), by_file(job, "POSIX")
    if table is None or posix is None or one_client(job):
        return None
    table = joined_files(posix, table)
    much = table["bytes"] >= limits["much_bytes"]
    much &= table["BYTES_WRITTEN"] > limits["small_transfer"] * table["WRITES"]
    chosen = table.where(most_first(table["bytes"], (table["stripes"] > 1) & (table["fewest"] > 1) & much))
    if not len(chosen):
        return None
    spent = slowest_seconds(job, "POSIX", chosen["id"], ("WRITE",))
    stripes, fewest, ranks = (chosen[name][0] for name in ("stripes", "fewest", "ranks"))
    evidence = (
        f"Each of the {say.count(stripes)} stripes of {say.files(job, chosen['id'])} was written by "
        f"{say.count(fewest)} or more of {say.count(ranks, 'rank')}; writes took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    own = _OWN.replace("{ranks}", str(int(ranks))) if ranks <= limits["enough_stripes"] else ";"
    bound = "It assumes that these writes take no time on the slowest rank."
    return Seen(evidence, spent, bound, REMEDY.replace("{layout}", own))


RULE = Rule(
    id="shared-stripes",
    title="Several ranks write each stripe",
    says="two ranks or more wrote every stripe of a file with much data, in transfers that are not small",
    limits=("much_bytes", "small_transfer", "enough_stripes"),
    why="A stripe is one object with one set of locks, so its writers wait for each other.",
    read_more="https://wiki.lustre.org/Lustre_Tuning; W. Liao, A. Choudhary, SC08",
    check=check,
)
