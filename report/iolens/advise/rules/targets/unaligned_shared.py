"""The rule about writes of several ranks to one file that do not keep to its blocks or stripes."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.unaligned import Unaligned, of_kind, seen
from iolens.log import Job
from iolens.metrics.files.stripes.ost import apart
from iolens.metrics.files.stripes.striping import block_size
from iolens.metrics.files.use import among, by_file, most_first
from iolens.metrics.files.writers import writer_counts
from iolens.metrics.job.about import one_client
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Let each rank's part begin on a multiple of {unit}:

  HDF5     H5Pset_alignment(access, 0, {bytes});
           h5py.File(path, 'w', driver='mpio', comm=comm,
                     alignment_interval={bytes}, alignment_threshold=0)
  PnetCDF  hints: nc_var_align_size {bytes}
  netCDF   nc__enddef(file, 0, {bytes}, 0, {bytes});
  C        offset = (offset + {bytes} - 1) / {bytes} * {bytes};
@stripes:
@stripes:or make a stripe as large as a rank's part:
@stripes:
@lustre:  lfs setstripe -S SIZE_OF_A_RANKS_PART FOLDER
@stripes:  iolens stripe set -c COUNT -S SIZE_OF_A_RANKS_PART FOLDER"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of several writers, without collective calls, whose large transfers mostly begin inside a
    block.
    """
    return seen(job, unaligned_shared_files(job, limits, of_hdf5=False), REMEDY, "writes")


def unaligned_shared_files(job: Job, limits: Limits, of_hdf5: bool) -> Unaligned | None:
    """Returns the files of several independent writers whose large transfers mostly begin inside a block; None if there
    is none.
    """
    table, upper = by_file(job, "POSIX"), by_file(job, "MPI-IO")
    if table is None or one_client(job):
        return None
    collective = [] if upper is None else upper["id"][upper["COLL_WRITES"] + upper["SPLIT_WRITES"] > 0]
    calls, units = table["READS"] + table["WRITES"], block_size(job, table)
    chosen = (
        (table["ranks"] > 1)
        & ~among(table["id"], collective)
        & (writer_counts(job, table, 2) > 1)
        & (units >= limits["least_alignment"])
        & (table["WRITES"] > 0)
        & (table["BYTES_WRITTEN"] > limits["small_transfer"] * table["WRITES"])
        & (table["BYTES_WRITTEN"] >= 0.75 * units * table["WRITES"])
        & ~among(table["id"], apart(job))
        & (table["FILE_NOT_ALIGNED"] >= limits["unaligned_share"] * calls)
        & of_kind(job, table, of_hdf5)
    )
    if not chosen.any():
        return None
    rows = most_first(table["BYTES_WRITTEN"], chosen)
    ids = table["id"][rows]
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    return Unaligned(
        ids,
        int(units[rows[0]]),
        float(calls[rows].sum()),
        float(table["FILE_NOT_ALIGNED"][rows].sum()),
        spent,
        spent,
        "It assumes that these writes take no time on the slowest rank.",
    )


RULE = Rule(
    id="unaligned-shared",
    title="Writes to a shared file begin inside its blocks",
    says="independent writes of several ranks to one file are not small, have at least three quarters of a block or "
    "stripe, and mostly begin inside a block or stripe",
    limits=("least_alignment", "unaligned_share", "small_transfer"),
    why="Two ranks that write into one block take its lock from each other, each time with a flush.",
    read_more="https://wiki.lustre.org/Lustre_Tuning; H5Pset_alignment",
    check=check,
    before=("shared-stripes",),
)
