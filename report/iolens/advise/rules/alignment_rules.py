"""The rules about stripe sizes, and transfers that begin inside stripes or blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import ProposedStripes, Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.stripes.ost import apart, stripe_writers
from iolens.metrics.files.stripes.striping import block_size, reached_stripes, striped_files
from iolens.metrics.files.use import among, by_file, joined_files, most_first
from iolens.metrics.files.writers import writer_counts
from iolens.metrics.job.about import one_client
from iolens.metrics.job.spent import Spent, slowest_seconds


@dataclass(frozen=True)
class Unaligned:
    """Files with transfers that begin inside a stripe or block of `unit` bytes, those with most bytes first.

    Of the `calls` transfers, `unaligned` begin inside one. They took `spent` seconds on the slowest rank, of which
    alignment can save at most `seconds`; `derivation` explains this bound.
    """

    ids: np.ndarray
    unit: int
    calls: float
    unaligned: float
    spent: Spent
    seconds: Spent
    derivation: str


def seen(job: Job, found: Unaligned | None, remedy: str, who: str) -> Seen | None:
    """Returns the evidence of files with transfers that begin inside stripes, with the remedy for their unit; None if
    there is none. `who` names the ranks that took the time.
    """
    if found is None:
        return None
    evidence = (
        f"{say.percent(found.unaligned / found.calls)} of {say.count(found.calls, 'transfer')} of "
        f"{say.files(job, found.ids)} do not begin at a multiple of {say.size(found.unit)}; {who} took "
        f"{say.seconds(found.spent)} on the slowest rank."
    )
    filled = remedy.replace("{unit}", say.size(found.unit)).replace("{bytes}", str(found.unit))
    return Seen(evidence, found.seconds, found.derivation, filled)


def of_kind(job: Job, table: Records, hdf5: bool) -> np.ndarray:
    """Returns a mask of the files in `table` that HDF5 opened, or of all others."""
    files = job.records.get("H5F")
    known = np.zeros(len(table), bool) if files is None else among(table["id"], files["id"])
    return known if hdf5 else ~known


def stripe_size(job: Job, limits: Limits) -> Seen | None:
    """Looks for shared files with several stripes whose transfers are cut into at least four pieces, or half of whose
    stripes are empty.
    """
    table = striped_files(job)
    if table is None:
        return None
    table = table.beside({"calls": table["READS"] + table["WRITES"]})
    table = table.where((table["moved"] >= limits["much_bytes"]) & (table["stripes"] > 1) & (table["calls"] > 0))
    used = np.ceil(table["size"] / table["stripe_size"])
    large = table.where(2 * used <= table["stripes"])
    several = (table["ranks"] > 1) & (writer_counts(job, table, 2) > 1) & (2 * table["BYTES_WRITTEN"] >= table["moved"])
    small = table.where(several & (table["moved"] >= 4 * table["stripe_size"] * table["calls"]))
    if len(large):
        return _too_large(job, large)
    return _too_small(job, small) if len(small) else None


def _too_large(job: Job, files: Records) -> Seen:
    """Returns the evidence for stripes so large that the file ends before its last stripe begins."""
    files = files.where(most_first(files["moved"]))
    first = {name: files[name][0] for name in files.single}
    used, stripes = int(np.ceil(first["size"] / first["stripe_size"])), int(first["stripes"])
    unit = max(1 << 20, int(first["size"] / stripes) >> 20 << 20)
    count = reached_stripes(stripes, unit, float(first["size"]))
    files = files.where(files["size"] > (count - 1) * unit)
    spent = slowest_seconds(job, "POSIX", files["id"], ("READ", "WRITE"))
    evidence = (
        f"{say.files(job, files['id'][:1])}: {say.size(first['size'])} reach {used} of {stripes} stripes of "
        f"{say.size(first['stripe_size'])}{say.and_others(len(files) - 1)}; transfers took {say.seconds(spent)} on "
        f"the slowest rank."
    )
    share = float((np.ceil(files["size"] / files["stripe_size"]) / files["stripes"]).min())
    bound = (
        f"It assumes the same transfers to {count} targets instead of {used}, which saves 1 − {used}/{count} of "
        "their time."
    )
    layout = ProposedStripes(count, unit, tuple(files["id"].tolist()))
    return Seen(evidence, spent * (1 - share), bound, "{layout}", layout=layout)


def _too_small(job: Job, files: Records) -> Seen:
    """Returns the evidence for stripes so small that each transfer of each rank goes to many targets."""
    files = files.where(most_first(files["moved"]))
    first = {name: files[name][0] for name in files.single}
    each = first["moved"] / first["calls"]
    unit = max(1 << 20, 1 << int(np.log2(each)))
    count = reached_stripes(int(first["stripes"]), unit, float(first["size"]))
    files = files.where(files["size"] > (count - 1) * unit)
    spent = slowest_seconds(job, "POSIX", files["id"], ("READ", "WRITE"))
    evidence = (
        f"{say.files(job, files['id'][:1])}: transfers with a mean size of {say.size(each)} cross stripes of "
        f"{say.size(first['stripe_size'])}, {say.count(each / first['stripe_size'])} pieces each"
        f"{say.and_others(len(files) - 1)}; they took {say.seconds(spent)} on the slowest rank."
    )
    bound = "It assumes that these transfers take no time on the slowest rank."
    return Seen(evidence, spent, bound, "{layout}", layout=ProposedStripes(count, unit, tuple(files["id"].tolist())))


STRIPE_SIZE = Rule(
    id="stripe-size",
    title="The stripe size does not fit the transfers",
    says="a striped file with much data fills at most half of its stripes, or several ranks write it in transfers of "
    "four stripes or more",
    limits=("much_bytes",),
    why="With too large stripes targets stay idle; with too small stripes every rank contacts and locks every target.",
    read_more="https://wiki.lustre.org/Configuring_Lustre_File_Striping",
    check=stripe_size,
    exhibit="layouts",
    gauges=("stripes",),
    before=("shared-stripes",),
)


SHARED_STRIPES_REMEDY = """\
Give each rank, or each aggregator, its own stripes:
  - one contiguous part of a rank, as large as a stripe{layout}
  - or collective writes through ROMIO's Lustre driver, which binds
    stripes to aggregators; elsewhere: striping_unit and cb_nodes as hints,
    the stripe count a multiple of cb_nodes."""

_OWN = """:

@lustre:  lfs setstripe -c {ranks} -S SIZE_OF_A_RANKS_PART FOLDER
@other:  iolens stripe set -c {ranks} -S SIZE_OF_A_RANKS_PART FOLDER
"""


def shared_stripes(job: Job, limits: Limits) -> Seen | None:
    """Looks for files with several stripes in which at least two ranks wrote to each stripe."""
    table, posix = stripe_writers(job), by_file(job, "POSIX")
    if table is None or posix is None or one_client(job):
        return None
    table = joined_files(posix, table)
    much = table["bytes"] >= limits["much_bytes"]
    much &= table["BYTES_WRITTEN"] > limits["small_transfer"] * table["WRITES"]
    chosen = table.where(most_first(table["bytes"], (table["stripes"] > 1) & (table["fewest"] > 1) & much))
    if not len(chosen):
        return None
    spent = slowest_seconds(job, "POSIX", chosen["id"], ("WRITE",))
    stripes, fewest, ranks = (chosen[name][0] for name in ("stripes", "fewest", "ranks"))
    evidence = (
        f"Each of the {say.count(stripes)} stripes of {say.files(job, chosen['id'])} was written by "
        f"{say.count(fewest)} or more of {say.count(ranks, 'rank')}; writes took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    own = _OWN.replace("{ranks}", str(int(ranks))) if ranks <= limits["enough_stripes"] else ";"
    bound = "It assumes that these writes take no time on the slowest rank."
    return Seen(evidence, spent, bound, SHARED_STRIPES_REMEDY.replace("{layout}", own))


SHARED_STRIPES = Rule(
    id="shared-stripes",
    title="Several ranks write each stripe",
    says="two ranks or more wrote every stripe of a file with much data, in transfers that are not small",
    limits=("much_bytes", "small_transfer", "enough_stripes"),
    why="A stripe is one object with one set of locks, so its writers wait for each other.",
    read_more="https://wiki.lustre.org/Lustre_Tuning; W. Liao, A. Choudhary, SC08",
    check=shared_stripes,
    exhibit="stripe_ranks",
)


UNALIGNED_OWN_REMEDY = """\
Begin large transfers on a multiple of the stripe size ({unit}):

  C        a header of {bytes} bytes, or in a file of its own
  HDF5     H5Pset_alignment(access, 0, {bytes});
           H5Pset_meta_block_size(access, {bytes});
  netCDF   nc__enddef(file, 0, {bytes}, 0, {bytes});"""


def unaligned_own(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of files that a single rank uses and whose large transfers nearly all begin inside a
    stripe.
    """
    return seen(job, unaligned_own_files(job, limits, of_hdf5=False), UNALIGNED_OWN_REMEDY, "they")


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


UNALIGNED_OWN = Rule(
    id="unaligned-own",
    title="Every access begins inside a stripe",
    says="nearly all (`every_share`) large transfers on a striped file of one rank begin inside a stripe, so that "
    "each uses one more target",
    limits=("every_share", "much_bytes"),
    why="A transfer that begins inside a stripe uses one more target than a transfer that begins at the edge of a "
    "stripe.",
    read_more="man lfs-setstripe(1); H5Pset_alignment",
    check=unaligned_own,
    exhibit="alignment",
)


UNALIGNED_SHARED_REMEDY = """\
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


def unaligned_shared(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of several writers, without collective calls, whose large transfers mostly begin inside a
    block.
    """
    return seen(job, unaligned_shared_files(job, limits, of_hdf5=False), UNALIGNED_SHARED_REMEDY, "writes")


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


UNALIGNED_SHARED = Rule(
    id="unaligned-shared",
    title="Writes to a shared file begin inside its blocks",
    says="independent writes of several ranks to one file are not small, have at least three quarters of a block or "
    "stripe, and mostly begin inside a block or stripe",
    limits=("least_alignment", "unaligned_share", "small_transfer"),
    why="Two ranks that write into one block take its lock from each other, each time with a flush.",
    read_more="https://wiki.lustre.org/Lustre_Tuning; H5Pset_alignment",
    check=unaligned_shared,
    exhibit="alignment",
    before=("shared-stripes",),
)
