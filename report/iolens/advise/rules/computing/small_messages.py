"""The rule about very many very small messages."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job

SENDS = ("MPI_Send", "MPI_Isend", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Issend", "MPI_Sendrecv", "MPI_Start")
TIMED = (*SENDS, "MPI_Recv", "MPI_Irecv", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome")

REMEDY = """\
Combine the data for a rank into one message:

  C        MPI_Pack_size / MPI_Pack into one buffer, then one MPI_Send; or
           MPI_Type_create_struct over all fields; or
           MPI_Neighbor_alltoallv on a graph communicator
  Fortran  buffer(1:n) = pack of all fields; call MPI_Send(buffer, n, ...)
  Python   comm.Send(numpy.concatenate(fields), dest)   # not comm.send each"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns point-to-point messages below 256 bytes among all, and the time in sends, receives and waits."""
    if "mpi_calls" not in job.private:
        return None
    from iolens.metrics.processor.mpi.calls import mpi_rows, of_functions, slowest

    rows = mpi_rows(job)
    if rows is None:
        return None
    sends = of_functions(rows, SENDS)
    few, messages = float(sends["size_0"].sum() + sends["size_1"].sum()), float(sends["messages"].sum())
    if few < max(1.0, limits["many_messages"]) or few < limits["small_share"] * messages:
        return None
    spent = slowest(of_functions(rows, TIMED))
    evidence = (
        f"{say.percent(few / messages)} of {say.count(messages, 'message')} are below 256 bytes; sends, receives and "
        f"waits took {say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that sends, receives and waits take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="small-messages",
    title="Very many small messages",
    says="`small_share` or more of the point-to-point messages are below 256 bytes, and these are `many_messages` or "
    "more (needs `iolens run --trace mpi`)",
    limits=("small_share", "many_messages"),
    why="Each message costs its latency, whatever its size.",
    read_more="MPI 4.1, sections 4.2 (packing) and 8.6 (neighbourhood collectives)",
    check=check,
    beside_io=True,
)
