"""The rule about lock files that many ranks or calls use."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file, most_first

REMEDY = """\
Let MPI order the ranks, or use locks of the file system:

  C        MPI_Exscan, or a token passed by MPI_Send and MPI_Recv
  C        flock(fd, LOCK_EX), fcntl(fd, F_OFD_SETLKW, &lock)
  HDF5     export HDF5_USE_FILE_LOCKING=FALSE   # one writer, or none"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of lock files in use."""
    table = by_file(job, "POSIX")
    if table is None:
        return None
    names = [job.names.get(key, "").rpartition("/")[2] for key in table["id"].tolist()]
    locks = np.array([name.endswith((".lock", ".lck", "~lock")) or name.startswith(".nfs") for name in names], bool)
    chosen = locks & (table["OPENS"] > 0) & ((table["ranks"] > 1) | (table["OPENS"] >= limits["few_syncs"]))
    if not chosen.any():
        return None
    ids = table["id"][most_first(table["OPENS"], chosen)]
    opens, ranks = float(table["OPENS"][chosen].sum()), float(table["ranks"][chosen].max())
    evidence = f"Up to {say.count(ranks, 'rank')} opened {say.files(job, ids)}, {say.count(opens, 'time')} in all."
    return Seen(evidence, None, "", REMEDY)


RULE = Rule(
    id="lock-files",
    title="Lock files are used",
    says="files with names of lock files are used by several ranks or opened often (`few_syncs`)",
    limits=("few_syncs",),
    why="A rank that waits for a lock file sleeps or polls; the log does not count this time as I/O. On network file "
    "systems lock files may fail.",
    read_more="man 2 open (O_EXCL on NFS); man 2 flock",
    check=check,
    note=True,
)
