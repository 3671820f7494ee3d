"""The rule about ranks that run on the same processors."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.processor.sampled.parts import COMPUTE
from iolens.metrics.why.answers import cores_bound

REMEDY = """\
Give each rank its own processors, and check the result with
iolens table rank_places LOG:

  Open MPI  mpirun --map-by core --bind-to core --report-bindings ...
            with threads: --map-by slot:PE=$OMP_NUM_THREADS
  MPICH     mpiexec -bind-to core ...
  Slurm     srun --ntasks-per-node=N --cpus-per-task=C --cpu-bind=cores ...

or start as many ranks on a node as it has processors."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the rank that waited longest for a processor, among ranks that share their processors with others."""
    if "rank_places" not in job.private:
        return None
    from iolens.metrics.processor.mpi.rank_places import CROWDED, OVERLAPS, rank_places
    from iolens.metrics.processor.sampled.largest import core_waits
    from iolens.metrics.processor.time import rank_time

    places, each = rank_places(job), rank_time(job)
    waits = None if each is None else core_waits(job, each)
    if places is None or each is None or waits is None:
        return None
    bad = places.where(np.isin(places["warning"], [CROWDED, OVERLAPS]))
    shares = np.isin(each["rank"], bad["rank"])
    waits = np.where(shares, waits, 0.0)
    longest = int(each["rank"][waits.argmax()])
    most = float(waits.max(initial=0.0))
    if most < limits["core_wait"] * job.run_time or not most:
        return None
    ((host, cpus, others, processors),) = bad.where(bad["rank"] == longest).rows(
        "host", "cpus", "shared_with", "cpu_count"
    )
    evidence = (
        f"Rank {longest} on {host} was ready to run and had no processor for {say.seconds(most)} of "
        f"{say.seconds(job.run_time)}, {say.count(len(bad), 'rank')} of {len(places):,} for "
        f"{say.seconds(float(waits[shares].mean()))} on average. Rank {longest} may use "
        f"{say.count(processors, 'processor')} ({cpus}), on some of which {say.count(others + 1, 'rank')} may run."
    )
    computed = float(each[COMPUTE].max())
    gain, whose = cores_bound(job), "on the job's critical path"
    if gain is None:
        gain = min(float(waits.sum()), job.run_time - computed)
        whose = f"on any rank ({say.seconds(float(waits.sum()))} together)"
    stays = f"; the run still takes as long as the rank that computes longest, {say.seconds(computed)}"
    bound = f"It assumes that no waiting for processors remains {whose}{stays if computed else ''}."
    return Seen(evidence, gain, bound, REMEDY)


RULE = Rule(
    id="crowded-processors",
    title="Ranks share processors",
    says="a rank that shares processors with others was ready to run but had none for `core_wait` of the run, mostly "
    "outside MPI and I/O; or all ranks waited for processors at once (needs `iolens run --trace mpi`)",
    limits=("core_wait",),
    why="Ranks on one processor take turns, and all others wait for them in MPI; a rank that polls for messages takes "
    "the turn of a rank that computes.",
    read_more="man mpirun (mapping and binding); man srun (--cpu-bind)",
    check=check,
    beside_io=True,
)
