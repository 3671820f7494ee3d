"""The rule about a rank that is far slower than the others in a file that all ranks use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.libraries import of_libraries
from iolens.metrics.files.use import among, by_file
from iolens.metrics.job.interfaces.layers import LAYERS
from iolens.metrics.job.share import KINDS, highest_records, seconds_in

REMEDY = """\
Find out how this rank differs from the others:

  iolens table shared_files LOG    # its bytes and time beside the others'
  iolens table load_balance LOG    # is it slow in other files, too?

If it writes headers or text for all, let it do so in one large call. If it
moves as much as the others, look at its node and at its targets."""


@dataclass(frozen=True)
class _Slow:
    """The shared records of a layer whose slowest rank is far from the others: the seconds of the slowest rank and the
    mean of the others, the bytes of the slowest rank and of all, and its number.
    """

    id: np.ndarray
    rank: np.ndarray
    slowest: np.ndarray
    mean: np.ndarray
    own: np.ndarray
    moved: np.ndarray


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that one rank took far longer in shared files than the mean of the others."""
    if job.nprocs < max(2.0, limits["few_ranks"]):
        return None
    found = [slow for name, chosen in highest_records(job) if len((slow := _slow(job, limits, name, chosen)).id)]
    if not found:
        return None
    most = max(found, key=lambda one: float((one.slowest - one.mean).max()))
    at = int((most.slowest - most.mean).argmax())
    bytes_said = (
        f", and moved {say.size(float(most.own[at]))} of {say.size(float(most.moved[at]))}" if most.moved[at] else ""
    )
    evidence = (
        f"Rank {int(most.rank[at])} took {say.seconds(float(most.slowest[at]))} in "
        f"{say.files(job, [int(most.id[at])])}, {float(most.slowest[at] / most.mean[at]):.1f} times the mean of the "
        f"{say.count(job.nprocs - 1, 'other rank')}{bytes_said}."
    )
    total = sum(float((one.slowest - one.mean)[one.rank == most.rank[at]].sum()) for one in found)
    bound = "It assumes that this rank is as fast as the mean of the others in each file in which it is the slowest."
    return Seen(evidence, total, bound, REMEDY)


def _slow(job: Job, limits: Limits, name: str, chosen: np.ndarray) -> _Slow:
    """Returns the shared records of a layer in which one rank is far slower than the others. Files with collective
    calls, and records whose slowest rank moved nearly all bytes, are left out.
    """
    records, prefix = job.records[name], LAYERS[name].prefix
    spent = sum((seconds_in(job, name, kind, waits=False) for kind in KINDS), start=np.zeros(len(records)))
    rank = records.get(f"{prefix}_SLOWEST_RANK", np.full(len(records), -1))
    slowest = np.minimum(spent, records.get(f"{prefix}_F_SLOWEST_RANK_TIME", spent * 0))
    own = np.maximum(records.get(f"{prefix}_SLOWEST_RANK_BYTES", spent * 0), 0)
    moved = sum(np.maximum(records[f"{prefix}_BYTES_{kind}"], 0) for kind in ("READ", "WRITTEN"))
    mean = (spent - slowest) / (job.nprocs - 1)
    far = (mean > 0) & (slowest >= max(1.0, limits["far_rank"]) * mean)
    far &= chosen & (records["rank"] < 0) & (rank >= 0) & ((own < limits["one_rank_share"] * moved) | (moved == 0))
    upper = by_file(job, "MPI-IO") if name == "MPI-IO" else None
    if upper is not None:
        far &= ~among(records["id"], upper["id"][upper["COLL_READS"] + upper["COLL_WRITES"] > 0])
    far[far] = ~of_libraries(job, records.where(far))
    return _Slow(records["id"][far], rank[far], slowest[far], mean[far], own[far], np.asarray(moved)[far])


RULE = Rule(
    id="slow-rank-of-file",
    title="One rank is far slower in a shared file",
    says="the slowest rank of a file of at least `few_ranks` ranks takes `far_rank` times the mean of the others, is "
    "no aggregator, and does not move nearly all bytes",
    limits=("few_ranks", "far_rank", "one_rank_share"),
    why="All other ranks wait for this rank at the next barrier or collective call.",
    read_more="`iolens table shared_files`; Darshan's counters SLOWEST_RANK and F_SLOWEST_RANK_TIME",
    check=check,
    gauges=("balance",),
)
