"""The imbalance of ranks in files that have one record for all ranks: such a record gives only the times of its slowest
and its fastest rank.
"""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest
from iolens.metrics.files.use import among
from iolens.metrics.job.interfaces.layers import LAYERS, io_time
from iolens.metrics.processor.sampled.call_chains import table_records
from iolens.metrics.processor.sampled.groups import MPIIO

_ROUNDING = 1e-6
"""Relative error allowed in sums of times."""


def uneven_shares(job: Job) -> dict[str, np.ndarray]:
    """Returns, by layer, the seconds by which each rank's I/O differs from an even share of the time that the log has
    for all ranks together; the values of a layer add up to 0.

    Time in MPI-IO excludes the POSIX calls that MPI-IO makes: in a file that all ranks opened through MPI-IO, ranks
    that do the I/O of others spend a larger part of their MPI-IO time in POSIX.
    """
    ranks, apart = max(1, job.nprocs), table_records(job, "file_ranks")
    found = {}
    for name in lowest(job):
        merged = job.records[name].where(job.records[name]["rank"] < 0)
        if name == "POSIX" and apart is not None:
            merged = merged.where(~among(merged["id"], apart["file"]))
        found[name] = _told(merged, LAYERS[name].prefix, ranks)
    known, collectives = job.records.get(MPIIO), table_records(job, "mpiio_collectives")
    if known is not None:
        merged = known.where(known["rank"] < 0)
        if collectives is not None:
            merged = merged.where(~among(merged["id"], collectives["file"]))
        found[MPIIO] = _told(merged, LAYERS[MPIIO].prefix, ranks) - _posix_below(job, merged["id"], apart, ranks)
    return found


def _told(merged: Records, prefix: str, ranks: int) -> np.ndarray:
    """Returns the seconds by which each rank's time in these records differs from an even share. Each record tells the
    times of its slowest and its fastest rank; its other ranks are assumed to share the remaining time evenly.
    """
    own = np.zeros(ranks)
    if f"{prefix}_F_FASTEST_RANK_TIME" not in merged or not len(merged):
        return own
    total = io_time(merged, prefix)
    slow, fast = (merged[f"{prefix}_F_{which}_RANK_TIME"] for which in ("SLOWEST", "FASTEST"))
    slowest, fastest = (merged[f"{prefix}_{which}_RANK"] for which in ("SLOWEST", "FASTEST"))
    others, room = total - slow - fast, _ROUNDING * total
    each = others / (ranks - 2) if ranks > 2 else np.zeros(len(total))
    named = (slowest >= 0) & (slowest < ranks) & (fastest >= 0) & (fastest < ranks) & (slowest != fastest)
    fits = (fast <= each + room) & (each <= slow + room) if ranks > 2 else np.abs(others) <= room
    told = np.flatnonzero(named & fits & (fast >= 0))
    np.add.at(own, slowest[told], (slow - each)[told])
    np.add.at(own, fastest[told], (fast - each)[told])
    return np.asarray(own - own.mean())


def _posix_below(job: Job, ids: np.ndarray, apart: Records | None, ranks: int) -> np.ndarray:
    """Returns the seconds by which each rank's POSIX time in these files differs from that of an average rank."""
    posix = job.records.get("POSIX")
    if posix is None:
        return np.zeros(ranks)
    posix = posix.where(among(posix["id"], ids))
    own = posix.where((posix["rank"] >= 0) & (posix["rank"] < ranks))
    merged = posix.where(posix["rank"] < 0)
    spent = np.bincount(own["rank"], io_time(own, "POSIX"), ranks)
    if apart is not None:
        rows = apart.where(among(apart["file"], merged["id"]) & (apart["rank"] >= 0) & (apart["rank"] < ranks))
        seconds = rows["read_time"] + rows["write_time"] + rows["meta_time"]
        spent = spent + np.bincount(rows["rank"], seconds, ranks)
        merged = merged.where(~among(merged["id"], apart["file"]))
    return np.asarray(spent - spent.mean() + _told(merged, "POSIX", ranks))
