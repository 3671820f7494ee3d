"""MPI-IO: requested and effective hints, the ranks that really wrote, and the effect of collective buffering on the
bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import families_of, settings_of_families
from iolens.metrics.grouping import Groups, labelled, most, ordered, without_repeats
from iolens.metrics.once import once_per_job

_WRITERS = (
    *("path", "files", "writers", "others", "bytes", "writes", "largest_write", "common_write", "not_aligned"),
    "seconds",
)
"""Columns of the result of `aggregators`."""

_UNSEEN = 0.01
"""Minimum part of a file's bytes that POSIX must have seen. Below it, POSIX missed the transfers, and the headers that
it saw do not represent the rest.
"""


@once_per_job
def hints(job: Job, by_family: bool = True) -> Records | None:
    """Returns MPI-IO hints by `path` and `key`: `requested` in the program's MPI_Info, `given` from outside instead
    (`iolens run --hints`), `effective` according to MPI_File_get_info at close; `files` is the number of files of a
    family that have these values.

    An empty text means not given or not reported. Returns None if the log does not record hints (Darshan does not).
    """
    found = job.tables.get("mpiio_hints")
    if found is None or not len(found):
        return None
    rows = without_repeats(found, "file", "key")
    rows = rows if "given" in rows else labelled(rows, "given", "")
    return settings_of_families(job, rows, ("key", "requested", "given", "effective"), by_family)


@once_per_job
def hints_unknown(job: Job) -> str:
    """Returns the reason why a log does not record hints."""
    if "iolens" in job.info:
        return f"iolens {job.info['iolens']} wrote none into this log"
    return "Darshan only counts hints; iolens records them"


@once_per_job
def file_rank_records(job: Job) -> Records | None:
    """Returns each rank's accesses to the files that several ranks used: the private table `file_ranks`, see
    profiler/LOG.md.

    A row of rank -1 is the sum over `ranks` ranks that have no row of their own. Files of which only one rank is known
    are not shared, and are left out. Returns None if the log does not record them, or there are none.
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
    """Returns `file_rank_records` as a frame."""
    found = file_rank_records(job)
    return None if found is None else found.frame()


@once_per_job
def aggregators(job: Job, limit: int = 20, by_family: bool = True) -> Records | None:
    """Returns the ranks that wrote to each file that several ranks opened, or to a family of such files: the observed
    aggregators.

    One row per file or family: path (a family's label), files, writers (ranks with POSIX writes), others (ranks of
    which only the sum is known, and some wrote; the most of a file), bytes, writes, largest_write, common_write (most
    frequent size of the writers known, weighted by its count), not_aligned (share of the writes whose offset is no
    multiple of the file's alignment), seconds (POSIX write time of the slowest writer known). Returns None if the log
    does not record writes by rank.
    """
    found = file_rank_records(job)
    if found is None:
        return None
    active = found.where(found["writes"] > 0)
    kin = families_of(job, active["file"], by_family)
    parts = Groups(kin.place).parts(np.arange(len(active)))
    rows = [
        (label, int(size), *_writers_of(active.where(part)))
        for label, size, part in zip(kin.labels, kin.sizes, parts, strict=True)
        if (active["rank"][part] >= 0).any()
    ]
    return most(Records.of(_WRITERS, rows), "bytes", limit)


def _writers_of(rows: Records) -> tuple[Any, ...]:
    """Returns the numbers of one row of `aggregators`; at least one writer is known."""
    known = rows.where(rows["rank"] >= 0)
    sizes, place = np.unique(known["common_write"], return_inverse=True)
    writes, ranks = int(rows["writes"].sum()), Groups(known["rank"])
    return (
        sorted(known["rank"][ranks.first].tolist()),
        int(rows["ranks"][rows["rank"] < 0].max(initial=0)),
        int(rows["bytes_written"].sum()),
        writes,
        int(rows["largest_write"].max()),
        int(sizes[np.bincount(place, known["common_write_count"]).argmax()]),
        float(rows["writes_not_aligned"].sum() / writes),
        float(ranks.sum(known["write_time"]).max()),
    )


@once_per_job
def byte_ratios(job: Job) -> dict[str, float | None]:
    """Returns the bytes that POSIX moved per byte moved by MPI-IO, for `read` and `write`, over the files for which
    both layers recorded transfers. 1: nothing is moved twice; above 1: data sieving or read-modify-write; below 1: data
    came from a buffer, or was moved by calls that are not recorded.

    None without such files or bytes; `unseen` tells where POSIX saw none.
    """
    mpi, posix = job.records.get("MPI-IO"), job.records.get("POSIX")
    if mpi is None or posix is None:
        return {"read": None, "write": None}
    found: dict[str, float | None] = {}
    for kind, counter in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
        above, below = _moved_above_and_below(mpi, posix, counter)
        both = (above > 0) & (below > _UNSEEN * above)
        found[kind] = float(below[both].sum() / above[both].sum()) if both.any() else None
    return found


@once_per_job
def read_unasked(job: Job) -> int:
    """Returns the bytes that POSIX read from files that MPI-IO wrote but did not read."""
    mpi = job.records.get("MPI-IO")
    if mpi is None:
        return 0
    read, below = _moved_above_and_below(mpi, job.records.get("POSIX"), "BYTES_READ")
    written, _ = _moved_above_and_below(mpi, None, "BYTES_WRITTEN")
    return int(below[(read == 0) & (written > 0)].sum())


def _moved_above_and_below(mpi: Records, posix: Records | None, counter: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the bytes of each MPI-IO file, and the bytes of the same file in POSIX calls."""
    files = Groups(mpi["id"])
    above = np.maximum(files.sum(mpi[f"MPIIO_{counter}"]), 0)
    below: dict[int, int] = {}
    if posix is not None:
        same = Groups(posix["id"])
        below = dict(zip(posix["id"][same.first].tolist(), same.sum(posix[f"POSIX_{counter}"]).tolist(), strict=True))
    return above, np.array([max(0, below.get(key, 0)) for key in mpi["id"][files.first].tolist()], "i8")


@once_per_job
def unseen(job: Job) -> dict[str, int]:
    """Returns the bytes that MPI-IO read and wrote (`read`, `write`) in files of which POSIX saw almost none: a gap in
    the records.

    MPI libraries may move bytes by calls that a profiler does not see (Darshan does not see those of Open MPI's own
    MPI-IO). Reads may also have been served from a collective buffer. If DFS or DAOS is recorded, the bytes went there.
    If POSIX saw as many reads as MPI-IO made, these asked for bytes past the end of the file, and nothing is missing.
    """
    mpi, posix = job.records.get("MPI-IO"), job.records.get("POSIX")
    found = {"read": 0, "write": 0}
    if mpi is None or "DFS" in job.records or "DAOS" in job.records:
        return found
    for kind, counter in (("read", "BYTES_READ"), ("write", "BYTES_WRITTEN")):
        above, below = _moved_above_and_below(mpi, posix, counter)
        missed = below <= _UNSEEN * above
        if kind == "read":
            missed &= ~_reads_past_end(mpi, posix)
        found[kind] = int(above[missed].sum())
    return found


def _reads_past_end(mpi: Records, posix: Records | None) -> np.ndarray:
    """Returns, for each MPI-IO file, whether POSIX saw at least as many reads of the file as MPI-IO made."""
    calls = np.asarray(sum(mpi[f"MPIIO_{way}_READS"] for way in ("INDEP", "COLL", "SPLIT", "NB")))
    made = mpi.beside({"MPIIO_READS": calls})
    above, below = _moved_above_and_below(made, posix, "READS")
    return (below >= above) & (below > 0)


def writer_count(writers: Sequence[Any], others: int) -> str:
    """Returns how many ranks wrote: `4`, or `1000 to 99000` when some of 98000 others wrote."""
    return f"{len(writers)} to {len(writers) + others}" if others else str(len(writers))


def listed_ranks(ranks: Sequence[Any]) -> str:
    """Returns ranks as ranges: `0-3, 8`."""
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


_COLLECTIVE = ("COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES")
"""Counters of collective reads and writes."""


@once_per_job
def collective_time(job: Job, by_family: bool = True) -> Records | None:
    """Returns where the time of collective calls went, per file or family of files for its aggregators (ranks with
    POSIX accesses) and the other ranks.

    Columns: path (a family's label), files, who (`aggregators`, `other ranks`), ranks, calls (of one rank, mean), and
    means over ranks: seconds, waiting (until the last rank had entered), access (POSIX time during the calls), exchange
    (the rest). A file without POSIX accesses has a row `all ranks`, without access and exchange. Returns None if the
    log does not record these times.
    """
    found = job.tables.get("mpiio_collectives")
    if found is None or not len(found):
        return None
    files = Groups(found["file"])
    seen = files.sum(found["access"])[files.place] > 0
    who = np.where(seen, np.where(found["access"] > 0, "aggregators", "other ranks"), "all ranks").astype(object)
    known = {name: np.where(seen, found[name], np.nan) for name in ("access", "exchange")}
    kin = families_of(job, found["file"], by_family)
    found = found.beside({**known, "who": who, "path": np.array(kin.labels, object)[kin.place]})
    groups = Groups(kin.place, found["who"])
    ranks = groups.distinct(found["rank"])
    means = {
        name: groups.sum(found[name].astype(float)) / ranks
        for name in ("calls", "seconds", "waiting", "access", "exchange")
    }
    table = found.take("path", "who").where(groups.first)
    return ordered(table.beside({"files": groups.distinct(found["file"]), "ranks": ranks, **means}), "path", "who")


@once_per_job
def has_collective_transfers(job: Job) -> bool:
    """Returns whether ranks read or wrote in collective calls of MPI-IO."""
    rows = job.records.get("MPI-IO")
    return rows is not None and any(bool((rows[f"MPIIO_{name}"] > 0).any()) for name in _COLLECTIVE)


@once_per_job
def exchange_times(job: Job) -> Records | None:
    """Returns mean seconds of the aggregators in collective calls, one row per file, by `id`: seconds, waiting, access,
    exchange.

    Aggregators are the ranks that made POSIX accesses during these calls. None if the log does not record the times.
    """
    found = job.tables.get("mpiio_collectives")
    if found is None or not len(found):
        return None
    active = ordered(found.where((found["access"] > 0) & ~np.isnan(found["exchange"])), "file")
    files = Groups(active["file"])
    times = ("seconds", "waiting", "access", "exchange")
    means = {name: files.sum(active[name]) / files.sizes for name in times}
    return Records({"id": active["file"][files.first], **means})
