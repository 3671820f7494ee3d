"""The rules about one rank that moves the bytes of all, for reading and for writing."""

from __future__ import annotations

from dataclasses import dataclass

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file
from iolens.metrics.files.writers import moved_by_rank
from iolens.metrics.job.spent import NONE, slowest_seconds


@dataclass(frozen=True)
class Direction:
    """The words of one direction, reading or writing: `moved` is the argument of `moved_by_rank`, `said` the verb in
    sentences, and the others are parts of counters' names.
    """

    moved: str
    said: str
    bytes: str
    collective: str
    time: str


READING = Direction("read", "read", "BYTES_READ", "COLL_READS", "READ")
WRITING = Direction("written", "wrote", "BYTES_WRITTEN", "COLL_WRITES", "WRITE")


def one_rank(
    job: Job, limits: Limits, way: Direction, remedy: str, layout: ProposedStripes | None = None
) -> Seen | None:
    """Returns the evidence that one rank moved nearly all bytes; None if no rank did, or if collective calls chose the
    rank to move the bytes of others.
    """
    moved = moved_by_rank(job, way.moved)
    if moved is None or job.nprocs < limits["few_ranks"] or moved.sum() < max(1.0, limits["much_bytes"]):
        return None
    rank, share, collective = int(moved.argmax()), float(moved.max() / moved.sum()), by_file(job, "MPI-IO")
    if share < limits["one_rank_share"] or (collective is not None and collective[way.collective].any()):
        return None
    spent = NONE
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is not None:
            spent += slowest_seconds(job, name, table["id"][table[way.bytes] > 0], (way.time,))
    evidence = (
        f"Rank {rank} {way.said} {say.percent(share)} of {say.size(float(moved.sum()))} for "
        f"{say.count(job.nprocs, 'rank')}, in {say.seconds(spent)} ({say.rate(float(moved.max()), spent)})."
    )
    bound = f"It assumes that {job.nprocs} ranks share the {way.time.lower()} time of one rank equally."
    return Seen(evidence, spent * (1 - 1 / job.nprocs), bound, remedy, layout=layout)
