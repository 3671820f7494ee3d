"""The rule about very many tiny HDF5 datasets."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Put small values into one dataset:

  C        one dataset with one more dimension, or a compound type;
           attributes, or H5Pset_layout(create, H5D_COMPACT), for what is
           written once
           H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  Python   numpy.stack(values) into one dataset; pandas.to_hdf of one table"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of very many small datasets."""
    table = by_file(job, "H5D")
    if table is None:
        return None
    moved = table["BYTES_READ"] + table["BYTES_WRITTEN"]
    chosen = moved <= limits["small_transfer"]
    mostly = 2 * int(chosen.sum()) > len(table) and 2 * float(moved[chosen].sum()) > float(moved.sum())
    if int(chosen.sum()) < max(1.0, limits["many_files"] if mostly else limits["few_calls"]):
        return None
    ids = table["id"][chosen]
    files, spent = job.records.get("H5F"), slowest_seconds(job, "H5D", ids)
    if files is not None and "POSIX" in job.records:  # HDF5 may write data only when the file closes.
        spent = max(spent, slowest_seconds(job, "POSIX", files["id"]), key=lambda each: each.about)
    evidence = (
        f"{say.count(len(ids), 'dataset')} moved {say.size(float(moved[chosen].mean()))} each on average, in "
        f"{say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that calls on these datasets take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="hdf5-tiny-datasets",
    title="Very many tiny HDF5 datasets",
    says="`few_calls` datasets or more moved at most `small_transfer` each, or `many_files` with most of the bytes",
    limits=("few_calls", "many_files", "small_transfer"),
    why="Each dataset is an object with its own header, which is created, opened and closed.",
    read_more="https://docs.hdfgroup.org (compact storage, H5Pset_layout); h5py: low-level groups",
    check=check,
    bounds="metadata",
    gauges=("size",),
    before=("hdf5-metadata", "small-writes"),
)
