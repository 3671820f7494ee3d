"""Find out which ranks wrote the data of a run, and in which sizes, from the profiler's private table `file_ranks`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iolens.log import read_log
from iolens.log.job import Job
from iolens.metrics.job.mpiio import file_ranks
from iolens.metrics.job.operations import syncs
from iolens.metrics.job.share import io_mean_seconds


def observed(log: Path) -> dict[str, Any]:
    """Returns the aggregators of the file that got most bytes through MPI-IO: the ranks that wrote it at the POSIX
    level.

    The keys are those of run.json: `aggregators`, `aggregator_ranks`, `largest_write` and `common_write` (bytes), those
    of `spread`, and `syncs`, the number of calls that flushed data to the storage. Only the keys of `through_mpiio` and
    `compute_seconds` are returned if the log has no such table for all ranks (another profiler, or one rank).
    """
    job = read_log(log)
    moved, ranks = {**_through_mpiio(job), **_compute_seconds(job)}, file_ranks(job)
    if ranks is None or (ranks["rank"] < 0).any():
        return moved
    totals = ranks.groupby("file")["bytes_written"].sum()
    shared = set(job.frames["MPI-IO"]["id"]) if "MPI-IO" in job.frames else set()
    totals = totals[totals.index.isin(shared)] if shared else totals
    if totals.empty or totals.max() == 0:
        return moved
    rows = ranks[(ranks["file"] == totals.idxmax()) & (ranks["writes"] > 0)]
    commonest = rows.loc[rows["common_write_count"].idxmax(), "common_write"]
    return moved | {
        "aggregators": len(rows),
        "aggregator_ranks": sorted(int(rank) for rank in rows["rank"]),
        "largest_write": int(rows["largest_write"].max()),
        "common_write": int(commonest),
        **spread(job, shared),
        "syncs": syncs(job),
    }


def spread(job: Job, shared: set[int]) -> dict[str, Any]:
    """Returns how the written bytes are distributed: `file_share`, the part (0 to 1) in the file that has most, and
    `writers`, the number of ranks that wrote any file. Only the files `shared` count, or all files if it is empty;
    returns nothing if POSIX recorded no write.
    """
    posix, ranks = job.frames.get("POSIX"), file_ranks(job)
    if posix is None:
        return {}
    wrote = posix[(posix["POSIX_BYTES_WRITTEN"] > 0) & (posix["id"].isin(shared) if shared else True)]
    files = wrote.groupby("id")["POSIX_BYTES_WRITTEN"].sum()
    if files.empty:
        return {}
    known = () if ranks is None else ranks[ranks["file"].isin(files.index) & (ranks["writes"] > 0)]["rank"]
    return {
        "file_share": float(files.max() / files.sum()),
        "writers": len({*wrote["rank"][wrote["rank"] >= 0], *known}),
    }


def _compute_seconds(job: Job) -> dict[str, float]:
    """Returns `compute_seconds`: the run time minus the I/O time of an average process, which includes computing,
    messages and waiting for them; empty if no time is left.
    """
    spent = job.run_time - (io_mean_seconds(job) or 0.0)
    return {"compute_seconds": round(spent, 6)} if spent > 0 else {}


def _through_mpiio(job: Job) -> dict[str, bool]:
    """Returns `mpi_io`: True if any bytes went through MPI-IO. Returns nothing if POSIX recorded no bytes, since their
    path is then unknown.
    """
    moved = {
        name: name in job.frames
        and bool((job.frames[name][[f"{prefix}_BYTES_READ", f"{prefix}_BYTES_WRITTEN"]] > 0).to_numpy().any())
        for name, prefix in (("MPI-IO", "MPIIO"), ("POSIX", "POSIX"))
    }
    return {"mpi_io": moved["MPI-IO"]} if any(moved.values()) else {}
