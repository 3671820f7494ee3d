"""The rule about collective calls whose bytes nevertheless reach the file system in small pieces."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.use import most_first, small_calls, under_mpiio
from iolens.metrics.files.writers import posix_users
from iolens.metrics.job.spent import NONE, slowest_seconds

_REMEDY = """\
{hints}

Pieces that lie apart cannot be combined. Make a rank's part contiguous in
the file (chunks of HDF5 as large as a part; H5Pset_alignment only where a
part fills the unit), or write all variables of a step in one call."""

_HINTS = ("romio_cb_write enable", "romio_cb_read enable", "cb_buffer_size 16777216")


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files whose collective calls lead to about as many POSIX calls or more. On average these POSIX calls
    are hardly larger than the pieces that the ranks passed in.
    """
    pair = under_mpiio(job)
    if pair is None:
        return None
    upper, lower = pair
    said, spent, least = [], NONE, max(1.0, limits["few_calls"])
    for kind, counter in (("WRITE", "BYTES_WRITTEN"), ("READ", "BYTES_READ")):
        together = upper[f"COLL_{kind}S"] + upper[f"SPLIT_{kind}S"]
        single = upper[f"INDEP_{kind}S"] + upper[f"NB_{kind}S"]
        calls = lower[f"{kind}S"]
        chosen = (
            (together > 0)
            & (single <= 0.1 * together)
            & (upper["ranks"] > 1)
            & (calls >= 0.9 * together)
            & (lower[counter] < limits["large_transfer"] * calls)
            & (lower[counter] * together <= 1.5 * upper[counter] * calls)
        )
        if float(calls[chosen].sum()) >= least:
            # Few ranks that move pieces as large as a rank's part are aggregators with a small buffer.
            tiny = small_calls(lower, kind, limits["small_transfer"]) >= limits["small_share"] * calls
            tiny &= _TINY * lower[counter] * together <= upper[counter] * calls
            chosen &= tiny | (2 * _users_of(job, lower, kind) >= upper["ranks"])
        if float(calls[chosen].sum()) < least:
            continue
        rows = most_first(calls, chosen)
        ids = upper["id"][rows]
        spent += slowest_seconds(job, "MPI-IO", ids, (kind,))
        size = say.size(float(lower[counter][rows].sum() / calls[rows].sum()))
        said.append(
            f"{say.count(float(together[rows].sum()), f'collective {kind.lower()}')} of {say.files(job, ids)} became "
            f"{say.count(float(calls[rows].sum()), f'POSIX {kind.lower()}')} of "
            f"{size} on average{_apart(lower, rows, counter)}"
        )
    if not said:
        return None
    evidence = f"{'; '.join(said)}, in {say.seconds(spent)} on the slowest rank."
    return Seen(evidence, spent, "It assumes that these collective calls take no time.", _REMEDY, _HINTS)


def _apart(table: Records, rows: np.ndarray, counter: str) -> str:
    """Returns a clause on pieces that lie far apart in their file; empty if they do not."""
    moved, end = float(table[counter][rows[0]]), float(table[f"MAX_{counter.replace('BYTES', 'BYTE')}"][rows[0]] + 1)
    return f" that lie apart ({say.size(moved)} on {say.size(end)} of file)" if end >= _SPREAD * moved > 0 else ""


_TINY = 4
"""Few aggregators count as not combining if their pieces are at least this many times smaller than a rank's part."""

_SPREAD = 4
"""Pieces lie apart if they cover at most one part in this many of the file up to the last of them."""


def _users_of(job: Job, table: Records, kind: str) -> np.ndarray:
    """Returns the number of ranks that read or wrote (`kind` READ or WRITE) each file through POSIX; all ranks, if the
    log does not tell.
    """
    known = posix_users(job, "read" if kind == "READ" else "written")
    return np.array([known.get(key, job.nprocs) for key in table["id"].tolist()], dtype=np.int64)


RULE = Rule(
    id="not-aggregated",
    title="Collective calls did not combine small transfers",
    says="many collective calls on a file cause about as many POSIX calls or more, and these are neither large nor "
    "larger than the data of a rank; they come from at least half of the ranks, or most are small and far smaller than "
    "the data of a rank",
    limits=("large_transfer", "few_calls", "small_transfer", "small_share"),
    why="The program pays for collective calls, but the file system still receives small pieces.",
    read_more="ROMIO hints romio_cb_write, romio_cb_read; MPI 4.1, section 14.2.8",
    check=check,
    gauges=("size",),
    bounds="small transfers",
)
