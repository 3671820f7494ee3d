"""MPI-IO: hints requested and effective, who really wrote, and what collective buffering did to the bytes."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from iolens.log.records import Records
from iolens.metrics.files import paths
from iolens.metrics.once import once_per_job

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

UNSEEN = 0.01
"""Part of a file's bytes below which POSIX missed them: headers that it saw are no measure of the rest."""


@once_per_job
def hints(job: Job) -> pd.DataFrame | None:
    """MPI-IO hints by `path` and `key`: `requested` in the program's MPI_Info, `given` from outside in its place
    (`iolens run --hints`), `effective` as MPI_File_get_info said at close.

    Empty text: not given, not reported. None where the log does not record them (Darshan does not).
    """
    found = job.private.get("mpiio_hints")
    if found is None or isinstance(found, dict) or not len(found):
        return None
    rows = found.drop_duplicates(["file", "key"])
    rows = rows if "given" in rows else rows.assign(given="")
    return rows.assign(path=paths(job, rows["file"]))[["path", "key", "requested", "given", "effective"]]


@once_per_job
def hints_unknown(job: Job) -> str:
    """Why a log does not record hints."""
    info = job.private.get("job")
    if isinstance(info, dict) and "iolens" in info:
        return f"iolens {info['iolens']} wrote none of them into this log"
    return "Darshan counts them only; iolens records them"


@once_per_job
def file_rank_records(job: Job) -> Records | None:
    """What each rank did to the files that several ranks used: the private table `file_ranks`, see profiler/LOG.md.

    A row of rank -1 is the sum of `ranks` ranks that have no row of their own. Files of which one rank alone is known
    are not common ones, and are left out. None where the log does not record it, or there are none.
    """
    found = job.tables.get("file_ranks")
    if found is None or not len(found):
        return None
    if "ranks" not in found:
        found = found.beside({"ranks": np.ones(len(found), "i8")})
    _, file = np.unique(found["file"], return_inverse=True)
    common = np.bincount(file, weights=found["ranks"])[file] > 1
    return found.where(common) if common.any() else None


@once_per_job
def file_ranks(job: Job) -> pd.DataFrame | None:
    """`file_rank_records` as a frame."""
    found = file_rank_records(job)
    return None if found is None else found.frame()


@once_per_job
def aggregators(job: Job, limit: int = 20) -> pd.DataFrame | None:
    """Who wrote to each file that several ranks opened: the observed aggregators.

    One row a file: path, writers (ranks with POSIX writes), others (ranks of which only the sum is known, and some
    wrote), bytes, writes, largest_write, common_write (most frequent size of the writers known, weighted by its count),
    not_aligned (share of the writes whose offset is no multiple of the file's alignment), seconds (POSIX write time of
    the slowest writer known). None where the log does not record it.
    """
    import pandas as pd

    found = file_ranks(job)
    if found is None:
        return None
    active = found[found["writes"] > 0]
    rows = []
    for key, part in active.groupby("file", sort=False):
        known = part[part["rank"] >= 0]
        if known.empty:
            continue
        common = known.groupby("common_write")["common_write_count"].sum()
        rows.append(
            {
                "path": paths(job, [key])[0],
                "writers": sorted(int(rank) for rank in known["rank"]),
                "others": int(part[part["rank"] < 0]["ranks"].sum()),
                "bytes": int(part["bytes_written"].sum()),
                "writes": int(part["writes"].sum()),
                "largest_write": int(part["largest_write"].max()),
                "common_write": int(common.idxmax()),
                "not_aligned": float(part["writes_not_aligned"].sum() / part["writes"].sum()),
                "seconds": float(known["write_time"].max()),
            }
        )
    table = pd.DataFrame(rows)
    return table.nlargest(limit, "bytes").reset_index(drop=True) if rows else table


@once_per_job
def byte_ratios(job: Job) -> dict[str, float | None]:
    """Bytes that POSIX moved for one byte moved by MPI-IO, by `read` and `write`, over files of which both saw some.

    1: nothing is moved twice; above: data sieving or read-modify-write; below: data came from a buffer, or went a way
    that is not recorded. None without such files or bytes; `unseen` says where POSIX saw none.
    """
    mpi, posix = job.frames.get("MPI-IO"), job.frames.get("POSIX")
    if mpi is None or posix is None:
        return {"read": None, "write": None}
    found: dict[str, float | None] = {}
    for kind, counter in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
        above, below = moved_by_file(mpi, f"MPIIO_{counter}"), moved_by_file(posix, f"POSIX_{counter}")
        both = above.index[(above > 0) & seen_below(above, below)]
        found[kind] = float(below[both].sum() / above[both].sum()) if len(both) else None
    return found


def moved_by_file(records: pd.DataFrame, counter: str) -> pd.Series:
    """A counter of bytes, summed by file."""
    return records.groupby("id")[counter].sum().clip(lower=0)


def seen_below(above: pd.Series, below: pd.Series) -> pd.Series:
    """Whether POSIX saw anything to speak of (UNSEEN) of what MPI-IO moved on each file."""
    return below.reindex(above.index).fillna(0) > UNSEEN * above


@once_per_job
def unseen(job: Job) -> dict[str, int]:
    """Bytes that MPI-IO moved of files of which POSIX saw next to none, by `read` and `write`: a gap in the records.

    MPI libraries move bytes by calls that a profiler may not see (Darshan those of Open MPI's own MPI-IO). Reads may
    also have been served from a collective buffer. Where DFS or DAOS is recorded, the bytes went there.
    """
    mpi, posix = job.frames.get("MPI-IO"), job.frames.get("POSIX")
    found = {"read": 0, "write": 0}
    if mpi is None or "DFS" in job.frames or "DAOS" in job.frames:
        return found
    for kind, counter in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
        above = moved_by_file(mpi, f"MPIIO_{counter}")
        below = above * 0 if posix is None else moved_by_file(posix, f"POSIX_{counter}")
        found[kind] = int(above[~seen_below(above, below)].sum())
    return found


def writer_count(writers: Sequence[Any], others: int) -> str:
    """How many ranks wrote: `4`, or `1000 to 99000` when some of 98000 others wrote."""
    return f"{len(writers)} to {len(writers) + others}" if others else str(len(writers))


def rank_list(ranks: Sequence[Any]) -> str:
    """Ranks as ranges: `0-3, 8`."""
    parts: list[str] = []
    begin = previous = None
    for rank in [*ranks, None]:
        if previous is not None and rank != previous + 1:
            parts.append(str(begin) if begin == previous else f"{begin}-{previous}")
            begin = rank
        elif begin is None:
            begin = rank
        previous = rank
    return ", ".join(parts)


@once_per_job
def collective_time(job: Job) -> pd.DataFrame | None:
    """Where the time of collective calls went, per file for its aggregators (ranks with POSIX accesses) and the others.

    Columns: path, who (`aggregators`, `other ranks`), ranks, calls (of one rank, mean), and mean seconds of a rank:
    seconds, waiting (until the last rank had entered), access (POSIX time meanwhile), exchange (the rest). Of a file
    that POSIX saw no rank access, `all ranks`, without access and exchange. None where the log does not record it.
    """
    import pandas as pd

    found = job.private.get("mpiio_collectives")
    if not isinstance(found, pd.DataFrame) or found.empty:
        return None
    seen = found.groupby("file")["access"].transform("sum") > 0
    who = found["access"].gt(0).map({True: "aggregators", False: "other ranks"}).where(seen, "all ranks")
    found = found.assign(access=found["access"].where(seen), exchange=found["exchange"].where(seen))
    groups = found.assign(who=who, path=paths(job, found["file"])).groupby(["path", "who"], sort=False)
    table = groups[["calls", "seconds", "waiting", "access", "exchange"]].agg(lambda part: part.mean(skipna=False))
    table.insert(0, "ranks", groups["rank"].nunique())
    return table.reset_index().sort_values(["path", "who"], ignore_index=True)


@once_per_job
def exchange_times(job: Job) -> Records | None:
    """Mean seconds of the aggregators in collective calls, one row a file, by `id`: seconds, waiting, access, exchange.

    Aggregators are the ranks with POSIX accesses meanwhile. None where the log does not record it.
    """
    found = job.tables.get("mpiio_collectives")
    if found is None or not len(found):
        return None
    active = found.where((found["access"] > 0) & ~np.isnan(found["exchange"]))
    ids, file = np.unique(active["file"], return_inverse=True)
    parts = np.split(np.argsort(file, kind="stable"), np.flatnonzero(np.diff(np.sort(file))) + 1) if len(ids) else []
    times = ("seconds", "waiting", "access", "exchange")
    means = {name: np.array([fsum(active[name][part]) / len(part) for part in parts]) for name in times}
    return Records({"id": ids, **means})
