"""The rule about accesses that go back and forth in a file."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.datasets import hdf5_chunks, hdf5_fill_values
from iolens.advise.shared.unaligned import of_kind
from iolens.log import Job
from iolens.metrics.files.use import without_mpiio
from iolens.metrics.job.spent import NONE, slowest_seconds

REMEDY = """\
Sort the accesses by offset, or read a whole range and select in memory:

  C        qsort(wanted, n, sizeof *wanted, by_offset);
           posix_fadvise(fd, begin, length, POSIX_FADV_WILLNEED);
  Fortran  read a slab into an array, and index the array
  Python   order = numpy.argsort(offsets)
           h5py: dataset[lowest:highest + 1][offsets - lowest]
  HDF5     chunk the dataset in the shape in which it is read:
           h5repack -l NAME:CHUNK=64x64x64 in.h5 out.h5"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for POSIX files with many small accesses, many of which go back to an offset below that of the previous
    access.
    """
    table = without_mpiio(job, "POSIX")
    if table is None:
        return None
    if hdf5_fill_values.check(job, limits) or hdf5_chunks.check(
        job, limits
    ):  # HDF5 accesses files out of order by itself when it writes fill values or chunks.
        table = table.where(of_kind(job, table, hdf5=False))
    said, spent = [], NONE
    for kind, counter in (("READ", "BYTES_READ"), ("WRITE", "BYTES_WRITTEN")):
        calls, size = table[f"{kind}S"], table[f"MAX_BYTE_{counter.removeprefix('BYTES_')}"] + 1
        back = calls - table[f"SEQ_{kind}S"] - table["ranks"]  # The first access of a rank has no previous one.
        chosen = (back > limits["random_share"] * calls) & (table[counter] < limits["large_transfer"] * calls)
        chosen &= size > limits["small_transfer"]  # A file that is not larger than this counts as a single place.
        if float(calls[chosen].sum()) < max(1.0, limits["few_calls"]):
            continue
        ids = table["id"][chosen]
        spent += slowest_seconds(job, "POSIX", ids, (kind,))
        total, moved = float(calls[chosen].sum()), float(table[counter][chosen].sum())
        said.append(
            f"{say.percent(float(back[chosen].sum()) / total)} of {say.count(total, kind.lower())} of "
            f"{say.files(job, ids)} go back in the file (mean size {say.size(moved / total)})"
        )
    if not said:
        return None
    evidence = f"{'; '.join(said)}; they took {say.seconds(spent)} on the slowest rank."
    return Seen(evidence, spent, "It assumes that these accesses take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="random-access",
    title="Accesses out of order",
    says="many transfers on files without MPI-IO begin at a lower offset than the transfer before, and are not large; "
    "not in HDF5 files for which `hdf5-fill-values` or `hdf5-chunks` is reported",
    limits=("random_share", "large_transfer", "few_calls"),
    why="Read-ahead and write-behind work forward only, and a disk has to move its head.",
    read_more="man posix_fadvise(2); https://docs.hdfgroup.org (chunking)",
    check=check,
    gauges=("size",),
    bounds="accesses out of order",
    before=("small-reads", "small-writes"),
)
