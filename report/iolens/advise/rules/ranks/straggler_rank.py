"""The rule about single ranks that take longer than other ranks that move as many bytes."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file
from iolens.metrics.job.ranks import clearly_slow_targets, rank_times, slow_hosts

REMEDY = """\
Find out how these ranks differ before you change the program:

  iolens table shared_files LOG    # their times beside the others'
  scontrol show job JOBID          # where they ran
  squeue -w NODE                   # what shares the node
@stripes:  iolens stripe get FILE           # which targets they wrote to
@nfs:  nfsiostat 5                      # on the node: is the server slow?

then exclude the node (sbatch -x NODE).
@stripes:If they wrote to another target than the others, avoid that target."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for a few ranks far above the median time without more bytes, unless a target or host explains it."""
    times, upper = rank_times(job), by_file(job, "MPI-IO")
    if times is None or len(times) < limits["crowd"] or (upper is not None and upper["COLL_WRITES"].any()):
        return None
    if clearly_slow_targets(job, limits["straggler"]) is not None or slow_hosts(job, limits["straggler"]):
        return None
    median = float(np.median(times["seconds"]))
    alike = times["bytes"] <= 1.2 * np.median(times["bytes"])
    slow = times.where((times["seconds"] >= limits["straggler"] * median) & alike)
    if not 0 < 4 * len(slow) <= len(times):
        return None
    worst = slow["seconds"].argmax()
    rank, most = int(slow["rank"][worst]), float(slow["seconds"][worst])
    evidence = (
        f"Rank {rank} took {say.seconds(most)} for {say.size(float(slow['bytes'][worst]))}; half of the "
        f"{say.count(len(times), 'rank')} took {say.seconds(median)} or less for as much"
        f"{f', and {len(slow) - 1} more are as slow' if len(slow) > 1 else ''}."
    )
    bound = "It assumes that the slowest rank is as fast as the median rank."
    return Seen(evidence, most - median, bound, REMEDY)


RULE = Rule(
    id="straggler-rank",
    title="Some ranks are slow for the same bytes",
    says="in a job of `crowd` ranks or more, at most a quarter of the ranks take `straggler` times as long as the "
    "median rank for no more bytes, and neither a host nor a target explains their time",
    limits=("crowd", "straggler"),
    why="The run waits for its slowest rank.",
    read_more="`iolens table load_balance`; Lockwood et al., TOKIO, CUG 2018",
    check=check,
    gauges=("balance",),
    before=("small-writes", "small-reads", "sync-each-write", "shared-small-writes", "random-access"),
)
