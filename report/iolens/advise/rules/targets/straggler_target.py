"""The rule about a storage target that is slower than the others."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.job.ranks import clearly_slow_targets, rank_times, target_speed

REMEDY = """\
Avoid {targets} until your site has checked {them}:

@lustre:  lfs df FOLDER                          # is a target full?
@lustre:  lfs check osts                         # is it reachable?
@lustre:  lfs setstripe -c 1 -i OTHER FOLDER     # one target by number
@lustre:  lfs migrate -c 1 -i OTHER FILE         # move a file away
@other:  iolens stripe targets FOLDER           # is a target full?
@other:  iolens stripe set -c 1 -i OTHER FOLDER # one target by number"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the targets whose speed is far below the median. The speeds are those of files that lie on one target and
    that one rank uses.
    """
    slow, every, times = clearly_slow_targets(job, limits["straggler"]), target_speed(job), rank_times(job)
    if slow is None or every is None or times is None:
        return None
    worst = slow["overall"].argmin()
    most, median = float(times["seconds"].max()), float(np.median(times["seconds"]))
    evidence = (
        f"Files on target {int(slow['ost'][worst])} moved {say.rate(float(slow['overall'][worst]), 1)}, those on "
        f"the median of {say.count(len(every), 'target')} {say.rate(float(np.median(every['overall'])), 1)}; the "
        f"slowest rank took {say.seconds(most)}, half of the ranks {say.seconds(median)} or less."
    )
    names = [f"OST {int(ost)}" for ost in slow["ost"]]
    them = "it" if len(names) == 1 else "them"
    remedy = REMEDY.replace("{targets}", ", ".join(names)).replace("{them}", them)
    return Seen(evidence, most - median, "It assumes that the slowest rank is as fast as the median rank.", remedy)


RULE = Rule(
    id="straggler-target",
    title="A storage target is slow",
    says="two or more files of single ranks on a target take `straggler` times as long as files of the same size on "
    "the median target, and clearly longer than on all others; at most a quarter of the targets, which are four or "
    "more, are slow",
    limits=("straggler",),
    why="The run waits for the files on this target.",
    read_more="Lockwood et al., TOKIO, CUG 2018; man lfs-migrate(1)",
    check=check,
    gauges=("balance",),
    bounds="one target",
    before=("small-writes", "small-reads", "sync-each-write", "shared-small-writes", "random-access"),
)
