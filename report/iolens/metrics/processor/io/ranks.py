"""The I/O of single ranks: time, calls and bytes by layer, kind and file, averages for each file, and memory by NUMA
node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records, as_records
from iolens.metrics.files.grouped import families_of_names
from iolens.metrics.files.overview import lowest, path_column
from iolens.metrics.files.use import among
from iolens.metrics.grouping import Groups, ordered, stacked
from iolens.metrics.job.interfaces.layers import LAYERS, MIB, io_time
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, LEFT_OUT, Ask, kept
from iolens.metrics.processor.sampled.call_chains import table_records

_KINDS = {"read": ("READ", "BYTES_READ"), "write": ("WRITE", "BYTES_WRITTEN"), "meta": ("META", None)}
_META = {
    "POSIX": ("OPENS", "STATS", "SEEKS", "FSYNCS", "FDSYNCS"),
    "STDIO": ("OPENS", "SEEKS", "FLUSHES"),
    "DFS": ("OPENS", "GLOBAL_OPENS", "LOOKUPS", "DUPS", "GET_SIZES", "PUNCHES", "REMOVES", "STATS"),
    "DAOS": (
        *(f"OBJ_{name}" for name in ("OPENS", "PUNCHES", "DKEY_PUNCHES", "AKEY_PUNCHES")),
        *(f"OBJ_{name}" for name in ("DKEY_LISTS", "AKEY_LISTS", "RECX_LISTS")),
        *(f"ARRAY_{name}" for name in ("OPENS", "GET_SIZES", "SET_SIZES", "STATS", "PUNCHES", "DESTROYS")),
        *(f"KV_{name}" for name in ("OPENS", "REMOVES", "LISTS", "DESTROYS")),
    ),
}
"""Calls whose time a record counts as metadata time. Syncs are among these calls, but a record counts their time as
writing.
"""

_EXTRA_META = ("unlinks", "links", "truncates", "allocates", "mkdirs", "rmdirs")
"""Calls of the private table `posix_extra` that count as metadata too."""

_TRANSFERS = ("independent read", "independent write", "collective read", "collective write")

_OPENS = ("independent open", "collective open")

_ROUNDING = 1e-12
"""Rounding error allowed in a sum of times."""


@once_per_job
def rank_io(job: Job) -> Records | None:
    """Returns a row per rank, `group` (a layer), `function` (read, write, meta; of MPI-IO exchange, meta), file.

    Groups are POSIX, STDIO, DFS (or DAOS, if there is no DFS) and MPI-IO. Columns also: file (path), calls, time
    (seconds), bytes. A file that all ranks used has rows by rank if the private table `file_ranks` has it; else its
    rows have rank -1, which stands for all ranks together. The groups do not overlap: the time of MPI-IO is what its
    calls took beyond the POSIX time in them. For a file that all ranks used, collective transfers are known by rank,
    and all other calls only for all ranks together. POSIX metadata contains calls that Darshan has no counter for, such
    as rmdir and unlink. None if no layer recorded anything.
    """
    parts = [part for name in lowest(job) for part in _layer_rows(name, job)]
    parts += _exchange_rows(job)
    parts += _folder_rows(job)
    parts = [part.where((part["calls"] > 0) | (part["time"] > 0)) for part in parts]
    rows = stacked(parts) if parts else Records({})
    return rows.beside({"file": path_column(job, rows["id"])}) if len(rows) else None


def _layer_rows(name: str, job: Job) -> Iterator[Records]:
    """Yields calls, seconds and bytes by rank and file, one kind of call after the other, of a layer at which bytes
    reach a file.
    """
    known, apart = job.records[name], table_records(job, "file_ranks") if name == "POSIX" else None
    if apart is not None:
        apart = apart.where(among(apart["file"], known["id"][known["rank"] < 0]))
        known = known.where((known["rank"] >= 0) | ~among(known["id"], apart["file"]))
        yield from (_apart_rows(apart, kind) for kind in _KINDS)
    for kind, (time, moved) in _KINDS.items():
        counters = _META[name] if kind == "meta" else LAYERS[name].operations[kind]
        yield _function_rows(
            rank=known["rank"],
            group=name,
            function=kind,
            id=known["id"],
            calls=sum(np.maximum(known[f"{name}_{one}"], 0) for one in counters if f"{name}_{one}" in known),
            time=np.maximum(known[f"{name}_F_{time}_TIME"], 0),
            bytes=np.maximum(known[f"{name}_{moved}"], 0) if moved else 0,
        )


def _apart_rows(apart: Records, kind: str) -> Records:
    """Returns the rows of one kind from the private table `file_ranks`, which has the ranks of shared files
    separately.
    """
    calls, moved = {"read": ("reads", "bytes_read"), "write": ("writes", "bytes_written"), "meta": ("opens", "")}[kind]
    return _function_rows(
        rank=apart["rank"],
        group="POSIX",
        function=kind,
        id=apart["file"],
        calls=apart.get(calls, 0),
        time=apart.get(f"{kind}_time", 0.0),
        bytes=apart[moved] if moved else 0,
    )


def _folder_rows(job: Job) -> list[Records]:
    """Returns the POSIX calls that move no bytes and are in no record of a file: calls on folders, names and sizes."""
    extra = table_records(job, "posix_extra")
    if extra is None:
        return []
    calls = sum(extra[name] for name in _EXTRA_META if name in extra)
    return [
        _function_rows(
            rank=extra["rank"], group="POSIX", function="meta", id=extra["file"], calls=calls, time=extra["seconds"]
        )
    ]


def _exchange_rows(job: Job) -> list[Records]:
    """Returns the seconds that each rank spent in MPI-IO calls on each file, less the POSIX calls in them, as function
    `exchange`.
    """
    known, posix, table = job.records.get("MPI-IO"), job.records.get("POSIX"), table_records(job, "mpiio_collectives")
    if known is None:
        return []
    own, shared = known.where(known["rank"] >= 0), known.where(known["rank"] < 0)
    within = np.zeros(len(own))
    if posix is not None:
        same = Groups(posix["id"], posix["rank"])
        spent = same.sum(io_time(posix, "POSIX")).tolist()
        below = dict(zip(posix.where(same.first).rows("id", "rank"), spent, strict=True))
        within = np.array([below.get(key, 0.0) for key in own.rows("id", "rank")])
    calls = sum(own[f"MPIIO_{name}"] for names in LAYERS["MPI-IO"].operations.values() for name in names)
    time = np.maximum(io_time(own, "MPIIO") - within, 0)
    columns = {"group": "MPI-IO", "function": "exchange"}
    found = [_function_rows(**columns, rank=own["rank"], id=own["id"], calls=calls, time=time)]
    if table is not None:
        part = table.where(among(table["file"], shared["id"]))
        time = np.maximum(part["seconds"] - part["access"], 0)
        found.append(_function_rows(**columns, rank=part["rank"], id=part["file"], calls=part["calls"], time=time))
    return found + _shared_rows(shared, posix, table)


def _shared_rows(shared: Records, posix: Records | None, collectives: Records | None) -> list[Records]:
    """Returns the MPI-IO time beyond POSIX in files that all ranks used, for all ranks together: metadata calls, and
    transfers that are not known by rank. A merged record has the sums over all ranks.
    """
    ids, none = shared["id"], np.zeros(len(shared))
    below_meta = none if posix is None else _added(posix["id"], posix["POSIX_F_META_TIME"], ids)
    below = none if posix is None else _added(posix["id"], io_time(posix, "POSIX"), ids)
    calls, seconds, access = (
        none if collectives is None else _added(collectives["file"], collectives[name], ids)
        for name in ("calls", "seconds", "access")
    )
    meta = _beyond(shared["MPIIO_F_META_TIME"], below_meta)
    beneath = np.maximum(below - below_meta - access, 0)
    moved = _beyond(io_time(shared, "MPIIO"), shared["MPIIO_F_META_TIME"], seconds, beneath)
    operations = LAYERS["MPI-IO"].operations
    transfers, opens = (
        sum(shared[f"MPIIO_{name}"] for kind in kinds for name in operations[kind]) for kinds in (_TRANSFERS, _OPENS)
    )
    columns: dict[str, Any] = {"rank": np.full(len(shared), -1), "group": "MPI-IO", "id": ids}
    return [
        _function_rows(**columns, function="meta", calls=opens, time=meta),
        _function_rows(
            **columns,
            function="exchange",
            calls=np.maximum(transfers - calls, 0),
            time=moved,
        ),
    ]


def _beyond(whole: np.ndarray, *parts: np.ndarray) -> np.ndarray:
    """Returns times minus their parts; a remainder within the rounding of sums counts as 0, because otherwise ranks
    would seem to have spent time there.
    """
    left = whole - sum(parts)
    return np.where(left > _ROUNDING * whole, left, 0.0)


def _added(ids: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Returns sums by file for the wanted files; 0 for files without rows."""
    same = Groups(ids)
    sums = dict(zip(ids[same.first].tolist(), same.sum(values).tolist(), strict=True))
    return np.array([sums.get(key, 0) for key in wanted.tolist()], float)


def _function_rows(
    rank: np.ndarray, group: str, function: str, id: np.ndarray, calls: Any, time: Any, bytes: Any = 0
) -> Records:
    """Returns rows of one group and function; `calls`, `time` and `bytes` may be one number for all rows."""
    count = len(id)
    return Records(
        {
            "rank": rank,
            "group": np.full(count, group, object),
            "function": np.full(count, function, object),
            "id": np.asarray(id, "u8"),
            **{
                name: np.broadcast_to(each, count)
                for name, each in (("calls", calls), ("time", time), ("bytes", bytes))
            },
        }
    )


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


@once_per_job
def memory_nodes(job: Job) -> Records | None:
    """Returns the resident memory of each rank on each NUMA node: rank (-1: other ranks together), memory_node (-1:
    any), high_bytes (the most at any look), bytes (when recording ended), share (per cent of the rank's bytes).

    Returns None if the log has no such rows, as on a machine with a single node.
    """
    rows = job.tables.get("memory_nodes")
    if rows is None or not len(rows):
        return None
    ranks, of_rank = np.unique(rows["rank"], return_inverse=True)
    whole = np.bincount(of_rank, rows["bytes"], len(ranks))[of_rank]
    share = 100 * rows["bytes"] / np.where(whole > 0, whole, np.nan)
    return ordered(rows.beside({"share": share}), "rank", "memory_node")
