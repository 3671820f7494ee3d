"""Special uses of files: locks, mapped memory, bytes read again, imbalance between the ranks of a shared file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import families_of, grouped_files
from iolens.metrics.files.overview import lowest
from iolens.metrics.grouping import Groups, labelled, ordered, stacked
from iolens.metrics.job.interfaces.layers import io_time
from iolens.metrics.once import once_per_job
from iolens.metrics.times.traces import PIECE, record_slices


@once_per_job
def file_locks(job: Job, by_family: bool = True) -> Records:
    """Returns one row per file or family of files that were locked: `path`, `files`, `ranks`, and over all ranks
    `locks` (calls that took one), `exclusive`, `refused` (calls that did not wait for it) and `waits` (calls above
    1 ms), `unended` (calls that waited when the process was killed); `seconds` of the slowest rank in calls that take
    or release locks, and the `longest` such call.
    """
    table = job.tables.get("file_locks", Records({}))
    if not len(table):
        return Records({})
    files = grouped_files(job, table, by_family)
    counts = {name: files.same.sum(table[name]) for name in ("locks", "exclusive", "refused", "waits")}
    counts["unended"] = files.same.sum(table.get("unended", np.zeros(len(table), np.int64)))
    times = {"seconds": files.of_busiest_rank("seconds"), "longest": files.same.max(table["longest"])}
    return ordered(files.names.beside(counts | times), "-seconds")


@once_per_job
def rank_lock_seconds(job: Job) -> np.ndarray:
    """Returns the seconds that each rank spent in calls that take or release locks, over all files."""
    table = job.tables.get("file_locks", Records({}))
    if not len(table):
        return np.zeros(max(job.nprocs, 1))
    rank = np.clip(table["rank"].astype(np.int64), 0, max(job.nprocs, 1) - 1)
    return np.bincount(rank, table["seconds"], max(job.nprocs, 1))


_SUMS = "mappings bytes told in_memory forbidden major_faults storage_read storage_written syncs random_advice"


@once_per_job
def mapped_files(job: Job, by_family: bool = True) -> Records:
    """Returns one row per file or family of files that were mapped: `path`, `files`, `ranks`, and over all ranks
    `mappings`, `bytes` mapped, `told` (mappings for which the kernel reported pages), `major_faults`, `storage_read`
    and `storage_written` bytes, `syncs`; for the rank with the most, the bytes `fetched` from storage and those
    `reached` in its page table (NaN: the kernel reported none, and `lacks` says why); `sync_seconds` of the slowest
    rank.

    `fetched` is not added over ranks, because the ranks of a node share the pages that one of them fetched.
    """
    table = job.tables.get("mapped_files", Records({}))
    if not len(table):
        return Records({})
    files = grouped_files(job, table, by_family)
    sums = {name: files.same.sum(table[name]) for name in _SUMS.split()}
    found = files.names.beside(sums)
    most = {name: files.of_busiest_rank(name) for name in ("fetched", "reached", "sync_seconds")}
    known = {name: np.where(sums["told"] > 0, most[name], np.nan) for name in ("fetched", "reached")}
    lacks = [_lacks(*counts) for counts in found.rows("mappings", "told", "in_memory", "forbidden")]
    more = {"sync_seconds": most["sync_seconds"], "lacks": np.array(lacks, dtype=object)}
    return ordered(found.beside(known | more), "-fetched")


def _lacks(mappings: int, told: int, in_memory: int, forbidden: int) -> str:
    """Returns the reason why the bytes that storage delivered are not known for all mappings of a file; empty if they
    are known.
    """
    if told >= mappings:
        return ""
    reasons = ["kept in memory"] * bool(in_memory) + ["not this user's file"] * bool(forbidden)
    rest = mappings - told - in_memory - forbidden
    return ", ".join([*reasons, *(["not asked"] if rest > 0 else [])])


@once_per_job
def cold_and_warm(job: Job) -> Records | None:
    """Returns one row per file from which a rank read the same range more than once, by `id`: cold and warm (bytes per
    second of the first reading and of later ones), bytes (read again).

    A transfer is read again when the same rank has read the same offset and length of the file before. None without
    traces or without such transfers.
    """
    traced = job.records.get("DXT_POSIX")
    if traced is None:
        return None
    parts = [_read_sums(traced, places) for places in _batches(record_slices(traced))]
    if not any(part["again"].any() for part in parts):
        return None
    rows = {name: np.concatenate([part[name] for part in parts]) for name in ("id", "again", "bytes", "seconds")}
    ids, file = np.unique(rows["id"], return_inverse=True)
    moved, spent = (
        [np.bincount(file, np.where(rows["again"] == again, rows[name], 0), len(ids)) for again in (False, True)]
        for name in ("bytes", "seconds")
    )
    both = (spent[0] != 0) & (spent[1] != 0)
    cold, warm = (moved[again][both] / spent[again][both] for again in (False, True))
    return Records({"id": ids[both], "cold": cold, "warm": warm, "bytes": moved[True][both]})


def _batches(found: Mapping[tuple[int, int], list[slice]]) -> Iterator[np.ndarray]:
    """Yields positions of rows, in batches of whole records with `PIECE` rows or more."""
    held: list[np.ndarray] = []
    count = 0
    for slices in found.values():
        held += [np.arange(place.start, place.stop) for place in slices]
        count += sum(place.stop - place.start for place in slices)
        if count >= PIECE:
            yield np.concatenate(held)
            held, count = [], 0
    if held:
        yield np.concatenate(held)


def _read_sums(traced: Records, places: np.ndarray) -> Records:
    """Returns the bytes and seconds of reading for all accesses of some records, by `id` and whether they read the
    bytes `again`.
    """
    places = places[traced.says("op", "read")[places] & (traced["length"][places] > 0)]
    where = [traced[name][places] for name in ("length", "offset", "rank", "id")]
    order = np.lexsort([traced["start"][places], *where])
    same = np.ones(max(0, len(order) - 1), dtype=bool)
    for values in where:
        same &= values[order[1:]] == values[order[:-1]]
    again = np.zeros(len(order), dtype=bool)
    again[order[1:][same]] = True
    ids, file = np.unique(where[-1], return_inverse=True)
    spent = traced["end"][places] - traced["start"][places]
    sums = [np.bincount(2 * file + again, values, 2 * len(ids)) for values in (where[0], spent)]
    found = {"id": np.repeat(ids, 2), "again": np.tile([False, True], len(ids)), "bytes": sums[0], "seconds": sums[1]}
    return Records(found).where(np.bincount(2 * file + again, minlength=2 * len(ids)) > 0)


_SIDES = ("fastest", "slowest")


@once_per_job
def variance(job: Job, limit: int = 20, by_family: bool = True) -> Records:
    """Returns the files that several ranks used, sorted by the time of their slowest rank, longest first. Each file is
    taken from the lowest layer that recorded it. A family of files is represented by its file with the longest time of
    a slowest rank.

    Columns: id, module, processes, fastest_rank, fastest_seconds, fastest_bytes, the same for slowest, sigma_seconds,
    sigma_bytes (standard deviations over these ranks), path (a family's label), files (of the family). The time of a
    rank is its read, write and metadata time. DFS and DAOS keep no deviations (NaN). Empty for a single process.
    """
    parts = []
    for name in lowest(job) if job.nprocs > 1 else ():
        found = stacked([_by_all(job.records[name], name, job.nprocs), _by_some(job.records[name], name)])
        parts.append(found.where(found["slowest_seconds"] > 0))
    if not parts:
        return Records({})
    every = ordered(stacked(parts), "-slowest_seconds")
    kin = families_of(job, every["id"], by_family)
    names = {"path": np.array(kin.labels, object), "files": kin.sizes}
    return every.where(Groups(kin.place).first).beside(names).where(slice(limit))


def _by_all(records: Records, name: str, nprocs: int) -> Records:
    """Returns the files that all ranks used, from their merged records (rank -1); Darshan's variances are over all
    ranks.
    """
    shared = records.where(records["rank"] < 0)
    columns = {"processes": np.full(len(shared), nprocs)}
    for side in _SIDES:
        columns[f"{side}_rank"] = shared[f"{name}_{side.upper()}_RANK"]
        columns[f"{side}_seconds"] = shared[f"{name}_F_{side.upper()}_RANK_TIME"]
        columns[f"{side}_bytes"] = shared[f"{name}_{side.upper()}_RANK_BYTES"]
    for what, column in (("TIME", "sigma_seconds"), ("BYTES", "sigma_bytes")):
        variance = shared.get(f"{name}_F_VARIANCE_RANK_{what}")
        columns[column] = np.full(len(shared), np.nan) if variance is None else np.sqrt(np.maximum(variance, 0))
    return labelled(shared.take("id"), "module", name).beside(columns)


def _by_some(records: Records, name: str) -> Records:
    """Returns the files that two or more ranks used but not all: each rank has a record of its own, and these are
    grouped here.
    """
    files = Groups(records["id"])
    own = records.where((records["rank"] >= 0) & (files.sizes[files.place] > 1))
    values = {
        "seconds": io_time(own, name),
        "bytes": np.sum([np.maximum(own[f"{name}_BYTES_{kind}"], 0) for kind in ("READ", "WRITTEN")], axis=0),
    }
    files = Groups(own["id"])
    columns = {"processes": files.distinct(own["rank"])}
    rows = files.parts(np.arange(len(own)))
    for side, place in zip(_SIDES, (np.argmin, np.argmax), strict=True):
        chosen = np.array([part[place(values["seconds"][part])] for part in rows], np.intp)
        columns[f"{side}_rank"] = own["rank"][chosen]
        columns |= {f"{side}_{what}": each[chosen] for what, each in values.items()}
    columns |= {f"sigma_{what}": files.of(np.std, each) for what, each in values.items()}
    found = labelled(own.take("id").where(files.first), "module", name).beside(columns)
    return found.where(found["processes"] > 1)
