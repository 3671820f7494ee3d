"""The rule about receives that are posted after their message has arrived."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job

_RECEIVES = ("MPI_Recv", "MPI_Irecv", "MPI_Sendrecv", "MPI_Sendrecv_replace")
_TIMED = (*_RECEIVES, "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome")

REMEDY = """\
Post receives before the computation that they can overlap with:

  C        MPI_Irecv(halo, n, MPI_DOUBLE, neighbour, tag, comm, &request);
           compute_inner_cells();
           MPI_Wait(&request, MPI_STATUS_IGNORE);
  Fortran  call MPI_Irecv(halo, n, MPI_DOUBLE_PRECISION, neighbour, tag, &
                comm, request)
           call compute_inner_cells()
           call MPI_Wait(request, MPI_STATUS_IGNORE)
  Python   request = comm.Irecv(halo, source=neighbour)
           compute_inner_cells(); request.Wait()"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the share of receives that were posted after their message had arrived, and the time in receives and
    waits.
    """
    if "mpi_calls" not in job.private:
        return None
    from iolens.metrics.processor.mpi.calls import mpi_rows, of_functions, slowest

    rows = mpi_rows(job)
    if rows is None or "late_receives" not in rows:
        return None
    receives = of_functions(rows, _RECEIVES)
    late, calls = float(receives["late_receives"].sum()), float(receives["calls"].sum())
    if late < max(1.0, limits["few_calls"]) or late < limits["late_share"] * calls:
        return None
    spent = slowest(of_functions(rows, _TIMED))
    evidence = (
        f"{say.percent(late / calls)} of {say.count(calls, 'receive')} began after their message had arrived; "
        f"receives and "
        f"waits took {say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that receives and waits take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="late-receives",
    title="Receives are posted late",
    says="`late_share` of the receives or more began after their message had arrived, and these are many (needs "
    "`IOLENS_LATE_RECEIVES=1` with `--trace mpi`)",
    limits=("late_share", "few_calls"),
    why="An unexpected message is copied twice, and a large message is not sent until its receive is posted.",
    read_more="MPI 4.1, section 3.5; man MPI_Irecv",
    check=check,
    beside_io=True,
)
