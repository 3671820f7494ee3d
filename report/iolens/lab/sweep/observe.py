"""Who really wrote the data of a run, and in which sizes: from the profiler's private `file_ranks` table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iolens.log import read_log
from iolens.metrics.mpiio import file_ranks
from iolens.metrics.operations import syncs


def observed(log: Path) -> dict[str, Any]:
    """Aggregators of the file with the most bytes written through MPI-IO: ranks that wrote it at the POSIX level.

    Keys as in run.json: `aggregators`, `aggregator_ranks`, `largest_write`, `common_write` (bytes), and `syncs`, the
    calls that sent data to the storage. Empty when the log holds no such table (another profiler, or one rank), or not
    of all ranks.
    """
    job = read_log(log)
    ranks = file_ranks(job)
    if ranks is None or (ranks["rank"] < 0).any():
        return {}
    totals = ranks.groupby("file")["bytes_written"].sum()
    shared = set(job.frames["MPI-IO"]["id"]) if "MPI-IO" in job.frames else set()
    totals = totals[totals.index.isin(shared)] if shared else totals
    if totals.empty or totals.max() == 0:
        return {}
    rows = ranks[(ranks["file"] == totals.idxmax()) & (ranks["writes"] > 0)]
    commonest = rows.loc[rows["common_write_count"].idxmax(), "common_write"]
    return {
        "aggregators": len(rows),
        "aggregator_ranks": sorted(int(rank) for rank in rows["rank"]),
        "largest_write": int(rows["largest_write"].max()),
        "common_write": int(commonest),
        "syncs": syncs(job),
    }
