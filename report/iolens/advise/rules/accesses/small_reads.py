"""The rule about many small reads."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.sizes import small
from iolens.log import Job
from iolens.metrics.files.libraries import of_libraries

REMEDY = """\
Read blocks of 1 MiB and more, and take the pieces from memory:

  C        setvbuf(file, NULL, _IOFBF, 4 << 20);      /* after fopen */
           posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  Fortran  open(..., access='stream', form='unformatted'); read whole arrays
  Python   data = numpy.fromfile(path, dtype); h5py: dataset[start:stop]"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files read in small pieces."""
    return small(job, limits, "READ", lambda table: ~of_libraries(job, table), REMEDY)


RULE = Rule(
    id="small-reads",
    title="Small reads",
    says="there are many POSIX reads of files without MPI-IO, other than libraries and modules, or some that are "
    "costly, and most are small",
    limits=("small_transfer", "small_share", "few_calls", "some_calls", "worth_gain"),
    why="Each call costs a round trip to kernel or server, whatever its size.",
    read_more="man posix_fadvise(2); https://docs.nersc.gov/performance/io/",
    check=check,
    gauges=("size",),
    bounds="small transfers",
)
