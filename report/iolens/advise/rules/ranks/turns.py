"""The rule about ranks that write one after the other."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.job.ranks import write_turns

REMEDY = """\
Let ranks write at the same time: compute the offsets first, and remove the
loop over ranks with MPI_Barrier, or the MPI_Recv before and MPI_Send after
writing.

  C        MPI_Offset offset = 0;                   /* stays so on rank 0 */
           MPI_Exscan(&mine, &offset, 1, MPI_OFFSET, MPI_SUM, comm);
           MPI_File_write_at_all(file, offset, buffer, count, type, &status);
  Fortran  offset = 0
           call MPI_Exscan(mine, offset, 1, MPI_OFFSET, MPI_SUM, comm)
           call MPI_File_write_at_all(file, offset, buffer, n, type, status)
  Python   offset = comm.exscan(array.nbytes) or 0
           file.Write_at_all(offset, array)"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for jobs in which at least half of the ranks write, one after the other or group after group."""
    turns = write_turns(job)
    if turns is None or turns.ranks < max(limits["few_ranks"], job.nprocs / 2):
        return None
    who = say.count(turns.ranks, "rank")
    how = f"in {turns.groups} groups, one group" if turns.groups < turns.ranks else "one"
    evidence = (
        f"{who} wrote {how} after the other, {say.seconds(turns.longest)} at most each and "
        f"{say.seconds(turns.covered)} together: the run waits for all of them."
    )
    bound = "It assumes that all write at the same time, for as long as the longest of them."
    return Seen(evidence, turns.covered - turns.longest, bound, REMEDY)


RULE = Rule(
    id="turns",
    title="Ranks write one after the other",
    says="at least half of the ranks write, each for most of its time of writing, and these times hardly overlap, "
    "or groups of ranks begin together, each group when the previous one ends",
    limits=("few_ranks",),
    why="The I/O time of the run is then the sum of the times of all ranks.",
    read_more="MPI 4.1, sections 6.11.2 (exscan) and 14.4.2",
    check=check,
    gauges=("balance",),
    bounds="few writers",
    before=("sync-each-write", "small-writes", "stripe-size", "shared-stripes"),
)
