"""The rules about datasets of HDF5 and variables of PnetCDF."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.rules.alignment_rules import seen, unaligned_own_files, unaligned_shared_files
from iolens.advise.shared_evidence import is_costly
from iolens.log import Job
from iolens.metrics.files.use import among, by_file, file_records, most_first
from iolens.metrics.job.interfaces.hdf5 import not_collective
from iolens.metrics.job.spent import NONE, slowest_seconds

HDF5_CHUNKS_REMEDY = """\
Chunk datasets in the shape of an access, or cache a row of chunks:

  shell    h5repack -l NAME:CHUNK=64x64x64 in.h5 out.h5
  C        H5Pset_chunk_cache(access, slots, bytes_of_a_row, 1.0);
  Python   h5py.File(path, rdcc_nbytes=256 << 20, rdcc_nslots=1000003)

Or access whole chunks, and each chunk only once."""


def hdf5_chunks(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of datasets whose chunks are far larger than the accesses to them."""
    table, files, posix = by_file(job, "H5D"), job.records.get("H5F"), by_file(job, "POSIX")
    if table is None or files is None or posix is None:
        return None
    records = job.records["H5D"]
    chunk = np.ones(len(records))
    for number in range(1, 6):
        chunk *= np.maximum(records[f"H5D_CHUNK_SIZE_D{number}"], 1)
    chunk *= np.maximum(records["H5D_DATATYPE_SIZE"], 1) * (records["H5D_CHUNK_SIZE_D1"] > 0)
    chunk = chunk[file_records(job, "H5D").order[file_records(job, "H5D").first]]
    calls, moved = table["READS"] + table["WRITES"], table["BYTES_READ"] + table["BYTES_WRITTEN"]
    below = posix.where(among(posix["id"], files["id"]))
    asked, through = float(moved.sum()), float((below["BYTES_READ"] + below["BYTES_WRITTEN"]).sum())
    # A column of a dataset whose chunks are rows asks for a little of each of many chunks.
    cut = (chunk * calls >= limits["chunk_factor"] * moved) | (through >= limits["chunk_factor"] * asked)
    chosen = (moved > 0) & (chunk > 0) & cut
    if not chosen.any() or through < limits["amplification"] * asked:
        return None
    spent = slowest_seconds(job, "POSIX", below["id"], ("READ", "WRITE"))
    if float(calls[chosen].sum()) < max(1.0, limits["few_calls"]) and not is_costly(job, limits, spent):
        return None
    each = float(moved[chosen].sum() / calls[chosen].sum())
    evidence = (
        f"{say.count(float(calls[chosen].sum()), 'access')} of {say.size(each)} on average to "
        f"{say.count(int(chosen.sum()), 'dataset')} in chunks of up to {say.size(float(chunk[chosen].max()))}: for "
        f"these {say.size(asked)} POSIX moved {say.size(through)} in {say.seconds(spent)} on the slowest rank."
    )
    bound = "The bound is the time of the bytes that the program did not request."
    return Seen(evidence, spent * (1 - asked / through), bound, HDF5_CHUNKS_REMEDY)


HDF5_CHUNKS = Rule(
    id="hdf5-chunks",
    title="HDF5 chunks do not fit the accesses",
    says="chunks hold at least `chunk_factor` times the bytes of a mean access to their dataset, or POSIX moved that "
    "many times the bytes requested from HDF5; accesses are many or costly, and POSIX moved `amplification` times "
    "these bytes",
    limits=("chunk_factor", "amplification", "few_calls", "worth_gain"),
    why="HDF5 moves whole chunks; a chunk that is not in the chunk cache is read again for each access to a part of "
    "it.",
    read_more="https://docs.hdfgroup.org (Chunking in HDF5); man h5repack",
    check=hdf5_chunks,
    exhibit="performance",
    before=("write-amplification", "small-reads", "read-again", "random-access"),
)


HDF5_FILL_VALUES_REMEDY = """\
Tell HDF5 not to write fill values into datasets that the program fills:

  C        H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
           H5Pset_alloc_time(create, H5D_ALLOC_TIME_INCR);   # not parallel
  Fortran  call h5pset_fill_time_f(create, H5D_FILL_TIME_NEVER_F, error)
  Python   file.create_dataset(name, shape, dtype, fill_time='never')
  netCDF   nc_set_fill(file, NC_NOFILL, &old);"""


def hdf5_fill_values(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(evidence, seconds, bound, HDF5_FILL_VALUES_REMEDY)


def _extent(job: Job) -> float:
    """Returns the bytes that all datasets have room for."""
    records, groups = job.records["H5D"], file_records(job, "H5D")
    first = groups.order[groups.first]
    return float(
        (np.maximum(records["H5D_DATASPACE_NPOINTS"], 0) * np.maximum(records["H5D_DATATYPE_SIZE"], 1))[first].sum()
    )


HDF5_FILL_VALUES = Rule(
    id="hdf5-fill-values",
    title="HDF5 writes fill values first",
    says="POSIX wrote more to HDF5 files than the bytes given for their datasets, by `fill_share` or more and at most "
    "by the datasets' size, and read little of it; the datasets are not small",
    limits=("fill_share", "small_transfer"),
    why="Space that is allocated early is filled with a value, and written a second time with the data.",
    read_more="https://docs.hdfgroup.org (H5Pset_fill_time, H5Pset_alloc_time); man nc_set_fill",
    check=hdf5_fill_values,
    exhibit="performance",
    before=("rewriting",),
)


HDF5_INDEPENDENT_REMEDY = """\
Use collective transfers, in which all ranks take part:

  C        transfer = H5Pcreate(H5P_DATASET_XFER);
           H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
           H5Dwrite(dataset, type, memory, part, transfer, buffer);
  Fortran  call h5pset_dxpl_mpio_f(transfer, H5FD_MPIO_COLLECTIVE_F, error)
  Python   with dataset.collective: dataset[part] = array
  netCDF   nc_var_par_access(file, variable, NC_COLLECTIVE);"""


def hdf5_independent(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of shared datasets with many calls, none of them collective."""
    table, files = by_file(job, "H5D"), job.records.get("H5F")
    if table is None or files is None or not (files["H5F_USE_MPIIO"] > 0).any():
        return None
    calls, moved = table["READS"] + table["WRITES"], table["BYTES_READ"] + table["BYTES_WRITTEN"]
    chosen = (table["ranks"] > 1) & (calls > 0) & (table["USE_MPIIO_COLLECTIVE"] == 0)
    chosen &= moved < limits["large_transfer"] * calls
    if float(calls[chosen].sum()) < max(1.0, limits["few_calls"]):
        return None
    ids, number = table["id"][most_first(calls, chosen)], float(calls[chosen].sum())
    spent = slowest_seconds(job, "H5D", ids, ("READ", "WRITE"))
    evidence = (
        f"{say.count(number, 'independent read and write')} of {say.count(len(ids), 'dataset')} by several ranks, "
        f"{say.size(float(moved[chosen].sum()) / number)} each on average, took {say.seconds(spent)} on the slowest "
        f"rank."
    )
    return Seen(
        evidence, spent, "It assumes that all of these calls take no time on the slowest rank.", HDF5_INDEPENDENT_REMEDY
    )


HDF5_INDEPENDENT = Rule(
    id="hdf5-independent",
    title="HDF5 datasets are accessed independently",
    says="several ranks access datasets in files opened through MPI-IO by many calls, none of them large or collective",
    limits=("few_calls", "large_transfer"),
    why="HDF5 through MPI-IO is independent unless the transfer property list requests collective calls.",
    read_more="https://docs.hdfgroup.org (Parallel HDF5, H5Pset_dxpl_mpio)",
    check=hdf5_independent,
    exhibit="operations",
    bounds="small transfers",
    gauges=("size",),
)


HDF5_METADATA_REMEDY = """\
Let one rank read metadata for all, and keep it in memory:

  C        H5Pset_all_coll_metadata_ops(access, 1);
           H5Pset_coll_metadata_write(access, 1);
           H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
           H5Pset_meta_block_size(access, 4 << 20);

Open a dataset once instead of in each step; write attributes on one rank."""


def hdf5_metadata(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that metadata calls take a large share of the time in shared datasets."""
    table = by_file(job, "H5D")
    if table is None:
        return None
    shared = table.where(table["ranks"] > 1)
    if float(shared["OPENS"].sum()) < max(1.0, limits["few_calls"]):
        return None
    meta, data = float(shared["F_META_TIME"].sum()), float((shared["F_READ_TIME"] + shared["F_WRITE_TIME"]).sum())
    if meta <= 0 or meta < limits["meta_share"] * (meta + data):
        return None
    spent = slowest_seconds(job, "H5D", shared["id"], ("META",))
    evidence = (
        f"{say.count(float(shared['OPENS'].sum()), 'open')} of {say.count(len(shared), 'dataset')} by several ranks: "
        f"metadata calls took {say.percent(meta / (meta + data))} of the time in these datasets, at most "
        f"{say.seconds(spent)} on the slowest rank."
    )
    return Seen(
        evidence, spent, "It assumes that these metadata calls take no time on the slowest rank.", HDF5_METADATA_REMEDY
    )


HDF5_METADATA = Rule(
    id="hdf5-metadata",
    title="HDF5 metadata calls of all ranks",
    says="opening, closing and flushing of datasets that several ranks use takes at least `meta_share` of the time in "
    "these datasets, and there are many opens",
    limits=("meta_share", "few_calls"),
    why="Each rank reads the same headers and B-trees of the file by itself, in small accesses.",
    read_more="https://docs.hdfgroup.org (H5Pset_all_coll_metadata_ops, H5Pset_coll_metadata_write)",
    check=hdf5_metadata,
    exhibit="operations",
    bounds="metadata",
)


_REMEDIES = {
    "conversion of types": """\
Create the dataset with the type of the data in memory: HDF5 converts any other.

  C        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, ...) where the memory is
           double; or H5Pset_selection_io(transfer, H5D_SELECTION_IO_MODE_ON)
           from HDF5 1.14.1 on
  Python   create_dataset(name, shape, dtype=array.dtype)""",
    "data transforms": """\
Apply the formula of H5Pset_data_transform in the program, before the write.""",
    "HDF5_MPI_OPT_TYPES=0": """\
  unset HDF5_MPI_OPT_TYPES""",
    "not a simple or scalar dataspace": """\
Give ranks without data an empty selection instead of a null dataspace:

  C        H5Sselect_none(file_space); H5Sselect_none(memory_space);""",
    "neither contiguous nor chunked": """\
Use a contiguous or chunked layout instead of a compact or external one:

  C        H5Pset_layout(creation, H5D_CONTIGUOUS);""",
    "filtered dataset": """\
Write filtered (compressed) datasets with HDF5 1.10.2 or later and an MPI of
version 3 or later, or without the filter.""",
    "each chunk by itself": """\
Let HDF5 join all chunks into one collective transfer:

  C        H5Pset_dxpl_mpio_chunk_opt(transfer, H5FD_MPIO_CHUNK_ONE_IO);""",
}
_OTHER = """\
Ask HDF5 on each rank, right after the transfer:

  C        H5Pget_mpio_no_collective_cause(transfer, &local, &global);"""


def hdf5_not_collective(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of the dataset in which independent transfers took longest, and their time."""
    found = not_collective(job)
    if not len(found):
        return None
    causes = list(dict.fromkeys(found["cause"].tolist()))
    dataset, members, cause, calls, causing, place = next(
        found.rows("dataset", "datasets", "cause", "calls", "causing", "place")
    )
    spent = float(found["seconds"].max())
    where = f", called in {place}" if place else ""
    evidence = (
        f"HDF5 carried out {say.count(calls, 'transfer')} of {say.members(dataset, members, 'dataset')} independently, "
        f"although the program requested collective transfers{where}. HDF5's reason: {cause}, on "
        f"{say.count(causing, 'rank')}. These transfers took {say.seconds(spent)} on the slowest rank."
    )
    remedy = "\n\n".join(_REMEDIES[each] for each in causes if each in _REMEDIES)
    return Seen(evidence, spent, "It assumes that these transfers take no time on the slowest rank.", remedy or _OTHER)


HDF5_NOT_COLLECTIVE = Rule(
    id="hdf5-not-collective",
    title="HDF5 did not make requested collective transfers",
    says="HDF5 carried out transfers independently, although the program requested collective transfers",
    limits=(),
    why="If one rank has a reason against a collective transfer, HDF5 makes it independent on all, without a message.",
    read_more="https://docs.hdfgroup.org (H5Pget_mpio_no_collective_cause)",
    check=hdf5_not_collective,
    exhibit="hdf5_not_collective",
    bounds="independent HDF5 transfers",
)


HDF5_TINY_DATASETS_REMEDY = """\
Put small values into one dataset:

  C        one dataset with one more dimension, or a compound type;
           attributes, or H5Pset_layout(create, H5D_COMPACT), for what is
           written once
           H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  Python   numpy.stack(values) into one dataset; pandas.to_hdf of one table"""


def hdf5_tiny_datasets(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(
        evidence,
        spent,
        "It assumes that calls on these datasets take no time on the slowest rank.",
        HDF5_TINY_DATASETS_REMEDY,
    )


HDF5_TINY_DATASETS = Rule(
    id="hdf5-tiny-datasets",
    title="Very many tiny HDF5 datasets",
    says="`few_calls` datasets or more moved at most `small_transfer` each, or `many_files` with most of the bytes",
    limits=("few_calls", "many_files", "small_transfer"),
    why="Each dataset is an object with its own header, which is created, opened and closed.",
    read_more="https://docs.hdfgroup.org (compact storage, H5Pset_layout); h5py: low-level groups",
    check=hdf5_tiny_datasets,
    exhibit="operations",
    bounds="metadata",
    gauges=("size",),
    before=("hdf5-metadata", "small-writes"),
)


HDF5_UNALIGNED_REMEDY = """\
Let HDF5 place each large object on a multiple of the stripe size:

  C        H5Pset_alignment(access, 65536, {bytes});
           H5Pset_meta_block_size(access, {bytes});
  Fortran  call h5pset_alignment_f(access, 65536_hsize_t, &
                {bytes}_hsize_t, error)
  Python   h5py.File(path, 'w', alignment_threshold=65536,
                     alignment_interval={bytes})"""


def hdf5_unaligned(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of HDF5 files whose large transfers mostly begin inside a stripe or block."""
    if "H5F" not in job.records:
        return None
    found = [
        each
        for files in (unaligned_shared_files, unaligned_own_files)
        if (each := files(job, limits, of_hdf5=True)) is not None
    ]
    if not found:
        return None
    ids = np.concatenate([each.ids for each in found])
    spent, seconds = (sum((getattr(each, name) for each in found), start=NONE) for name in ("spent", "seconds"))
    calls, unaligned = (float(sum(getattr(each, name) for each in found)) for name in ("calls", "unaligned"))
    both = replace(found[0], ids=ids, calls=calls, unaligned=unaligned, spent=spent, seconds=seconds)
    return seen(job, both, HDF5_UNALIGNED_REMEDY, "they")


HDF5_UNALIGNED = Rule(
    id="hdf5-unaligned",
    title="HDF5 objects begin inside stripes",
    says="HDF5 files meet the conditions of `unaligned-shared` or `unaligned-own`, which are then not reported for "
    "these files",
    limits=("least_alignment", "unaligned_share", "small_transfer", "every_share", "much_bytes"),
    why="HDF5 puts objects right behind each other and behind 2 KiB of header, unless an alignment is set.",
    read_more="https://docs.hdfgroup.org (H5Pset_alignment, H5Pset_meta_block_size)",
    check=hdf5_unaligned,
    exhibit="alignment",
    before=("shared-stripes",),
)


PNETCDF_INDEPENDENT_REMEDY = """\
Write collectively, or post requests and wait for all of them together:

  C        ncmpi_put_vara_double_all(file, variable, start, count, values);
           ncmpi_iput_vara_double(...); ncmpi_wait_all(file, n, requests,
                statuses);
  Fortran  nf90mpi_put_var_all(file, variable, values, start, count)"""


def pnetcdf_independent(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of shared variables with many independent calls."""
    table = by_file(job, "PNETCDF_VAR")
    if table is None:
        return None
    single, together = table["INDEP_READS"] + table["INDEP_WRITES"], table["COLL_READS"] + table["COLL_WRITES"]
    calls = single + together + table["NB_READS"] + table["NB_WRITES"]
    moved = table["BYTES_READ"] + table["BYTES_WRITTEN"]
    chosen = (table["ranks"] > 1) & (single > 0) & (single >= 0.9 * calls) & (moved < limits["large_transfer"] * calls)
    if float(single[chosen].sum()) < max(1.0, limits["few_calls"]):
        return None
    ids, number = table["id"][most_first(single, chosen)], float(single[chosen].sum())
    spent = slowest_seconds(job, "PNETCDF_VAR", ids, ("READ", "WRITE"))
    evidence = (
        f"{say.count(number, 'independent read and write')} of {say.count(len(ids), 'variable')} by several ranks, "
        f"{say.size(float(moved[chosen].sum() / calls[chosen].sum()))} each on average, took {say.seconds(spent)} on "
        f"the slowest rank."
    )
    return Seen(
        evidence,
        spent,
        "It assumes that all of these calls take no time on the slowest rank.",
        PNETCDF_INDEPENDENT_REMEDY,
    )


PNETCDF_INDEPENDENT = Rule(
    id="pnetcdf-independent",
    title="PnetCDF variables are accessed independently",
    says="several ranks access variables by many calls that are not large, and nine of ten are independent and "
    "blocking",
    limits=("few_calls", "large_transfer"),
    why="Only in collective calls can the library combine the parts of all ranks.",
    read_more="https://parallel-netcdf.github.io (collective and nonblocking interfaces)",
    check=pnetcdf_independent,
    exhibit="operations",
    bounds="small transfers",
    gauges=("size",),
)


PNETCDF_REDEFINE_REMEDY = """\
Define everything before the first data, or reserve space for the header:

  C        ncmpi__enddef(file, 1 << 20, 4, 0, 4);     /* 1 MiB of room */
  hints    nc_header_align_size 1048576

For attributes that come later, write values of a fixed length at the start."""


def pnetcdf_redefine(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence that POSIX moved far more bytes of redefined files than the program read and wrote in
    variables.
    """
    files, variables, posix = job.records.get("PNETCDF_FILE"), by_file(job, "PNETCDF_VAR"), by_file(job, "POSIX")
    if files is None or variables is None or posix is None:
        return None
    redefined = files["id"][files["PNETCDF_FILE_REDEFS"] > 0]
    below = posix.where(among(posix["id"], redefined))
    if not len(below):
        return None
    given = float((variables["BYTES_READ"] + variables["BYTES_WRITTEN"]).sum())
    moved = float((below["BYTES_READ"] + below["BYTES_WRITTEN"]).sum())
    if moved < limits["again"] * given or moved - given < limits["much_bytes"]:
        return None
    spent = slowest_seconds(job, "POSIX", below["id"], ("READ", "WRITE"))
    redefs = float(np.maximum(files["PNETCDF_FILE_REDEFS"], 0).sum())
    evidence = (
        f"{say.files(job, below['id'])}: {say.count(redefs, 'redefinition')}, and POSIX moved {say.size(moved)} for "
        f"{say.size(given)} of variables, in {say.seconds(spent)} on the slowest rank."
    )
    return Seen(
        evidence,
        spent * (1 - given / moved),
        "The bound is the time of the bytes moved in excess of the variables' bytes.",
        PNETCDF_REDEFINE_REMEDY,
    )


PNETCDF_REDEFINE = Rule(
    id="pnetcdf-redefine",
    title="ncmpi_enddef moves data",
    says="a PnetCDF file was redefined, and POSIX moved at least `again` times the bytes of its variables",
    limits=("again", "much_bytes"),
    why="If the header outgrows its space, ncmpi_enddef moves all variables behind it.",
    read_more="https://parallel-netcdf.github.io (ncmpi__enddef, nc_header_align_size)",
    check=pnetcdf_redefine,
    exhibit="performance",
    before=("write-amplification",),
)
