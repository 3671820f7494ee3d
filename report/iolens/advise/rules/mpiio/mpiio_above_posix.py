"""The rule about MPI-IO calls that take far longer than the POSIX calls below them."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import most_first, under_mpiio
from iolens.metrics.job.spent import slowest_seconds

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
    upper = pair[0]
    moved, below = (table["BYTES_READ"] + table["BYTES_WRITTEN"] for table in pair)
    single = upper["INDEP_READS"] + upper["INDEP_WRITES"] + upper["NB_READS"] + upper["NB_WRITES"]
    together = upper["COLL_READS"] + upper["COLL_WRITES"] + upper["SPLIT_READS"] + upper["SPLIT_WRITES"]
    above, beneath = (table["F_READ_TIME"] + table["F_WRITE_TIME"] for table in pair)
    chosen = (single > 0) & (together <= 0.1 * single) & (moved > 0) & (below >= 0.9 * moved)
    chosen &= (above >= limits["above_posix"] * beneath) & (beneath > 0)
    if not chosen.any():
        return None
    ids = upper["id"][most_first(above - beneath, chosen)]
    spent, access = (slowest_seconds(job, name, ids, ("READ", "WRITE")) for name in ("MPI-IO", "POSIX"))
    evidence = (
        f"Independent MPI-IO calls on {say.files(job, ids)} took {say.seconds(spent)} on the slowest rank, POSIX below "
        f"them {say.seconds(access)}."
    )
    return Seen(evidence, spent - access, "The bound is MPI-IO's time minus POSIX's, each on its slowest rank.", REMEDY)


RULE = Rule(
    id="mpiio-above-posix",
    title="MPI-IO takes far longer than POSIX below it",
    says="independent MPI-IO calls take at least `above_posix` times as long as the POSIX calls below them, for files "
    "whose bytes POSIX recorded",
    limits=("above_posix",),
    why="The difference is locks, packing of scattered data, or waiting in the MPI library, not the transfers "
    "themselves.",
    read_more="ROMIO user's guide (data types, file locks, atomic mode); `iolens report`, page Striping and MPI-IO",
    check=check,
)
