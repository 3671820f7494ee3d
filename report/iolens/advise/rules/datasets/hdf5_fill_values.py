"""The rule about fill values that HDF5 writes into datasets before the program's data."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import among, by_file, file_records
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Tell HDF5 not to write fill values into datasets that the program fills:

  C        H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
           H5Pset_alloc_time(create, H5D_ALLOC_TIME_INCR);   # not parallel
  Fortran  call h5pset_fill_time_f(create, H5D_FILL_TIME_NEVER_F, error)
  Python   file.create_dataset(name, shape, dtype, fill_time='never')
  netCDF   nc_set_fill(file, NC_NOFILL, &old);"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that POSIX wrote fill values besides the data: many more bytes than HDF5 was given, but not
    more than all datasets have room for. If HDF5 changes parts of chunks, POSIX writes more as well, but reads as much.
    """
    datasets, files, posix = by_file(job, "H5D"), job.records.get("H5F"), by_file(job, "POSIX")
    if datasets is None or files is None or posix is None:
        return None
    below = posix.where(among(posix["id"], files["id"]) & (posix["BYTES_WRITTEN"] > 0))
    given, written = float(datasets["BYTES_WRITTEN"].sum()), float(below["BYTES_WRITTEN"].sum())
    more, datasets_written = written - given, int((datasets["BYTES_WRITTEN"] > 0).sum())
    if given < limits["small_transfer"] * max(1, datasets_written) or more < limits["fill_share"] * given:
        return None
    if more > 1.1 * _extent(job) or 2 * float(below["BYTES_READ"].sum()) > more:
        return None
    spent = slowest_seconds(job, "POSIX", below["id"], ("WRITE",))
    evidence = (
        f"HDF5 was given {say.size(given)} for {say.count(datasets_written, 'dataset')}, and POSIX wrote "
        f"{say.size(more)} more into {say.files(job, below['id'])} without reading it; all writes took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    creating = slowest_seconds(job, "H5D", datasets["id"], ("META",)).within(spent.about)
    seconds = max(spent * (more / written), creating, key=lambda each: each.about)
    bound = (
        "The bound is the time of the bytes that the program did not give, or the time of creating the datasets "
        "if it is longer."
    )
    return Seen(evidence, seconds, bound, REMEDY)


def _extent(job: Job) -> float:
    """Returns the bytes that all datasets have room for."""
    records, groups = job.records["H5D"], file_records(job, "H5D")
    first = groups.order[groups.first]
    return float(
        (np.maximum(records["H5D_DATASPACE_NPOINTS"], 0) * np.maximum(records["H5D_DATATYPE_SIZE"], 1))[first].sum()
    )


RULE = Rule(
    id="hdf5-fill-values",
    title="HDF5 writes fill values first",
    says="POSIX wrote more to HDF5 files than the bytes given for their datasets, by `fill_share` or more and at most "
    "by the datasets' size, and read little of it; the datasets are not small",
    limits=("fill_share", "small_transfer"),
    why="Space that is allocated early is filled with a value, and written a second time with the data.",
    read_more="https://docs.hdfgroup.org (H5Pset_fill_time, H5Pset_alloc_time); man nc_set_fill",
    check=check,
    before=("rewriting",),
)
