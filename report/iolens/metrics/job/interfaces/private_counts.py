"""Counts that Darshan has no records for: other and failed calls, GPUs, Lustre clients, io_uring, the network, and
resources of processes.
"""

from __future__ import annotations

from errno import errorcode

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import families_of_names, grouped_rows
from iolens.metrics.files.overview import paths
from iolens.metrics.grouping import Groups, ordered, without_repeats
from iolens.metrics.once import once_per_job
from iolens.missing import is_nan

_KEYS = ("file", "rank", "seconds", "sync_seconds")


@once_per_job
def other_calls(job: Job) -> Records:
    """Returns one row per kind of call that occurred: `call` (plural, as in the region), `count` and `files` over all
    ranks.
    """
    table = job.tables.get("posix_extra", Records({}))
    rows = [(call, *_used(table, call)) for call in table.names if call not in _KEYS and _used(table, call)[0]]
    return ordered(Records.of(["call", "count", "files"], rows), "-count")


@once_per_job
def other_mpiio_calls(job: Job) -> Records:
    """Returns one row per kind of MPI-IO call that occurred: `call`, `count`, `files` and `seconds`, over all ranks."""
    table = job.tables.get("mpiio_extra", Records({}))
    rows = [
        (call.replace("_", " "), *_used(table, call), float(table[f"{call}_seconds"][table[call] > 0].sum()))
        for call in table.names
        if f"{call}_seconds" in table and _used(table, call)[0]
    ]
    return ordered(Records.of(["call", "count", "files", "seconds"], rows), "-seconds")


def _used(table: Records, call: str) -> tuple[int, int]:
    """Returns how often a call was made, and on how many files."""
    made = table[call] > 0
    return int(table[call][made].sum()), len(Groups(table["file"][made]))


MISSING = ("ENOENT", "ENOTDIR")
"""Errors of a path that does not exist."""


@once_per_job
def failed_calls(job: Job) -> Records:
    """Returns one row per `operation` and `error` (its name, such as ENOENT) that occurred. `calls` and `seconds` are
    sums over all ranks, and `ranks` is the number of ranks with such calls. `most` and `slowest` are the largest number
    of calls and of seconds of any rank.
    """
    table = job.tables.get("failed_calls", Records({}))
    if not len(table):
        return Records({})
    same = Groups(table["operation"], table["error"])
    first = table.where(same.first)
    errors = [errorcode.get(int(error), f"errno {int(error)}") for error in first["error"].tolist()]
    found = Records.of(["operation", "error"], list(zip(first["operation"].tolist(), errors, strict=True)))
    numbers = {"calls": same.sum(table["calls"]), "ranks": same.sum(table["calls"] > 0)}
    numbers |= {"most": same.max(table["calls"])}
    numbers |= {"seconds": same.sum(table["seconds"]), "slowest": same.max(table["seconds"])}
    return ordered(found.beside(numbers), "-calls")


_REASONS = {
    0: "no transfers",
    -1: "was unloaded or had ended before the profiler asked it",
    -2: "crashed when the profiler asked it",
    -3: "did not answer within 2 s",
    -4: "could not be asked: no process could be started for it",
    -5: "keeps no statistics",
    -6: "gave contradictory numbers; perhaps iolens does not know its version",
}
"""Explanations of the negative values in the column `error`, by which the profiler says why it has no numbers. All
other values are error codes of the library.
"""


@once_per_job
def gpu_storage(job: Job) -> Records:
    """Returns one row per rank and GPU: `rank`, `library`, `gpu`, `bytes_read`, `reads`, `posix_reads` (through memory
    of the processor), `bytes_written`, `writes`, `posix_writes`, and `read_seconds` and `write_seconds`, which are
    sums made by the library. NaN if the library reported nothing; `lacks` says why.
    """
    table = job.tables.get("gpu_storage", Records({}))
    if not len(table):
        return Records({})
    counts = "bytes_read reads posix_reads bytes_written writes posix_writes read_seconds write_seconds".split()
    told = table["gpu"] >= 0
    known = {name: np.where(told, table[name], np.nan) for name in counts}
    lacks = ["" if gpu >= 0 else _silence_reason(error) for gpu, error in table.rows("gpu", "error")]
    gpus = np.where(told, table["gpu"], np.nan)
    return table.take("rank", "library").beside({"gpu": gpus} | known | {"lacks": np.array(lacks, dtype=object)})


def _silence_reason(error: int) -> str:
    """Returns the reason why the library reported nothing."""
    return _REASONS.get(error, f"no statistics of level 3 (error {error})")


_LUSTRE_CLIENT_KEYS = ["node", "layer", "device", "counter"]


@once_per_job
def client_counters(job: Job) -> Records | None:
    """Returns one row per counter: layer, counter, unit, nodes, samples and sum (differences over the job, all nodes
    together).

    `layer` llite counts the calls of programs, osc the requests to storage targets; every program of a node is in its
    counters. If several ranks of a node have read the counters, those of the lowest rank are used. None if no rank has.
    """
    table = job.tables.get("lustre_client")
    if table is None or not len(table):
        return None
    table = without_repeats(ordered(table, "rank"), *_LUSTRE_CLIENT_KEYS)
    named = ["layer", "counter", "unit"]
    groups = Groups(*(table[name] for name in named))
    sums = {
        "nodes": groups.distinct(table["node"]),
        "samples": groups.sum(table["samples_after"] - table["samples_before"]),
        "sum": groups.sum(table["sum_after"] - table["sum_before"]),
    }
    return ordered(table.take(*named).where(groups.first).beside(sums), "layer", "-samples")


@once_per_job
def rings(job: Job) -> Records:
    """Returns one row per count of the region that is not 0, such as `requests`: its `name`, the `total` over all
    ranks, and the number of `ranks` that have it. Counts whose name ends in `bytes` are in bytes.
    """
    table = job.tables.get("io_uring", Records({}))
    counts = {name: values for name, values in table.single.items() if name != "rank" and values.any()}
    if not counts:
        return Records({})
    rows = [(name, int(values.sum()), int((values > 0).sum())) for name, values in counts.items()]
    return Records.of(["name", "total", "ranks"], rows)


@once_per_job
def connections(job: Job) -> Records:
    """Returns one row per `address` at the other end of TCP connections that the job made: `ranks`, `connections`,
    `established`, `received`, `sent` and `resent` bytes over all ranks (NaN: no connection was established),
    `connect_seconds` of the slowest rank, and the `shortest_rtt` in seconds (NaN: none was measured).
    """
    table = job.tables.get("connections", Records({}))
    if not len(table):
        return Records({})
    same = Groups(table["address"])
    sums = {name: same.sum(table[name]) for name in ("connections", "established", "received", "sent", "resent")}
    found = Records({"address": table["address"][same.first], "ranks": same.sizes} | sums)
    trips = np.where(table["shortest_rtt"] > 0, table["shortest_rtt"], np.nan)
    known = found["established"] > 0
    moved = {name: np.where(known, found[name], np.nan) for name in ("received", "sent", "resent")}
    times = {"connect_seconds": same.max(table["connect_seconds"]), "shortest_rtt": -same.max(-trips)}
    return ordered(found.beside(moved | times), "-received")


@once_per_job
def http_requests(job: Job, by_family: bool = True) -> Records:
    """Returns one row per `url` or family of addresses that the job asked for through libcurl: `files` (addresses),
    `ranks`, `requests`, `partial`, `failed`, `received` and `sent` bytes over all ranks, and of the slowest rank
    `seconds` in requests and the `first_byte_seconds` until their first bytes. `again`: the bytes that a rank had
    fetched before (at least; NaN in logs of earlier versions). `used`: the bytes that HDF5 gave the program from these
    files (NaN: it did not open all of them).
    """
    table = job.tables.get("http_requests", Records({}))
    if not len(table):
        return Records({})
    kin = families_of_names(table["url"], by_family)
    urls = grouped_rows(table, kin)
    found = {"url": urls.names["path"], "files": urls.names["files"], "ranks": urls.names["ranks"]}
    found |= {name: urls.same.sum(table[name]) for name in ("requests", "partial", "failed", "received", "sent")}
    found |= {name: urls.of_busiest_rank(name) for name in ("seconds", "first_byte_seconds")}
    known = "distinct" in table
    again = table["received"] - table["distinct"] - table["unplaced"] if known else np.full(len(table), np.nan)
    first = Groups(table["url"]).first
    given = _bytes_used(job)
    used = np.array([given.get(str(url), np.nan) for url in table["url"][first].tolist()], float)
    sums = {"again": urls.same.sum(again), "used": Groups(kin.place[first]).sum(used)}
    return ordered(Records(found | sums), "-received")


def _bytes_used(job: Job) -> dict[str, float]:
    """Returns the bytes that HDF5 gave the program from its datasets, by the address of the file."""
    datasets = job.records.get("H5D")
    if datasets is None:
        return {}
    same = Groups(datasets["file_id"])
    read = same.sum(datasets["H5D_BYTES_READ"]).tolist()
    return dict(zip(paths(job, datasets["file_id"][same.first].tolist()), read, strict=True))


MEASURES = {
    "max_rss": ("largest resident set", "bytes"),
    "user_time": ("processor time in the program", "seconds"),
    "system_time": ("processor time in the kernel", "seconds"),
    "minor_faults": ("page faults served from memory", "times"),
    "major_faults": ("page faults that read from storage", "times"),
    "voluntary_switches": ("number of times that the process waited and gave up its core", "times"),
    "involuntary_switches": ("number of times that the process lost its core, or gave it up by sched_yield", "times"),
}
"""Columns of the region that are shown, with their meaning and unit."""


@once_per_job
def rank_usage(job: Job) -> Records | None:
    """Returns the region's rows of single ranks, by rank; None if the log does not have it."""
    table = job.tables.get("process")
    return None if table is None or not len(table) else ordered(table.where(table["rank"] >= 0), "rank")


@once_per_job
def usage(job: Job) -> Records | None:
    """Returns one row per measure: what, unit, total (NaN for sizes), mean of a rank, most and most_rank (of one rank).

    If the log keeps only the sum of some ranks (a row of rank -1), mean sizes are not known (NaN), and the most is
    known only for the resident set. None if the log does not have the region.
    """
    apart = rank_usage(job)
    if apart is None:
        return None
    table = job.tables["process"]
    whole, ranks, nothing = len(apart) == len(table), int(table["ranks"].sum()), float("nan")
    rows = []
    for column, (what, unit) in MEASURES.items():
        is_sum, values = unit != "bytes", table[column]
        total = float(values.sum()) if is_sum else nothing
        mean = total / max(1, ranks) if is_sum else float(values.mean()) if whole else nothing
        most = float(values.max()) if whole or not is_sum else nothing
        where = int(table["rank"][values.argmax()]) if not is_nan(most) else -1
        rows.append((what, unit, total, mean, most, where if where >= 0 else nothing))
    return Records.of(["what", "unit", "total", "mean", "most", "most_rank"], rows)
