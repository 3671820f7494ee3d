"""Reads and writes of each file: averages over the ranks that used it, as in pat_report's read_stats and write_stats.
Averages over all ranks would hide that one rank does everything.
"""

from __future__ import annotations

import re
from typing import Any

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import as_records
from iolens.metrics.files.grouped import families_of_names
from iolens.metrics.job.interfaces.layers import MIB
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, LEFT_OUT, Ask, kept
from iolens.metrics.processor.io.ranks import rank_io

_SYSTEM = re.compile(r"/(proc|sys)/")
_COLUMNS = ["name", "files", "seconds", "mib", "rate", "ranks", "calls", "bytes_per_call", "bytes"]


@once_per_job
def file_input(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """Returns the files that were read: one row for all files, then one row per file or family of files, most bytes
    first, without files in /proc and /sys.

    Columns: name, files, ranks (that read them), means over these ranks (seconds, mib in 2^20 bytes, calls), rate (all
    bytes over all time, MiB/s), bytes_per_call, bytes (of all ranks). All layers but MPI-IO count. NaN: the ranks that
    read are not known, because the log merges the file's ranks. Rows with less than the threshold of the bytes and of
    the time are left out; without a threshold, each file has a row.
    """
    return _rows_of_kind(job, "read", ask)


@once_per_job
def file_output(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """Returns the files that were written: the columns of `file_input`, with means over the ranks that wrote."""
    return _rows_of_kind(job, "write", ask)


def _rows_of_kind(job: Job, kind: str, ask: Ask) -> pd.DataFrame | None:
    """Returns the rows of one kind of call; None without rows."""
    moved = rank_io(job)
    if moved is None:
        return None
    rows = moved.frame()
    rows = rows[(rows["function"] == kind) & (rows["calls"] > 0) & ~rows["file"].str.match(_SYSTEM)]
    rows = kept(as_records(rows.drop(columns=["function", "id"])), ask.where).frame()
    if rows.empty:
        return None
    kin = families_of_names(rows["file"].to_numpy(object), by_family=ask.threshold > 0)
    parts = zip(kin.labels, (part for _, part in rows.groupby(kin.place)), strict=True)
    least = ask.threshold / 100 * rows[["bytes", "time"]].sum()
    each = [_file_row(label, part) for label, part in parts if (part[["bytes", "time"]].sum() >= least).any()]
    each.sort(key=lambda row: (-row["bytes"], row["name"]))
    found = pd.DataFrame([_file_row("Total", rows), *each], columns=_COLUMNS)
    found.attrs[LEFT_OUT] = len(kin.labels) - len(each)
    return found


def _file_row(name: str, part: pd.DataFrame) -> dict[str, Any]:
    """Returns one row with the sums and means over some files."""
    calls, moved, spent = (float(part[column].sum()) for column in ("calls", "bytes", "time"))
    ranks = float(part["rank"].nunique()) if (part["rank"] >= 0).all() else float("nan")
    return {
        "name": name,
        "files": part["file"].nunique(),
        "seconds": spent / ranks,
        "mib": moved / MIB / ranks,
        "rate": moved / MIB / spent if spent > 0 else float("nan"),
        "ranks": ranks,
        "calls": calls / ranks,
        "bytes_per_call": moved / calls,
        "bytes": moved,
    }
