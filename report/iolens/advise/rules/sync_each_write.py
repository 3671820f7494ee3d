"""Data forced out after nearly every write."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file, most_first
from iolens.metrics.job.share import slowest_seconds

_SYNCS = {
    "POSIX": (("FSYNCS", "FDSYNCS"), ("WRITES",), "fsync"),
    "MPI-IO": (("SYNCS",), ("INDEP_WRITES", "COLL_WRITES", "NB_WRITES", "SPLIT_WRITES"), "MPI_File_sync"),
    "STDIO": (("FLUSHES",), ("WRITES",), "fflush"),
}
"""For each layer, the counters of its calls that flush data, the counters of its writes, and the name of the call."""

REMEDY = """\
Force data out once per step instead of once per write:

  C        for (...) write(fd, ...);  fsync(fd);       /* one fsync a step */
           remove O_SYNC and O_DSYNC from open();  fflush(file) at the end
  Fortran  one FLUSH (unit) a step
  Python   os.fsync(file.fileno()) after the loop; no print(..., flush=True)"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the layer in which forcing data out cost most."""
    best: Seen | None = None
    for name, (syncs, writes, call) in _SYNCS.items():
        table = by_file(job, name)
        if table is None:
            continue
        forced, written = (np.sum([table[name] for name in names], axis=0) for names in (syncs, writes))
        chosen = (forced >= limits["sync_share"] * written) & (forced >= limits["few_syncs"] * table["ranks"])
        chosen &= (forced > 0) & (written > 0)
        if not chosen.any():
            continue
        rows = most_first(forced, chosen)
        spent = slowest_seconds(job, name, table["id"][rows], ("WRITE",))
        calls, wrote = float(forced[rows].sum()), float(written[rows].sum())
        evidence = (
            f"{say.count(calls)} calls of {call} for {say.count(wrote, 'write')} to {say.files(job, table['id'][rows])}"
            f"; writes and syncs took {say.seconds(spent)} on the slowest rank."
        )
        if best is None or spent > (best.seconds or 0.0):
            bound = "It assumes that these writes and syncs take no time on the slowest rank; a log has their sum."
            best = Seen(evidence, spent, bound, REMEDY)
    return best


RULE = Rule(
    id="sync-each-write",
    title="Data is forced out after nearly every write",
    says="fsync, MPI_File_sync or fflush is called nearly as often as write on a file, and often by each rank",
    limits=("sync_share", "few_syncs"),
    why="Each sync waits for the storage, and prevents the system from gathering writes in the background.",
    read_more="man fsync(2)",
    check=check,
    gauges=("size",),
    bounds="small transfers",
    before=("small-writes", "shared-small-writes"),
)
