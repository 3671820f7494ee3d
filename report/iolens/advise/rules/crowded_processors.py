"""Ranks that run on the same processors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.advise import say
from iolens.advise.rule import Rule, Seen
from iolens.metrics.grouping import ordered

if TYPE_CHECKING:
    from iolens.advise.limits import Limits
    from iolens.log import Job

REMEDY = """\
Give each rank processors of its own, and look at what came of it
(iolens table rank_places LOG):

  Open MPI  mpirun --map-by core --bind-to core --report-bindings ...
            with threads: --map-by slot:PE=$OMP_NUM_THREADS
  MPICH     mpiexec -bind-to core ...
  Slurm     srun --ntasks-per-node=N --cpus-per-task=C --cpu-bind=cores ...

or start as many ranks on a node as it has processors."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the nodes whose ranks share processors, and how many ranks there are for each processor."""
    if "rank_places" not in job.private:
        return None
    from iolens.metrics.processor.rank_places import CROWDED, OVERLAPS, rank_places

    places = rank_places(job)
    if places is None:
        return None
    bad = places.where(np.isin(places["warning"], [CROWDED, OVERLAPS]))
    if not len(bad):
        return None
    crowded = bad.where(bad["warning"] == CROWDED)
    worst = ordered(crowded if len(crowded) else bad, "shared_with")
    *_, (rank, host, cpus, others, processors) = worst.rows("rank", "host", "cpus", "shared_with", "cpu_count")
    together = others + 1
    evidence = (
        f"{say.count(len(bad), 'rank')} of {len(places):,} may run on processors that others use, too: rank "
        f"{rank} on {host} has {say.count(processors, 'processor')} ({cpus}), on some "
        f"of which {say.count(together, 'rank')} may run."
    )
    if not len(crowded) or processors >= together:
        return Seen(evidence, None, "How long ranks waited for a processor is not recorded.", REMEDY)
    bound = (
        f"{together:,} ranks took turns on {say.count(processors, 'processor')} all the time; each on its own they "
        f"need {processors:,} / {together:,} of the run."
    )
    return Seen(evidence, job.run_time * (1 - processors / together), bound, REMEDY)


RULE = Rule(
    id="crowded-processors",
    title="Ranks share processors",
    says="a node has more ranks than they may use processors, or ranks whose processors overlap (needs "
    "`iolens run --trace mpi`)",
    limits=(),
    why="They take turns, and all others wait for them in MPI; a rank that polls for messages takes the turn of one "
    "that computes.",
    read_more="man mpirun (mapping and binding); man srun (--cpu-bind)",
    check=check,
    beside_io=True,
)
