"""The most time that I/O can have taken of a run, and the start of its processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.families import of_libraries
from iolens.metrics.files.use import among, by_file, file_records
from iolens.metrics.job.interfaces.layers import LAYERS
from iolens.metrics.once import once_per_job

KINDS = ("READ", "WRITE", "META")
WAITED, _UNUSUAL = 5.0, 1000
"""Thresholds for the mean time of a metadata call on a file: in seconds, and as a multiple of the median file's. A file
above both waited for another process.
"""

ABOVE = {"POSIX": "MPI-IO", "STDIO": "MPI-IO", "DAOS": "DFS"}
"""For a layer, the layer above it, whose times contain its times for files that both know."""


@once_per_job
def io_seconds(job: Job) -> float | None:
    """Returns seconds of I/O of the slowest rank, each file in the highest layer that knows it; at most the run time.

    None for a log without records of I/O.
    """
    own, shared, known = np.zeros(max(job.nprocs, 1)), 0.0, False
    for name, part in highest_records(job):
        known = True
        mine, common = rank_seconds(job, name, part, KINDS)
        own, shared = own + mine, shared + common
    mine, common = extra_seconds(job)
    return min(job.run_time, float((own + mine).max()) + shared + common) if known else None


@once_per_job
def io_mean_seconds(job: Job) -> float | None:
    """Returns seconds of I/O of an average process, each file in the highest layer that knows it; None for a log
    without records of I/O.
    """
    return sum(kind_seconds(job).values()) / max(job.nprocs, 1) if highest_records(job) else None


@once_per_job
def kind_seconds(job: Job) -> dict[str, float]:
    """Returns seconds of reads, writes and metadata calls (KINDS) of all processes together, each file in the highest
    layer that knows it.
    """
    records = highest_records(job)
    found = {
        kind: sum(float(seconds_in(job, name, kind, waits=False)[part].sum()) for name, part in records)
        for kind in KINDS
    }
    mine, common = extra_seconds(job)
    found["META"] += float(mine.sum()) + common if records else 0.0
    return found


@once_per_job
def extra_seconds(job: Job) -> tuple[np.ndarray, float]:
    """Returns the seconds of each rank, and of all together, in POSIX calls that no record counts, such as rmdir and
    unlink.

    Calls on files that MPI-IO knows count as well, because MPI-IO's records have no time of MPI_File_delete, set_size
    and preallocate, nor of a program's own unlink. They do have the time of the unlink for MPI_MODE_DELETE_ON_CLOSE,
    which is therefore not in `posix_extra`.
    """
    extra, own = job.tables.get("posix_extra"), np.zeros(max(job.nprocs, 1))
    if extra is None or not len(extra):
        return own, 0.0
    rank, seconds = extra["rank"].astype(np.int64), extra["seconds"].astype(float)
    known = (rank >= 0) & (rank < len(own))
    return np.bincount(rank[known], seconds[known], len(own)), float(seconds[~known].sum())


@once_per_job
def highest_records(job: Job) -> list[tuple[str, np.ndarray]]:
    """Returns the layers, each with a mask of the records of files that no higher layer knows."""
    found = []
    for name in ("MPI-IO", "POSIX", "STDIO", "DFS", "DAOS"):
        records = job.records.get(name)
        if records is not None and len(records):
            above = job.records.get(ABOVE.get(name, ""))
            found.append((name, np.ones(len(records), bool) if above is None else ~among(records["id"], above["id"])))
    return found


@once_per_job
def _waited_for(job: Job, name: str) -> np.ndarray:
    """Returns which files of `by_file` belong to one process each and waited for another process when they were opened,
    as a pipe does.

    Their open, stat and seek took WAITED seconds per call or more, and _UNUSUAL times as long as those of the median
    file. A striped file waited for a server instead, which is I/O.
    """
    table = by_file(job, name) if name in ("POSIX", "STDIO") else None
    if table is None:
        return np.zeros(0, bool)
    calls = sum(table.get(counter, 0.0) for counter in ("OPENS", "STATS", "SEEKS"))
    each = table["F_META_TIME"] / np.maximum(calls, 1)
    if each.max() < WAITED:
        return np.zeros(0, bool)
    striped = job.records.get("LUSTRE")
    piped = np.asarray((each >= WAITED) & (each >= _UNUSUAL * np.median(each)) & (table["ranks"] == 1))
    return piped if striped is None else piped & ~np.isin(file_records(job, name).id, striped["id"])


def rank_seconds(
    job: Job, name: str, chosen: np.ndarray | None, kinds: tuple[str, ...], waits: bool = False
) -> tuple[np.ndarray, float]:
    """Returns each rank's seconds in its own records (array over ranks), and the sum over shared records of the slowest
    rank's seconds.

    `chosen` is a mask of the records that count; None: all. With `waits`, the time that opens waited for other
    processes counts, too.
    """
    rows: Any = slice(None) if chosen is None else chosen
    ranks = job.records[name]["rank"][rows]
    spent = sum((seconds_in(job, name, kind, waits=waits)[rows] for kind in kinds), start=np.zeros(len(ranks)))
    shared = ranks < 0
    slowest = np.maximum(job.records[name][f"{LAYERS[name].prefix}_F_SLOWEST_RANK_TIME"][rows], 0.0)[shared]
    common = np.where(slowest > 0, np.minimum(spent[shared], slowest), spent[shared])
    own = np.bincount(ranks[~shared], weights=spent[~shared], minlength=max(job.nprocs, 1))
    return own, float(common.sum())


@once_per_job
def seconds_in(job: Job, name: str, kind: str, *, waits: bool) -> np.ndarray:
    """Returns the seconds of each record in calls of a kind; the time in which its opens waited for other processes is
    left out unless `waits`.
    """
    recorded = job.records[name][f"{LAYERS[name].prefix}_F_{kind}_TIME"]
    spent = recorded if recorded.min(initial=0.0) >= 0 else np.maximum(recorded, 0.0)
    waited = _waited_for(job, name) if kind == "META" and not waits else np.zeros(0, bool)
    return np.where(waited[file_records(job, name).file], 0.0, spent) if waited.any() else spent


_OPERATIONS = {"READ": "read", "WRITE": "write", "META": "metadata"}


@once_per_job
def run_parts(job: Job) -> Records | None:
    """Returns the run time of an average process in parts that add up: layer, operation, seconds.

    A file's time counts in the highest layer that knows the file. The rest of the run time, which the log did not
    record, has neither layer nor operation. None for a log without times of I/O, and for a log whose calls overlapped
    so much that their sum exceeds the run time.
    """
    ranks = max(job.nprocs, 1)
    rows = [
        (name, _OPERATIONS[kind], float(seconds_in(job, name, kind, waits=False)[part].sum()) / ranks)
        for name, part in highest_records(job)
        for kind in KINDS
    ]
    own, common = extra_seconds(job)
    rows.append(("POSIX", "other calls", (float(own.sum()) + common) / ranks))
    rows = [row for row in rows if row[2] > 0]
    spent = sum(seconds for _, _, seconds in rows)
    if not rows or spent > job.run_time:
        return None
    return Records.of(["layer", "operation", "seconds"], [*rows, ("", "", job.run_time - spent)])


BEFORE = "time before recording began, s"
FIRST = "time from the start of recording to the program's first open of a file of its own, s"
LIBRARIES, ENTRIES, MISSING = "libraries loaded", "entries of LD_LIBRARY_PATH", "searched entries that are not folders"


@once_per_job
def start_up(job: Job) -> Records:
    """Returns one row per known fact: `what`, and its `least` and `most` value over the processes that have it. Files
    of libraries and modules are not a program's own. Entries of LD_LIBRARY_PATH have rows if any process had some.
    Without the region there are no rows.
    """
    table = job.tables.get("start_up", Records({}))
    if not len(table):
        return Records({})
    facts = {
        BEFORE: table["seconds"][~np.isnan(table["seconds"])],
        FIRST: _first_open(job),
        LIBRARIES: table["libraries"],
    }
    if table["entries"].any():
        facts |= {ENTRIES: table["entries"], MISSING: table["missing"][table["missing"] >= 0]}
    rows = [(what, float(values.min()), float(values.max())) for what, values in facts.items() if len(values)]
    return Records.of(["what", "least", "most"], rows)


def searched_in_vain(job: Job) -> tuple[int, int, int]:
    """Returns three numbers: the entries of LD_LIBRARY_PATH on the first rank, those among them that its loader
    searched although they are not folders, and the processes with as many entries. All are 0 if the log does not tell.
    """
    table = job.tables.get("start_up", Records({}))
    asked = np.flatnonzero(table["missing"] >= 0) if len(table) else np.zeros(0, int)
    if not len(asked):
        return 0, 0, 0
    entries = table["entries"]
    first = asked[0]
    return int(entries[first]), int(table["missing"][first]), int((entries == entries[first]).sum())


def _first_open(job: Job) -> np.ndarray:
    """Returns the time of the first open of a file that is not a library's, in seconds, as an array with one element;
    empty if there is none. The standard streams are open from the start.
    """
    times = [np.zeros(0)]
    for module in ("POSIX", "STDIO"):
        records = job.records.get(module)
        if records is not None:
            streams = np.array([job.names.get(key, "").startswith("<STD") for key in records["id"].tolist()], bool)
            own = records[f"{module}_F_OPEN_START_TIMESTAMP"][~of_libraries(job, records) & ~streams]
            times.append(own[own > 0])
    opened = np.concatenate(times)
    return opened[[opened.argmin()]] if len(opened) else opened
