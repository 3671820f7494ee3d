"""Bytes over the network, from the private regions `connections` and `http_requests`."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import families_of_names, grouped_rows
from iolens.metrics.files.overview import paths
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job


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
