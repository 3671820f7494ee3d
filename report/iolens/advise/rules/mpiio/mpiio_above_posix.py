"""The rule about MPI-IO calls that take far longer than the POSIX calls below them."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import collective_calls, under_mpiio
from iolens.metrics.job.spent import NONE, slowest_seconds

_WAYS = {"READ": "BYTES_READ", "WRITE": "BYTES_WRITTEN"}
"""For each way of moving bytes, the counter of its bytes."""

REMEDY = """\
Check these settings of the MPI library:

  C        MPI_File_set_atomicity(file, 0);      /* atomic mode locks */
           MPI_Type_contiguous(...)              /* rather than scattered */
  ROMIO    export ROMIO_PRINT_HINTS=1            # which driver, which hints
  shared   MPI_File_write_at in place of MPI_File_write_shared: the shared
           pointer is a lock in another file"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that independent MPI-IO calls take far longer than the POSIX calls below them."""
    pair = under_mpiio(job)
    if pair is None:
        return None
    upper, lower = pair
    single = upper["INDEP_READS"] + upper["INDEP_WRITES"] + upper["NB_READS"] + upper["NB_WRITES"]
    apart = (single > 0) & (collective_calls(upper) <= 0.1 * single)
    far = {way: apart & _far_above(upper, lower, way, counter, limits) for way, counter in _WAYS.items()}
    if not any(mask.any() for mask in far.values()):
        return None
    spent, access, ids = NONE, NONE, upper["id"][np.logical_or.reduce([*far.values()])]
    for way, mask in far.items():
        above, below = (slowest_seconds(job, name, upper["id"][mask], (way,)) for name in ("MPI-IO", "POSIX"))
        spent, access = spent + above, access + below
    kinds = " and ".join(f"{way.lower()}s" for way, mask in far.items() if mask.any())
    evidence = (
        f"Independent MPI-IO {kinds} of {say.files(job, ids)} took {say.seconds(spent.within(job.run_time))} on the "
        f"slowest rank, the POSIX {kinds} below them {say.seconds(access)}."
    )
    spent = spent.within(job.run_time)
    return Seen(evidence, spent - access, "The bound is MPI-IO's time minus POSIX's, each on its slowest rank.", REMEDY)


def _far_above(upper: Records, lower: Records, way: str, counter: str, limits: Limits) -> np.ndarray:
    """Returns a mask of the files whose reads or writes took far longer in MPI-IO than in POSIX, which moved their
    bytes. Each way is judged by itself, because POSIX may have read nothing of a file that another process wrote. A
    file of which POSIX read more than the program asked for was written by data sieving, whose reads belong to writes.
    """
    time = f"F_{way}_TIME"
    is_complete = (upper[counter] > 0) & (lower[counter] >= 0.9 * upper[counter])
    is_complete &= lower["BYTES_READ"] <= upper["BYTES_READ"]
    return np.asarray(is_complete & (lower[time] > 0) & (upper[time] >= limits["above_posix"] * lower[time]))


RULE = Rule(
    id="mpiio-above-posix",
    title="MPI-IO takes far longer than POSIX below it",
    says="independent MPI-IO reads or writes take at least `above_posix` times as long as the POSIX calls below them, "
    "for files whose bytes POSIX recorded",
    limits=("above_posix",),
    why="The difference is locks, packing of scattered data, or waiting in the MPI library, not the transfers "
    "themselves.",
    read_more="ROMIO user's guide (data types, file locks, atomic mode); `iolens report`, page Striping and MPI-IO",
    check=check,
)
