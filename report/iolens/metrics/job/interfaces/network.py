"""Bytes over the network, from the private regions `connections` and `http_requests`."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import paths
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job


def _by_place(table: Records, place: str, sums: str) -> tuple[Records, Groups]:
    """Returns one row per value of the column `place`: the `ranks` that have it, and `sums` (names) over them."""
    same = Groups(table[place])
    numbers = {name: same.sum(table[name]) for name in sums.split()}
    found = Records({place: table[place][same.first], "ranks": same.sum(np.ones(len(table), int))} | numbers)
    return found, same


@once_per_job
def connections(job: Job) -> Records:
    """Returns one row per `address` at the other end of TCP connections that the job made: `ranks`, `connections`,
    `established`, `received`, `sent` and `resent` bytes over all ranks (NaN: no connection was established),
    `connect_seconds` of the slowest rank, and the `shortest_rtt` in seconds (NaN: none was measured).
    """
    table = job.tables.get("connections", Records({}))
    if not len(table):
        return Records({})
    found, same = _by_place(table, "address", "connections established received sent resent")
    trips = np.where(table["shortest_rtt"] > 0, table["shortest_rtt"], np.nan)
    known = found["established"] > 0
    moved = {name: np.where(known, found[name], np.nan) for name in ("received", "sent", "resent")}
    times = {"connect_seconds": same.max(table["connect_seconds"]), "shortest_rtt": -same.max(-trips)}
    return ordered(found.beside(moved | times), "-received")


@once_per_job
def http_requests(job: Job) -> Records:
    """Returns one row per `url` that the job asked for through libcurl: `ranks`, `requests`, `partial`, `failed`,
    `received` and `sent` bytes over all ranks, and of the slowest rank `seconds` in requests and the
    `first_byte_seconds` until their first bytes. `again`: the bytes that a rank had fetched before (at least; NaN in
    logs of earlier versions). `used`: the bytes that HDF5 gave the program from this file (NaN: it did not open it).
    """
    table = job.tables.get("http_requests", Records({}))
    if not len(table):
        return Records({})
    found, same = _by_place(table, "url", "requests partial failed received sent")
    times = {name: same.max(table[name]) for name in ("seconds", "first_byte_seconds")}
    known = "distinct" in table
    again = table["received"] - table["distinct"] - table["unplaced"] if known else np.full(len(table), np.nan)
    used = _bytes_used(job)
    bytes_used = np.array([used.get(str(url), np.nan) for url in found["url"].tolist()], float)
    return ordered(found.beside(times | {"again": same.sum(again), "used": bytes_used}), "-received")


def _bytes_used(job: Job) -> dict[str, float]:
    """Returns the bytes that HDF5 gave the program from its datasets, by the address of the file."""
    datasets = job.records.get("H5D")
    if datasets is None:
        return {}
    same = Groups(datasets["file_id"])
    read = same.sum(datasets["H5D_BYTES_READ"]).tolist()
    return dict(zip(paths(job, datasets["file_id"][same.first].tolist()), read, strict=True))
