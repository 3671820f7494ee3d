"""The rule about more bytes written to files than the program gave to its library."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.datasets import hdf5_fill_values
from iolens.advise.rules.mpiio.data_sieving import sieved_files
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import among, by_file, most_first, under_mpiio
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
HDF5 and netCDF-4 write fill values first, and write a whole chunk each time
a part of it changes:

  C        H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
           nc_set_fill(file, NC_NOFILL, &old);
           H5Pset_chunk_cache(access, slots, bytes_of_a_row_of_chunks, 1.0);
  Python   dataset = file.create_dataset(name, shape, dtype, chunks=(...),
                                         fill_time='never')
  MPI-IO   hint romio_ds_write disable
@lustre:           hint romio_lustre_ds_in_coll disable

Write whole chunks, and each chunk only once."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Compares the bytes that POSIX wrote with the bytes given to MPI-IO in files without data sieving. If no file has
    many more, compares them with the bytes given to HDF5, over all of its files.
    """
    pair = under_mpiio(job)
    if pair is not None:
        upper, lower = pair
        more = lower["BYTES_WRITTEN"] >= limits["amplification"] * upper["BYTES_WRITTEN"]
        chosen = more & ~sieved_files(upper, lower, limits) & (upper["BYTES_WRITTEN"] > 0)
        if chosen.any():
            rows = most_first(lower["BYTES_WRITTEN"], chosen)
            return _said(job, lower.where(rows), "MPI-IO", float(upper["BYTES_WRITTEN"][rows].sum()))
    return _of_hdf5(job, limits)


def _of_hdf5(job: Job, limits: Limits) -> Seen | None:
    """Compares the bytes that the program gave HDF5 for datasets with the bytes that POSIX wrote to HDF5's files."""
    if hdf5_fill_values.check(job, limits) is not None:
        return None
    datasets, files, posix = by_file(job, "H5D"), job.records.get("H5F"), by_file(job, "POSIX")
    if datasets is None or files is None or posix is None:
        return None
    posix = posix.where(among(posix["id"], files["id"]) & (posix["BYTES_WRITTEN"] > 0))
    given, written = float(datasets["BYTES_WRITTEN"].sum()), float(posix["BYTES_WRITTEN"].sum())
    if given <= 0 or written < limits["amplification"] * given:
        return None
    return _said(job, posix, "HDF5", given)


def _said(job: Job, files: Records, layer: str, given: float) -> Seen:
    """Returns the evidence for files to which POSIX wrote more bytes than `layer` was given, with the time of the
    additional bytes.
    """
    written = float(files["BYTES_WRITTEN"].sum())
    spent = slowest_seconds(job, "POSIX", files["id"], ("WRITE",))
    evidence = (
        f"{layer} was given {say.size(given)} for {say.files(job, files['id'])}, and POSIX wrote {say.size(written)}, "
        f"{written / given:.1f} times as much, in {say.seconds(spent)} on the slowest rank."
    )
    return Seen(
        evidence,
        spent * (1 - given / written),
        "The bound is the time of the bytes that the program did not give.",
        REMEDY,
    )


RULE = Rule(
    id="write-amplification",
    title="More bytes are written than the program gave",
    says="POSIX wrote at least `amplification` times the bytes that the program gave to MPI-IO, in a file without data "
    "sieving; or to HDF5's datasets, unless `hdf5-fill-values` is reported",
    limits=("amplification", "sieving_share", "few_calls"),
    why="The storage receives fill values, or the same bytes again.",
    read_more="https://docs.hdfgroup.org (chunking, fill values); man nc_set_fill",
    check=check,
)
