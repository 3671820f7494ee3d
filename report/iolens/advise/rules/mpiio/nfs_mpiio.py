"""The rule about MPI-IO on NFS."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.overview import file_mounts, paths
from iolens.metrics.files.use import by_file
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Write to the parallel file system, and copy the results that you keep:

  cd "${SCRATCH:-$WORK}" && srun ./app && cp RESULT "$HOME"/

Without one, use one writer or a file for each rank; or keep MPI-IO and let
one rank per node write (hints cb_nodes, romio_cb_write enable). NFS must be
mounted with actimeo=0 or noac for correct results."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of several ranks that MPI-IO used on a mount of type nfs."""
    table = by_file(job, "MPI-IO")
    if table is None:
        return None
    moved = table["BYTES_READ"] + table["BYTES_WRITTEN"]
    rows = np.flatnonzero((table["ranks"] > 1) & (moved > 0))
    ids = table["id"][rows]
    where = file_mounts(job, ids.tolist(), paths(job, ids))
    rows = rows[np.array([mount.kind.startswith("nfs") for mount in where], bool)]
    if not len(rows):
        return None
    ids, total = table["id"][rows], float(moved[rows].sum())
    spent = slowest_seconds(job, "MPI-IO", ids)
    evidence = (
        f"Several ranks moved {say.size(total)} through MPI-IO on {say.files(job, ids)}, which took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that MPI-IO takes no time on these files.", REMEDY)


RULE = Rule(
    id="nfs-mpiio",
    title="MPI-IO on NFS",
    says="several ranks used a file through MPI-IO on a mount of type nfs",
    limits=(),
    why="NFS has no coherent caches: MPI-IO locks and flushes at each access, and results may be wrong without noac.",
    read_more="ROMIO user's guide, section on NFS; man nfs(5)",
    check=check,
    always=True,
)
