"""The rule about independent transfers of HDF5 datasets that several ranks share."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file, most_first
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Use collective transfers, in which all ranks take part:

  C        transfer = H5Pcreate(H5P_DATASET_XFER);
           H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
           H5Dwrite(dataset, type, memory, part, transfer, buffer);
  Fortran  call h5pset_dxpl_mpio_f(transfer, H5FD_MPIO_COLLECTIVE_F, error)
  Python   with dataset.collective: dataset[part] = array
  netCDF   nc_var_par_access(file, variable, NC_COLLECTIVE);"""


def check(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(evidence, spent, "It assumes that all of these calls take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="hdf5-independent",
    title="HDF5 datasets are accessed independently",
    says="several ranks access datasets in files opened through MPI-IO by many calls, none of them large or collective",
    limits=("few_calls", "large_transfer"),
    why="HDF5 through MPI-IO is independent unless the transfer property list requests collective calls.",
    read_more="https://docs.hdfgroup.org (Parallel HDF5, H5Pset_dxpl_mpio)",
    check=check,
    bounds="small transfers",
    gauges=("size",),
)
