"""The rule about chunks of HDF5 datasets that are far larger than the accesses."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.counts import is_costly
from iolens.log import Job
from iolens.metrics.files.use import among, by_file, file_records
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Chunk datasets in the shape of an access, or cache a row of chunks:

  shell    h5repack -l NAME:CHUNK=64x64x64 in.h5 out.h5
  C        H5Pset_chunk_cache(access, slots, bytes_of_a_row, 1.0);
  Python   h5py.File(path, rdcc_nbytes=256 << 20, rdcc_nslots=1000003)

Or access whole chunks, and each chunk only once."""


def check(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(evidence, spent * (1 - asked / through), bound, REMEDY)


RULE = Rule(
    id="hdf5-chunks",
    title="HDF5 chunks do not fit the accesses",
    says="chunks hold at least `chunk_factor` times the bytes of a mean access to their dataset, or POSIX moved that "
    "many times the bytes requested from HDF5; accesses are many or costly, and POSIX moved `amplification` times "
    "these bytes",
    limits=("chunk_factor", "amplification", "few_calls", "worth_gain"),
    why="HDF5 moves whole chunks; a chunk that is not in the chunk cache is read again for each access to a part of "
    "it.",
    read_more="https://docs.hdfgroup.org (Chunking in HDF5); man h5repack",
    check=check,
    before=("write-amplification", "small-reads", "read-again", "random-access"),
)
