"""MPI-IO on NFS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.advise import say
from iolens.advise.rule import Rule, Seen
from iolens.metrics.files import mounts_of, paths
from iolens.metrics.share import slowest_seconds
from iolens.metrics.use import by_file

if TYPE_CHECKING:
    from iolens.advise.limits import Limits
    from iolens.log import Job

REMEDY = """\
Write to the parallel file system, and copy what has to stay:

  cd "${SCRATCH:-$WORK}" && srun ./app && cp RESULT "$HOME"/

Where there is none: one writer, or a file for each rank; or keep MPI-IO, and
let one rank a node write: hints cb_nodes, romio_cb_write enable. For right
results NFS has to be mounted with actimeo=0 or noac."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Files of several ranks that MPI-IO used on a mount of type nfs."""
    table = by_file(job, "MPI-IO")
    if table is None or not job.mounts:
        return None
    kinds = {mount.point: mount.kind for mount in job.mounts}
    table = table[(table["ranks"] > 1) & (table["BYTES_READ"] + table["BYTES_WRITTEN"] > 0)]
    where = mounts_of(paths(job, table.index), kinds)
    ids = [int(key) for key, point in zip(table.index, where, strict=True) if kinds.get(point, "").startswith("nfs")]
    if not ids:
        return None
    spent = slowest_seconds(job, "MPI-IO", ids)
    moved = float(table.loc[ids, ["BYTES_READ", "BYTES_WRITTEN"]].to_numpy().sum())
    evidence = (
        f"{say.files(job, ids)} on NFS: {say.size(moved)} through MPI-IO by several ranks, in {say.seconds(spent)} of "
        "the slowest."
    )
    return Seen(evidence, spent, "All of MPI-IO on these files for nothing: its time on the slowest rank.", REMEDY)


RULE = Rule(
    id="nfs-mpiio",
    title="MPI-IO on NFS",
    says="a file of several ranks was used through MPI-IO on a mount of type nfs",
    limits=(),
    why="NFS has no coherent caches: MPI-IO locks and flushes at each access, and results may be wrong without noac.",
    read_more="ROMIO user's guide, section on NFS; man nfs(5)",
    check=check,
)
