"""Traced accesses (DXT_POSIX, DXT_MPIIO), read piece by piece: ten million of them fit into half a gigabyte.

A record is the file's id, its rank, a flag, the host's name, the numbers of writes and of reads, and then one segment
for each access.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from iolens.foreign import decoded
from iolens.lazy import pd
from iolens.log.format.container import Container, Region, inflated_pieces
from iolens.log.format.variable import damaged
from iolens.log.records import Records, numbered

_OPERATIONS = ("write", "read")
"""The operations in their order within a record."""

STEP = 1 << 20
"""Maximum number of rows by which a growing frame is extended at once; a smaller frame doubles."""

_SEGMENT = {"offset": "i8", "length": "i8", "start": "f8", "end": "f8"}


@dataclass(frozen=True)
class RecordHead:
    """The values that all accesses of a record share, and the number of its accesses for each of _OPERATIONS."""

    id: int
    rank: int
    host: str
    counts: tuple[int, int]


def read_dxt(log: Container, region: Region) -> Records:
    """Returns one row per traced access: id, rank, host, op (`write` or `read`), offset, length, start, end.

    `host` and `op` are categories; the rows of a record follow one another. Offsets are -1 in the first version of
    DXT_MPIIO, and where Open MPI was used, because they were not recorded. DXT_POSIX from version 2 and DXT_MPIIO from
    version 3 have one more column, thread: the thread that made the call, numbered within its rank by its first access,
    from 0.
    """
    heads: list[RecordHead] = []
    segments = _joined_columns(_segments_of(log, region, heads), _segment_type(log, region))
    each = np.array([sum(head.counts) for head in heads], dtype=np.int64)
    for column in segments.values():
        column.resize(each.sum(), refcheck=False)
    hosts = numbered(dict.fromkeys(head.host for head in heads))
    columns = _of_records(heads, each, hosts) | segments
    if region.version == 1 and region.name == "DXT_MPIIO":
        columns["offset"][:] = -1
    if "thread" in columns:
        columns["thread"] = _thread_numbers(columns["rank"], columns["start"], columns["thread"])
    return Records(columns, coded={"host": [*hosts], "op": _OPERATIONS})


def _joined_columns(pieces: Iterable[np.ndarray], layout: np.dtype[np.void]) -> dict[str, np.ndarray]:
    """Returns the fields of all pieces as arrays in this machine's byte order.

    The arrays grow in place, because joining pieces at the end would take twice the memory.
    """
    columns = {name: np.empty(0, layout[name].newbyteorder("=")) for name in layout.names or ()}
    rows = room = 0
    for piece in pieces:
        if rows + len(piece) > room:
            room = max(room + min(room, STEP), rows + len(piece))
            for column in columns.values():
                column.resize(room, refcheck=False)
        for name, column in columns.items():
            column[rows : rows + len(piece)] = piece[name]
        rows += len(piece)
    return columns


def _segment_type(log: Container, region: Region) -> np.dtype[np.void]:
    """Returns the fields of a traced access in a log."""
    return np.dtype([(name, log.order + kind) for name, kind in dxt_fields(region).items()])


def dxt_fields(region: Region) -> dict[str, str]:
    """Returns the fields of an access and their types: offset, length, start, end, in newer versions the thread."""
    return {**_SEGMENT, "thread": "i8"} if region.version > (1 if region.name == "DXT_POSIX" else 2) else _SEGMENT


def _segments_of(log: Container, region: Region, heads: list[RecordHead]) -> Iterator[np.ndarray]:
    """Yields the segments of all records in pieces; the heads of complete records are appended to `heads`. In a
    truncated file the segments of an incomplete record come last.
    """
    shape, layout = struct.Struct(f"{log.order}Qqq64sqq"), _segment_type(log, region)
    data, left = b"", 0
    for piece in inflated_pieces(log, region):
        data, at = data + piece, 0
        while left or len(data) - at >= shape.size:
            if not left:
                key, rank, _, host, *counts = shape.unpack_from(data, at)
                head = RecordHead(key, rank, decoded(host.split(b"\0")[0]), (counts[0], counts[1]))
                if min(counts) < 0:
                    if region.cut:
                        return
                    raise damaged(log, region)
                at, left = at + shape.size, sum(counts)
                continue
            count = min(left, (len(data) - at) // layout.itemsize)
            if not count:
                break
            yield np.frombuffer(data, layout, count, at)
            at, left = at + count * layout.itemsize, left - count
            if not left:
                heads.append(head)
        data = data[at:]
    if (data or left) and not region.cut:
        raise damaged(log, region)


def _of_records(heads: list[RecordHead], each: np.ndarray, hosts: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Returns the columns whose values are the same for all accesses of a record, or for all its accesses of one
    operation.
    """
    host = np.array([hosts[head.host] for head in heads], dtype=np.int32 if len(hosts) > 127 else np.int8)
    counts = np.array([head.counts for head in heads], dtype=np.int64).ravel()
    operations = np.tile(np.arange(len(_OPERATIONS), dtype=np.int8), len(heads))
    ranks = np.array([head.rank for head in heads], dtype=np.int64)
    return {
        "id": np.repeat(np.array([head.id for head in heads], dtype=np.uint64), each),
        "rank": np.repeat(ranks.astype(np.int32) if np.array_equal(ranks, ranks.astype(np.int32)) else ranks, each),
        "host": np.repeat(host, each),
        "op": np.repeat(operations, counts),
    }


def _thread_numbers(ranks: np.ndarray, starts: np.ndarray, threads: np.ndarray) -> np.ndarray:
    """Returns small numbers for the threads of each rank, in the order of their first accesses.

    A log identifies a thread by its pthread_self(), an address that has no meaning outside its process.
    """
    code, known = pd.factorize(threads)
    pairs = ranks.astype(np.int64) * max(1, len(known)) + code
    pair, rows = pd.factorize(pairs)
    first = np.full(len(rows), np.inf)
    np.minimum.at(first, pair, starts)
    table = pd.DataFrame(
        {"rank": rows // max(1, len(known)), "first": first, "thread": known[rows % max(1, len(known))]}
    )
    table = table.sort_values(["rank", "thread"], kind="stable")
    numbers = table.groupby("rank")["first"].rank(method="first").astype(np.int32) - 1
    return np.asarray(numbers.sort_index().to_numpy()[pair])
