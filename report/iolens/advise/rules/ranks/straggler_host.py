"""The rule about hosts whose ranks all take longer than other ranks that move as many bytes."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.job.ranks import slow_hosts

REMEDY = """\
Exclude the node, and tell your site:

  sbatch --exclude={hosts} ...
@lustre:  lctl get_param osc.*.import | grep -A3 state      # on the node
@nfs:  nfsiostat 5                                       # on the node
  ethtool DEVICE | grep Speed; ibstatus             # link at full speed?"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the hosts on which each rank's time is far above the median of the other hosts."""
    found = slow_hosts(job, limits["straggler"])
    if not found:
        return None
    worst = max(found, key=lambda one: one.seconds)
    evidence = (
        f"All {say.count(worst.ranks, 'rank')} on {worst.host} took {say.seconds(worst.seconds)} (median) for "
        f"their I/O, ranks elsewhere {say.seconds(worst.others)} for as many bytes."
    )
    bound = "It assumes that the host's ranks are as fast as the median of the others."
    remedy = REMEDY.replace("{hosts}", ",".join(one.host for one in found))
    return Seen(evidence, worst.seconds - worst.others, bound, remedy)


RULE = Rule(
    id="straggler-host",
    title="A node is slow for the same bytes",
    says="all ranks of a host take `straggler` times the median of the others for no more bytes",
    limits=("straggler",),
    why="The run waits for its slowest node, and so will the next run on this node.",
    read_more="`iolens table load_balance`; Lockwood et al., TOKIO, CUG 2018",
    check=check,
    gauges=("balance",),
    before=("small-writes", "small-reads", "sync-each-write", "shared-small-writes", "random-access"),
)
