"""The rule about collective transfers of HDF5 that the library carried out independently."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.job.interfaces.hdf5 import not_collective

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


def check(job: Job, limits: Limits) -> Seen | None:
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


RULE = Rule(
    id="hdf5-not-collective",
    title="HDF5 did not make requested collective transfers",
    says="HDF5 carried out transfers independently, although the program requested collective transfers",
    limits=(),
    why="If one rank has a reason against a collective transfer, HDF5 makes it independent on all, without a message.",
    read_more="https://docs.hdfgroup.org (H5Pget_mpio_no_collective_cause)",
    check=check,
    bounds="independent HDF5 transfers",
)
