"""The rule about many small writes to files of single ranks."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.sizes import small
from iolens.log import Job

REMEDY = """\
Collect data in memory, and write blocks of 1 MiB and more:

  C        setvbuf(file, NULL, _IOFBF, 4 << 20);      /* after fopen */
  Fortran  open(..., access='stream', form='unformatted'); write arrays;
           gfortran: export GFORTRAN_UNFORMATTED_BUFFER_SIZE=4194304
  Python   open(path, 'wb', buffering=4 << 20); array.tofile(file)"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files that were written in small pieces, each file by a single rank."""
    return small(job, limits, "WRITE", lambda table: table["ranks"] == 1, REMEDY)


RULE = Rule(
    id="small-writes",
    title="Small writes",
    says="there are many POSIX writes to files of one rank each, or some that are costly, and most are small",
    limits=("small_transfer", "small_share", "few_calls", "some_calls", "worth_gain"),
    why="Each call costs a round trip to kernel or server, whatever its size.",
    read_more="man setvbuf(3); https://docs.nersc.gov/performance/io/",
    check=check,
    gauges=("size",),
    bounds="small transfers",
)
