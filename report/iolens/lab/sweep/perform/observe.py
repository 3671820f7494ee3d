"""Find out from the log and the output of a run which ranks wrote its data, which hints took effect, and what the page
cache held.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from iolens.log.job import Job
from iolens.metrics.job.mpiio import file_ranks
from iolens.metrics.job.operations import syncs
from iolens.metrics.job.share import io_mean_seconds


def mpi_used(job: Job) -> dict[str, Any]:
    """Returns the MPI that the log names: its `library`, the `io_component` that opened files, and the `hints` that the
    file with most bytes had at its close. Keys that the log does not know are left out.
    """
    named = {"library": job.info.get("mpi"), "io_component": job.info.get("io_component")}
    named["hints"] = _hints_at_close(job)
    return {key: value for key, value in named.items() if value}


def _hints_at_close(job: Job) -> dict[str, str]:
    """Returns the hints that MPI_File_get_info reported for the file that moved most bytes through MPI-IO."""
    rows, frame = job.tables.get("mpiio_hints"), job.frames.get("MPI-IO")
    if rows is None or not len(rows) or frame is None or frame.empty:
        return {}
    volume = (frame["MPIIO_BYTES_READ"] + frame["MPIIO_BYTES_WRITTEN"]).groupby(frame["id"]).sum()
    largest = int(volume.idxmax())
    return {key: value for file, key, value in rows.rows("file", "key", "effective") if file == largest and value}


def observed(job: Job) -> dict[str, Any]:
    """Returns the aggregators of the file that got most bytes through MPI-IO: the ranks that wrote it at the POSIX
    level.

    The keys are those of run.json: `aggregators`, `aggregator_ranks`, `largest_write` and `common_write` (bytes), those
    of `spread`, and `syncs`, the number of calls that flushed data to the storage. Only the keys of `through_mpiio` and
    `compute_seconds` are returned if the log has no such table for all ranks (another profiler, or one rank).
    """
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
        **write_distribution(job, shared),
        "syncs": syncs(job),
    }


def write_distribution(job: Job, shared: set[int]) -> dict[str, Any]:
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


_LINE = re.compile(r"^key = (\S+)\s+value = (.*?)\s*$")


def _printed_hints(output: str) -> list[dict[str, str]]:
    """Returns one table of hints per open file, in the order of the opens.

    A key that appears a second time begins the print of the next open.
    """
    opens: list[dict[str, str]] = []
    fresh = True
    for line in output.splitlines():
        match = _LINE.match(line)
        if not match:
            fresh = True
            continue
        if fresh or match[1] in opens[-1]:
            opens.append({})
            fresh = False
        opens[-1][match[1]] = match[2]
    return opens


def effective_hints(output: str) -> dict[str, str]:
    """Returns the hints of the job's data file: the open with the most aggregators.

    Rank 0 also opens files alone, and then `cb_nodes` is always 1; those prints do not describe the job.
    """
    opens = _printed_hints(output)
    return max(opens, key=lambda hints: int(hints.get("cb_nodes", "0") or 0), default={})


_SYNCED = ("fsync", "fsyncPerWrite", "sync")
"""Parameters of the bundled workloads that flush written data before the clock stops."""

_FORGOTTEN = ("cold_read", "coldRead")
"""Parameters that make the nodes drop the data before it is read."""

_DIRECT = "useO_DIRECT"


def page_cache(result: Mapping[str, Any], seen: Mapping[str, Any], modelled: bool) -> dict[str, str]:
    """Returns the state for the operations of the program (`written`, `read`; both if no result tells): a word of
    report/RUN.md, or 'n/a: ' and the reason. `seen` is what the log shows, `modelled` is True for storage with modelled
    speed.
    """
    parameters = result.get("parameters") or {}
    did = {str(phase.get("operation")) for phase in result.get("phases") or ()}
    told = {"write": ("written", _written(parameters, seen.get("syncs"))), "read": ("read", read(parameters, result))}
    found = dict(word for operation, word in told.items() if not did or operation in did)
    whole = "modelled" if modelled else "bypassed" if parameters.get(_DIRECT) is True else None
    return dict.fromkeys(found, whole) if whole else found


def _written(parameters: Mapping[str, Any], syncs: int | None) -> str:
    """Returns whether written data was flushed inside the timed part."""
    asked = [parameters[key] is True for key in _SYNCED if key in parameters]
    if any(asked):
        return "n/a: a flush was requested, but the log has no such call" if syncs == 0 else "synced"
    if syncs == 0 or (asked and syncs is None):
        return "not synced"
    if syncs is None:
        return "n/a: no log shows if data were synced"
    return "n/a: data were synced, but it is unknown if this happened before the clock stopped"


def read(parameters: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Returns whether the nodes had dropped the data before it was read."""
    asked = [parameters[key] is True for key in _FORGOTTEN if key in parameters]
    if any(asked):
        known = isinstance((result.get("extra") or {}).get("cached_before_read"), int | float)
        return "dropped" if known else "n/a: pages were to be dropped, but it is unknown how many stayed in memory"
    return "not dropped" if asked else "n/a: the program does not report if pages were dropped before it read"
