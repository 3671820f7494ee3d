"""The rule about ranks that move equally many bytes in very unequal times."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.ranks import straggler_host, straggler_rank
from iolens.advise.rules.targets import straggler_target
from iolens.log import Job
from iolens.metrics.files.use import by_file
from iolens.metrics.job.ranks import rank_times

REMEDY = """\
Check if another run shows the same:

  iolens diff LOG OTHER_LOG            # are the same ranks slow again?
  iolens table load_balance LOG

If the same ranks are slow, look at their nodes, files and targets. If other
ranks are slow, the storage was busy with other jobs; fewer writers at a
time (aggregators, or files for groups of ranks) make the times more equal."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that time differs widely between ranks that moved the same number of bytes."""
    times, upper = rank_times(job), by_file(job, "MPI-IO")
    if times is None or len(times) < limits["crowd"]:
        return None
    if upper is not None and (upper["COLL_WRITES"].any() or upper["COLL_READS"].any()):
        return None
    moved = times["bytes"]
    seconds = min((times["seconds"], times["seconds"] - times["meta"]), key=_unevenness)
    median, mean, most = float(np.median(seconds)), float(seconds.mean()), float(seconds.max())
    if moved.max() > 1.2 * moved.min() or most < limits["uneven"] * mean or median <= 0:
        return None
    if any(rule.check(job, limits) is not None for rule in (straggler_rank, straggler_host, straggler_target)):
        return None
    evidence = (
        f"{say.count(len(times), 'rank')} moved {say.size(float(np.median(moved)))} each, in "
        f"{say.seconds(float(seconds.min()))} to {say.seconds(most)} (mean {say.seconds(mean)})."
    )
    return Seen(evidence, most - mean, "It assumes that the slowest rank is as fast as the mean of all.", REMEDY)


def _unevenness(seconds: np.ndarray) -> float:
    """Returns the slowest rank's time over the mean. Opening files may make ranks uneven that move bytes evenly."""
    mean = float(seconds.mean())
    return float(seconds.max()) / mean if mean > 0 else 0.0


RULE = Rule(
    id="uneven-times",
    title="Equal bytes take very unequal times",
    says="`crowd` ranks or more moved the same number of bytes, the slowest took `uneven` times the mean, and "
    "neither a host, a target nor a few ranks explain its time",
    limits=("crowd", "uneven"),
    why="The run waits for the slowest rank: the storage or the network was shared with other jobs, or served ranks "
    "in turn.",
    read_more="Lockwood et al., TOKIO, CUG 2018; `iolens table load_balance`",
    check=check,
    gauges=("balance",),
)
