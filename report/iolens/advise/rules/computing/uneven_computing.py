"""The rule about ranks that compute longer than the others, which wait for them."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.why.answers import bound_of
from iolens.metrics.why.what_if import BALANCED

REMEDY = """\
Find the ranks, and their functions (iolens run --sample):

  iolens table load_balance LOG
  iolens table load_balance LOG --by group,function,pe

then give each rank the same amount of work: parts of equal cost instead of
equal size (METIS or Zoltan with weights), tasks handed out on demand, or
fewer ranks with threads that share the work."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the rank that computed longest, compared with the mean; for the mean, time that may have been computing
    counts as computing.
    """
    if not {"mpi_calls", "samples"} & set(job.private):
        return None
    from iolens.metrics.processor.sampled.parts import COMPUTE, MPI_PARTS, UNKNOWN
    from iolens.metrics.processor.time import in_parts, rank_time

    times = rank_time(job)
    if times is None or len(times) < 2:
        return None
    most = float(times[COMPUTE].max())
    mean = float(np.minimum(most, times[COMPUTE] + times[UNKNOWN]).mean())
    if not most or most - mean < limits["imbalance"] * most:
        return None
    longest = int(times["rank"][times[COMPUTE].argmax()])
    inside = float(in_parts(times, MPI_PARTS).mean())
    evidence = (
        f"Rank {longest} computed for {say.seconds(most)}, {say.count(len(times), 'rank')} for "
        f"{say.seconds(mean)} on average (load balance {mean / most:.2f}); ranks spent {say.seconds(inside)} on "
        f"average in MPI."
    )
    gain, left = bound_of(job, BALANCED), "by a replay of the job's calls"
    if gain is None:
        gain, left = most - mean, "the time of the longest rank beyond the mean"
    return Seen(evidence, gain, f"It assumes that all ranks compute as long as the mean: {left}.", REMEDY)


RULE = Rule(
    id="uneven-computing",
    title="Ranks compute unequally",
    says="the rank that computes longest computes longer than the mean by `imbalance` of its time (needs `iolens run "
    "--trace mpi` or `--sample`)",
    limits=("imbalance",),
    why="The others wait for this rank in their next MPI call.",
    read_more="POP: load balance, https://pop-coe.eu/node/69",
    check=check,
    beside_io=True,
)
