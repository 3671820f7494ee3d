"""The rule about data that is flushed after every few writes."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import among, by_file, most_first
from iolens.metrics.job.spent import NONE, Spent, of_ranks, slowest_seconds

_SYNCS = {
    "POSIX": (("FSYNCS", "FDSYNCS"), ("WRITES",), "fsync"),
    "MPI-IO": (("SYNCS",), ("INDEP_WRITES", "COLL_WRITES", "NB_WRITES", "SPLIT_WRITES"), "MPI_File_sync"),
    "STDIO": (("FLUSHES",), ("WRITES",), "fflush"),
}
"""For each layer, the counters of its calls that flush data, the counters of its writes, and the name of the call."""

_SOME = 5
"""Minimum number of syncs per rank on a file; only from then on are its syncs judged by their time."""

_SUM = "It assumes that these writes and syncs take no time on the slowest rank; the log has only their sum."
_SYNCS_ALONE = "It assumes that these syncs take no time on the slowest rank."

REMEDY = """\
Force data out once per step instead of once per write:

  C        for (...) write(fd, ...);  fsync(fd);       /* one fsync a step */
           remove O_SYNC and O_DSYNC from open();  fflush(file) at the end
  Fortran  one FLUSH (unit) a step
  Python   os.fsync(file.fileno()) after the loop; no print(..., flush=True)"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence for the layer whose flushing calls, or writes and flushing calls, took most time."""
    best, longest = None, 0.0
    for name, (syncs, writes, call) in _SYNCS.items():
        table = by_file(job, name)
        if table is None:
            continue
        forced, written = (np.sum([table[name] for name in names], axis=0) for names in (syncs, writes))
        used = (forced > 0) & (written > 0)
        dense = used & (forced >= limits["sync_share"] * written) & (forced >= limits["few_syncs"] * table["ranks"])
        timed = used & (forced >= limits["timed_syncs"] * written) & (forced >= _SOME * table["ranks"])
        spent = slowest_seconds(job, name, table["id"][dense], ("WRITE",))
        waited = _sync_seconds(job, table["id"][timed]) if name == "POSIX" else NONE
        what, chosen, bound = "writes and syncs", dense, _SUM
        if waited.about > spent.about:
            what, chosen, bound, spent = "syncs", timed, _SYNCS_ALONE, waited
        if spent.about <= longest:
            continue
        longest = spent.about
        rows = most_first(forced, chosen)
        evidence = (
            f"{say.count(float(forced[rows].sum()))} calls of {call} for "
            f"{say.count(float(written[rows].sum()), 'write')} to {say.files(job, table['id'][rows])}; {what} took "
            f"{say.seconds(spent)} on the slowest rank."
        )
        best = Seen(evidence, spent, bound, REMEDY)
    return best


def _sync_seconds(job: Job, ids: np.ndarray) -> Spent:
    """Returns the seconds that the slowest rank spent in fsync and fdatasync of these files; none if the log has only
    their sum with the time of writes.
    """
    table = job.tables.get("posix_extra", Records({}))
    if "sync_seconds" not in table:
        return NONE
    rows = table.where(among(table["file"], ids) & (table["rank"] >= 0))
    return of_ranks(job, np.bincount(rows["rank"].astype(np.int64), rows["sync_seconds"], 1))


RULE = Rule(
    id="sync-each-write",
    title="Data is forced out after every few writes",
    says="fsync, MPI_File_sync or fflush is called nearly as often as write on a file, and often by each rank; or "
    "fsync is called for `timed_syncs` of the writes or more, and the log has its time",
    limits=("sync_share", "few_syncs", "timed_syncs"),
    why="Each sync waits for the storage, and prevents the system from gathering writes in the background.",
    read_more="man fsync(2)",
    check=check,
    gauges=("size",),
    bounds="syncs",
    before=("small-writes", "shared-small-writes"),
)
