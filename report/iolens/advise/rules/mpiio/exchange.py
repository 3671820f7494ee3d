"""The rule about collective calls that take far longer than the file access in them."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.capacity import useful_aggregators
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import by_file, collective_calls, joined_files, most_first, under_mpiio
from iolens.metrics.files.writers import posix_users
from iolens.metrics.job.interfaces.mpiio import exchange_times
from iolens.metrics.job.spent import slowest_seconds

_BUFFER = "cb_buffer_size 67108864"


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files of scattered or small parts whose aggregators exchange longer than they access."""
    seen = dominated(job, limits, contiguous=False)
    return seen if seen or exchange_times(job) is not None else _beyond_posix(job, limits)


def dominated(job: Job, limits: Limits, contiguous: bool) -> Seen | None:
    """Looks for files whose aggregators exchange longer than they access, for ranks with large contiguous parts, or
    without such parts.
    """
    times, table = exchange_times(job), by_file(job, "MPI-IO")
    if times is None or table is None:
        return None
    times = joined_files(table, times)
    each = _part_of_a_call(times)
    whole = (times["VIEWS"] == 0) & (each >= limits["large_transfer"])
    chosen = (times["exchange"] > times["access"]) & (whole == contiguous) & (times["exchange"] > 0)
    if not chosen.any():
        return None
    rows = most_first(times["exchange"], chosen)
    ids, spent, access = times["id"][rows], *(float(times[name][rows].sum()) for name in ("exchange", "access"))
    evidence = (
        f"In collective calls on {say.files(job, ids)}, aggregators spent {say.seconds(spent)} exchanging data and "
        f"{say.seconds(access)} accessing the file ({say.size(float(each[rows[0]]))} per rank and call)."
    )
    if contiguous:
        return Seen(evidence, spent, _BOUND, INDEPENDENT, ("romio_cb_write disable", "romio_cb_read disable"))
    return Seen(evidence, spent, _BOUND, REMEDY, _more_aggregators(job, ids[:1]))


def _beyond_posix(job: Job, limits: Limits) -> Seen | None:
    """Looks, in a log without times of exchange, for collectively used files whose MPI-IO takes at least twice their
    POSIX time.
    """
    pair = under_mpiio(job)
    if pair is None:
        return None
    upper = pair[0]
    moved, below = (table["BYTES_READ"] + table["BYTES_WRITTEN"] for table in pair)
    single = upper["INDEP_READS"] + upper["INDEP_WRITES"] + upper["NB_READS"] + upper["NB_WRITES"]
    chosen = (upper["ranks"] > 1) & (single <= 0.1 * collective_calls(upper)) & (below >= moved) & (moved > 0)
    if not chosen.any():
        return None
    rows = most_first(moved, chosen)
    ids = upper["id"][rows]
    above, access = (slowest_seconds(job, name, ids, ("READ", "WRITE")) for name in ("MPI-IO", "POSIX"))
    if above.about < 2 * access.about:
        return None
    evidence = (
        f"Collective calls on {say.files(job, ids)} took {say.seconds(above)} on the slowest rank, POSIX below them "
        f"{say.seconds(access)}: the rest is exchange of data and waiting for other ranks "
        f"({say.size(float(_part_of_a_call(upper)[rows[0]]))} per rank and call)."
    )
    bound = "It assumes that exchange and waiting take no time: MPI-IO's time minus POSIX's, each on its slowest rank."
    return Seen(evidence, above - access, bound, REMEDY, _more_aggregators(job, ids[:1]))


def _part_of_a_call(table: Records) -> np.ndarray:
    """Returns, for each file, the average number of bytes that a rank passes to a collective call."""
    return np.asarray((table["BYTES_READ"] + table["BYTES_WRITTEN"]) / np.maximum(collective_calls(table), 1))


def _more_aggregators(job: Job, ids: np.ndarray) -> tuple[str, ...]:
    """Returns hints for a larger buffer and, if a file can use more aggregators than it has, for more aggregators."""
    useful = int(useful_aggregators(job, ids)[0])
    writing, reading = (posix_users(job, way).get(int(ids[0]), 0) for way in ("written", "read"))
    active = max(writing, reading)
    return (f"cb_nodes {useful}", "cb_config_list *:*", _BUFFER) if 0 < active < useful else (_BUFFER,)


_BOUND = (
    "Assumes that the exchange takes no time: mean time of the aggregators in collective calls, without waiting and "
    "POSIX."
)

REMEDY = """\
{hints}

Or exchange less: make fewer and larger calls (all variables of a step in
one), use a decomposition whose parts are contiguous in the file, or write a
file for each group of ranks (MPI_Comm_split). For arrays in blocks, put
rows together by MPI_Alltoallv once, and write them by MPI_File_write_at."""

INDEPENDENT = """\
Each rank's part is large and contiguous, so no exchange is needed.

  C        MPI_File_write_at(file, offset, buffer, count, type, &status);
  Fortran  call MPI_File_write_at(file, offset, buffer, n, type, status)
  Python   file.Write_at(offset, array)

or keep the collective calls, and switch collective buffering off for this
file.

{hints}"""

RULE = Rule(
    id="exchange",
    title="Collective calls take far longer than the file access in them",
    says="in collective calls on a file the aggregators exchange data for longer than they access the file, and the "
    "parts of ranks are not large and contiguous; in logs without these times, MPI-IO takes twice as long as "
    "POSIX below it",
    limits=("large_transfer",),
    why="Exchange between ranks, or waiting for late ranks, limits this part of the I/O. A faster file system shortens "
    "only the waits for the aggregator that is the slowest in its round.",
    read_more="https://github.com/pmodels/mpich/issues/7935 (arrays in blocks); ROMIO hint cb_nodes",
    check=check,
)
