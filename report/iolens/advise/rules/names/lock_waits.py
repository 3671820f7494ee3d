"""The rule about time that ranks spend in calls that lock files."""

from __future__ import annotations

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.locks import file_locks, rank_lock_seconds
from iolens.metrics.grouping import ordered
from iolens.metrics.why.answers import bound_of
from iolens.metrics.why.what_if import LOCKS_FREE

_HINTS = ("romio_ds_write disable", "romio_cb_write enable")

_MPIIO = """\
ROMIO locks the file around each change of data sieving and of atomic mode:

  C        MPI_File_write_at_all instead of MPI_File_write_at
           MPI_File_set_atomicity(fh, 0)

{hints}"""

_HDF5 = """\
HDF5 locks each file that it opens; if at most one process writes:

  export HDF5_USE_FILE_LOCKING=FALSE"""

_OTHER = """\
Take a lock around many small changes instead of each, let one rank write for
all (MPI_Gather), or give each rank a file of its own."""


def _remedy(job: Job) -> str:
    """Returns the remedy, which depends on the library that opened the files."""
    known = [text for module, text in (("MPI-IO", _MPIIO), ("H5F", _HDF5)) if module in job.records]
    return "\n\n".join(known or [_OTHER])


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the file that cost most time in locks, and that time."""
    files, spent = file_locks(job), float(rank_lock_seconds(job).max())
    unended = int(files["unended"].sum()) if len(files) else 0
    if not len(files) or (spent <= 0 and not unended):
        return None
    path, number, ranks, locks, refused, waits, longest = next(
        files.rows("path", "files", "ranks", "locks", "refused", "waits", "longest")
    )
    tried = f", {say.count(refused, 'attempt')} to lock it failed at once" if refused else ""
    evidence = (
        f"The slowest rank spent {say.seconds(spent)} in calls that lock files. {say.members(path, number)} cost "
        f"most: {say.count(ranks, 'rank')} took {say.count(locks, 'lock')}{tried}; {say.count(waits, 'call')} took "
        f"more than 1 ms, the longest {say.seconds(longest)}."
    )
    if unended:
        path, number, unended = next(ordered(files, "-unended").rows("path", "files", "unended"))
        evidence += (
            f" When the program was killed, {say.count(unended, 'call')} waited for a lock of "
            f"{say.members(path, number)}; how long is not known."
        )
    hints = _HINTS if "MPI-IO" in job.records else ()
    bound = "It assumes that locks take no time on the slowest rank."
    replayed = bound_of(job, LOCKS_FREE) or 0.0
    if replayed > spent:
        bound = "It assumes that locks take no time on any rank, by a replay of the job's calls."
    return Seen(evidence, None if unended else max(spent, replayed), "" if unended else bound, _remedy(job), hints)


RULE = Rule(
    id="lock-waits",
    title="Ranks wait for file locks",
    says="the slowest rank spent time in fcntl, flock or lockf, or was killed while it waited there",
    limits=(),
    why="A lock that another process holds makes the caller wait; a parallel file system asks a server for each lock, "
    "also when it is free.",
    read_more="man 2 fcntl_locking; man 2 flock",
    check=check,
    beside_io=True,
    asleep=True,
)
