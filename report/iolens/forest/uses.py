"""One row per file of a log: the sums over the layers at which bytes reach a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iolens.log.scan import Records, Scan
from iolens.metrics.files.overview import lowest_of

_LARGEST = ("size", "last")
_OPENS = {
    "POSIX": ("OPENS",),
    "STDIO": ("OPENS",),
    "DFS": ("OPENS",),
    "DAOS": ("OBJ_OPENS", "ARRAY_OPENS", "KV_OPENS"),
}
_READS = {"POSIX": ("READS",), "STDIO": ("READS",), "DFS": ("READS", "READXS"), "DAOS": ("OBJ_FETCHES", "ARRAY_READS")}
_WRITES = {
    "POSIX": ("WRITES",),
    "STDIO": ("WRITES",),
    "DFS": ("WRITES", "WRITEXS"),
    "DAOS": ("OBJ_UPDATES", "ARRAY_WRITES"),
}
_EDGES = ("OPEN", "READ", "WRITE", "CLOSE")


@dataclass(frozen=True, eq=False)
class Uses:
    """Arrays with an item a file: record id, bytes and calls, `size` (the highest offset that was touched plus one, 0:
    not known), `seconds` of reading, writing and metadata over all ranks, `first` and `last` moment of any call in
    seconds since the log's begin (0: not known)."""

    id: np.ndarray
    bytes_read: np.ndarray
    bytes_written: np.ndarray
    opens: np.ndarray
    reads: np.ndarray
    writes: np.ndarray
    size: np.ndarray
    read_seconds: np.ndarray
    write_seconds: np.ndarray
    meta_seconds: np.ndarray
    first: np.ndarray
    last: np.ndarray


def uses_of(found: Scan) -> Uses:
    """Returns all files of a log; bytes are whole numbers."""
    parts = [list(_columns(name, found.records[name])) for name in lowest_of(found.records)]
    if not parts:
        return Uses(np.zeros(0, "u8"), *[np.zeros(0, "i8")] * 6, *[np.zeros(0)] * 5)
    joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
    ids = joined[0]
    keys, place = np.unique(ids, return_inverse=True)
    if len(keys) == len(ids):
        return Uses(*joined)
    order = np.argsort(place, kind="stable")
    begin = np.searchsorted(place[order], np.arange(len(keys)))
    names = list(Uses.__dataclass_fields__)[1:]
    return Uses(keys, *(_together(name, each[order], begin) for name, each in zip(names, joined[1:], strict=True)))


def _together(name: str, values: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Returns the values of each file as one: their sum, the largest, or the earliest that is known."""
    if name == "first":
        early = np.minimum.reduceat(np.where(values > 0, values, np.inf), begin)
        return np.where(np.isfinite(early), early, 0.0)
    return np.asarray((np.maximum if name in _LARGEST else np.add).reduceat(values, begin))


def _columns(name: str, records: Records) -> Iterator[np.ndarray]:
    """Returns the fields of Uses, a row a record."""
    whole = records.whole
    read, written = whole("BYTES_READ"), whole("BYTES_WRITTEN")
    yield records.id
    yield read
    yield written
    for calls in (_OPENS, _READS, _WRITES):
        yield sum((whole(word) for word in calls[name][1:]), start=whole(calls[name][0]))
    highest = np.maximum(whole("MAX_BYTE_READ"), whole("MAX_BYTE_WRITTEN"))
    known = f"{records.prefix}_MAX_BYTE_READ" in records.places
    yield np.where((read + written > 0) & known, highest + 1, 0)
    for kind in ("READ", "WRITE", "META"):
        yield records.seconds(f"F_{kind}_TIME")
    starts, ends = ([records.seconds(f"F_{edge}_{end}_TIMESTAMP") for edge in _EDGES] for end in ("START", "END"))
    known_starts = np.where((np.array(ends) > 0) & (np.array(starts) > 0), starts, np.inf)
    early = known_starts.min(axis=0)
    yield np.where(np.isfinite(early), early, 0.0)
    yield np.max(ends, axis=0)
