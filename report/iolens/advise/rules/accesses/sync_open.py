"""The rule about files that are opened so that each write waits for the storage."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import among, by_file, most_first
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Open without O_SYNC and O_DSYNC, and force data out once per step:

  C        int fd = open(path, O_CREAT | O_WRONLY, 0644);
           for (...) write(fd, ...);  fsync(fd);       /* one fsync a step */
  Python   os.open(path, os.O_CREAT | os.O_WRONLY); os.fsync(fd) at the end
  dd       conv=fsync instead of oflag=sync or oflag=dsync
  mount    check that the file system is not mounted with the option sync"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of files that were opened with O_SYNC or O_DSYNC and written by some calls or more."""
    table, extra = by_file(job, "POSIX"), job.tables.get("posix_extra", Records({}))
    if table is None or "sync_opens" not in extra:
        return None
    opened = np.unique(extra["file"][extra["sync_opens"] > 0])
    chosen = among(table["id"], opened) & (table["WRITES"] >= limits["some_calls"])
    if not chosen.any():
        return None
    rows = most_first(table["WRITES"], chosen)
    ids, calls = table["id"][rows], float(table["WRITES"][rows].sum())
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    evidence = (
        f"{say.count(calls, 'write')} of {say.size(float(table['BYTES_WRITTEN'][rows].sum()) / calls)} on average to "
        f"{say.files(job, ids)}, opened with O_SYNC or O_DSYNC: each waits for the storage; they took "
        f"{say.seconds(spent)} on the slowest rank."
    )
    return Seen(evidence, spent, "It assumes that these writes take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="sync-open",
    title="Each write waits for the storage",
    says="files that were opened with O_SYNC or O_DSYNC are written by `some_calls` or more (logs of iolens have these "
    "flags)",
    limits=("some_calls",),
    why="The call returns when the storage has the bytes, so that the system cannot gather writes in the background.",
    read_more="man 2 open (O_SYNC, O_DSYNC)",
    check=check,
    gauges=("size",),
    bounds="syncs",
    before=("small-writes", "shared-small-writes", "sync-each-write", "random-access", "one-place", "rewriting"),
)
