"""The rule about independent accesses of PnetCDF variables that several ranks share."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file, most_first
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Write collectively, or post requests and wait for all of them together:

  C        ncmpi_put_vara_double_all(file, variable, start, count, values);
           ncmpi_iput_vara_double(...); ncmpi_wait_all(file, n, requests,
                statuses);
  Fortran  nf90mpi_put_var_all(file, variable, values, start, count)"""


def check(job: Job, limits: Limits) -> Seen | None:
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
    return Seen(evidence, spent, "It assumes that all of these calls take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="pnetcdf-independent",
    title="PnetCDF variables are accessed independently",
    says="several ranks access variables by many calls that are not large, and nine of ten are independent and "
    "blocking",
    limits=("few_calls", "large_transfer"),
    why="Only in collective calls can the library combine the parts of all ranks.",
    read_more="https://parallel-netcdf.github.io (collective and nonblocking interfaces)",
    check=check,
    bounds="small transfers",
    gauges=("size",),
)
