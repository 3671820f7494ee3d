"""The rule about one rank that reads for all."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.one_rank import READING, one_rank
from iolens.log import Job

REMEDY = """\
Let every rank read its own part of the file:

  C        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, info, &file);
           MPI_File_read_at_all(file, offset, buffer, count, type, &status);
  Fortran  call MPI_File_read_at_all(file, offset, buffer, count, type, &
                status)
  Python   file = MPI.File.Open(MPI.COMM_WORLD, path, MPI.MODE_RDONLY)
           file.Read_at_all(offset, array)"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the rank that read nearly all bytes, unless collective calls chose it."""
    return one_rank(job, limits, READING, REMEDY)


RULE = Rule(
    id="one-reader",
    title="One rank reads for all",
    says="in a job of several ranks, one rank read nearly all bytes, without collective calls",
    limits=("few_ranks", "one_rank_share", "much_bytes"),
    why="The others wait for this rank, and a single client cannot use all targets.",
    read_more="MPI 4.1, chapter 14 (I/O)",
    check=check,
    gauges=("balance", "stripes"),
    bounds="few readers",
)
