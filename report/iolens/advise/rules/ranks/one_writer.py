"""The rule about one rank that writes for all."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.capacity import wider_layout
from iolens.advise.shared.one_rank import WRITING, one_rank
from iolens.log import Job

REMEDY = """\
Let every rank write its own part of one file:

  C        MPI_File_open(MPI_COMM_WORLD, path,
                         MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);
           MPI_File_write_at_all(file, offset, buffer, count, type, &status);
  Fortran  call MPI_File_write_at_all(file, offset, buffer, count, type, &
                status)
  Python   from mpi4py import MPI
           file = MPI.File.Open(MPI.COMM_WORLD, path,
                                MPI.MODE_CREATE | MPI.MODE_WRONLY)
           file.Write_at_all(offset, array)"""

_MORE_TARGETS = "\n\nSeveral targets then receive the bytes.\n{layout}"


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the rank that wrote nearly all bytes, unless collective calls chose it."""
    layout = wider_layout(job, limits)
    return one_rank(job, limits, WRITING, f"{REMEDY}{_MORE_TARGETS}" if layout else REMEDY, layout)


RULE = Rule(
    id="one-writer",
    title="One rank writes for all",
    says="in a job of several ranks, one rank wrote nearly all bytes, without collective calls",
    limits=("few_ranks", "one_rank_share", "much_bytes"),
    why="The others wait for this rank, and a single client cannot use the full rate of a parallel file system.",
    read_more="MPI 4.1, chapter 14 (I/O); https://docs.nersc.gov/performance/io/lustre/",
    check=check,
    gauges=("balance", "stripes"),
    bounds="few writers",
    before=("uneven-targets",),
)
