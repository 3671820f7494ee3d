"""The rule about files of single ranks whose large transfers nearly all begin inside a stripe."""

from __future__ import annotations

from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.unaligned import Unaligned, of_kind, seen
from iolens.log import Job
from iolens.metrics.files.stripes.striping import striped_files
from iolens.metrics.files.use import most_first
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Begin large transfers on a multiple of the stripe size ({unit}):

  C        a header of {bytes} bytes, or in a file of its own
  HDF5     H5Pset_alignment(access, 0, {bytes});
           H5Pset_meta_block_size(access, {bytes});
  netCDF   nc__enddef(file, 0, {bytes}, 0, {bytes});"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of files that a single rank uses and whose large transfers nearly all begin inside a
    stripe.
    """
    return seen(job, unaligned_own_files(job, limits, of_hdf5=False), REMEDY, "they")


def unaligned_own_files(job: Job, limits: Limits, of_hdf5: bool) -> Unaligned | None:
    """Returns the striped files of single ranks whose large transfers nearly all begin inside a stripe; None if there
    is none.
    """
    table = striped_files(job)
    if table is None:
        return None
    calls, unit = table["READS"] + table["WRITES"], table["stripe_size"]
    chosen = (table["ranks"] == 1) & (table["stripes"] > 1) & (table["moved"] >= limits["much_bytes"]) & (calls > 1)
    chosen &= (table["moved"] >= 0.75 * unit * calls) & (table["FILE_NOT_ALIGNED"] >= limits["every_share"] * calls)
    chosen &= of_kind(job, table, of_hdf5)
    if not chosen.any():
        return None
    rows = most_first(table["moved"], chosen)
    ids = table["id"][rows]
    spent = slowest_seconds(job, "POSIX", ids, ("READ", "WRITE"))
    pieces = float((table["moved"][rows] / calls[rows] / unit[rows]).min())
    return Unaligned(
        ids,
        int(unit[rows[0]]),
        float(calls[rows].sum()),
        float(table["FILE_NOT_ALIGNED"][rows].sum()),
        spent,
        spent * (1 / (1 + max(1.0, pieces))),
        "It assumes that each transfer uses one target less, which saves that target's share of the time.",
    )


RULE = Rule(
    id="unaligned-own",
    title="Every access begins inside a stripe",
    says="nearly all (`every_share`) large transfers on a striped file of one rank begin inside a stripe, so that "
    "each uses one more target",
    limits=("every_share", "much_bytes"),
    why="A transfer that begins inside a stripe uses one more target than a transfer that begins at the edge of a "
    "stripe.",
    read_more="man lfs-setstripe(1); H5Pset_alignment",
    check=check,
)
