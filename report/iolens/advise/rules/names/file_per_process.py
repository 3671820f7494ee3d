"""The rule about one file per process, with very many processes."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Write one file for each group of ranks, for example for each node:

  C        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                               MPI_INFO_NULL, &node);
           MPI_File_open(node, path_of_node, mode, info, &file);
           MPI_File_write_at_all(file, offset, buffer, count, type, &status);
  Python   node = comm.Split_type(MPI.COMM_TYPE_SHARED)
  ADIOS2   engine parameter NumAggregators
  HDF5     subfiling: H5Pset_fapl_subfiling

Until then use a folder for each thousand files.
@stripes:Give each file one stripe:
@stripes:
@lustre:  lfs setstripe -c 1 FOLDER
@stripes:  iolens stripe set -c 1 FOLDER"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for jobs with at least as many files as ranks, each of them written by a single rank."""
    table = by_file(job, "POSIX")
    if table is None or job.nprocs < limits["many_ranks"]:
        return None
    chosen = (table["ranks"] == 1) & (table["BYTES_WRITTEN"] > 0)
    if int(chosen.sum()) < job.nprocs:
        return None
    ids = table["id"][chosen]
    spent = slowest_seconds(job, "POSIX", ids, ("META",))
    evidence = (
        f"{say.count(job.nprocs, 'rank')} wrote {say.count(len(ids), 'file')} of their own, "
        f"{say.size(float(table['BYTES_WRITTEN'][chosen].mean()))} each on average; open, close and stat took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    bound = "It assumes that metadata calls on these files take no time on the slowest rank."
    return Seen(evidence, spent, bound, REMEDY)


RULE = Rule(
    id="file-per-process",
    title="One file per process, with very many processes",
    says="there are many ranks, and at least as many files that only one rank writes",
    limits=("many_ranks",),
    why="One metadata server creates all these files, and every later step has to open them all.",
    read_more="https://docs.nersc.gov/performance/io/; H5Pset_fapl_subfiling",
    check=check,
    bounds="metadata",
)
