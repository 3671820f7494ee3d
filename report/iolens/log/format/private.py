"""The private regions of a log, which follow Darshan's last region and describe themselves: see profiler/LOG.md."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from iolens.foreign import checked
from iolens.log.format.columns import Columns
from iolens.log.format.container import Container, LogError, streams
from iolens.log.known import check_region
from iolens.log.records import Records
from iolens.memory import free_memory

FOOTER = struct.Struct("<8sQQQ")
MAGIC = b"iolens01"
MEMORY_PER_ROW = {"why_events": 750}
"""Tables whose first rows can be analysed without the others, and the bytes of memory that the analysis of a row takes.
"""

_SMALLEST = {"rank": -1, "peer": -3}
"""Columns that hold ranks, with the smallest value: -1 stands for all ranks; why_events.peer explains the others."""

_SHARE = 0.8
"""Part of the free memory that the analysis of such a table may take."""


@dataclass(frozen=True)
class Entry:
    """An entry of the directory of private regions: offset, compressed size and kind."""

    name: str
    kind: str
    offset: int
    length: int


def read_private(log: Container, entry: Entry, ranks: int) -> Records | dict[str, Any]:
    """Returns a private region, a table or a dict; raises LogError if it is damaged. Tables in MEMORY_PER_ROW have only
    the first rows of each rank, in equal numbers, if memory does not suffice for all.
    """
    with damage_in(log, f"its private region {entry.name}"):
        in_part = entry.kind == "table" and entry.name in MEMORY_PER_ROW
        said = _rows_that_fit(log, entry, ranks) if in_part else _READERS[entry.kind](inflated(log, entry))
        check_region(entry.name, said)
        if isinstance(said, Columns):
            _check_ranks(said, ranks)
    return _records(said) if isinstance(said, Columns) else said


def _check_ranks(said: Columns, ranks: int) -> None:
    """Raises ValueError if a row names a rank that the job does not have."""
    for column, smallest in _SMALLEST.items():
        if said.rows and said.kind(column) in "iu":
            least, most = said.extremes(column)
            if not smallest <= least <= most < ranks:
                raise ValueError(f"a row has a {column} that a job of {ranks} does not have")


def _records(said: Columns) -> Records:
    """Returns the rows of a table."""
    records = Records(said, count=said.rows)
    records.left_out = said.left_out
    return records


def _rows_that_fit(log: Container, entry: Entry, ranks: int) -> Columns:
    """Returns as many of each rank's first rows as memory suffices for."""
    free = free_memory()
    most = None if free is None else int(_SHARE * free / MEMORY_PER_ROW[entry.name] / max(ranks, 1))
    return Columns(streams("zlib", _stored(log, entry), together=False), most)


def entries_of(log: Container) -> tuple[Entry, ...] | None:
    """Returns the directory; None in a log that another profiler wrote. Raises LogError if the directory is damaged."""
    if len(log.data) < FOOTER.size or log.data[-FOOTER.size :][:8] != MAGIC:
        return None
    _, offset, length, _ = FOOTER.unpack(log.data[-FOOTER.size :])
    with damage_in(log, "the directory of its private regions"):
        regions = json.loads(log.data[offset : offset + length])["regions"]
        return tuple(_directory_entry(log, region) for region in regions)


def _directory_entry(log: Container, region: dict[str, Any]) -> Entry:
    """Returns one row of the directory, checked."""
    entry = Entry(region["name"], region["kind"], region["offset"], region["bytes"])
    if not isinstance(entry.name, str) or entry.kind not in _READERS:
        raise ValueError("a region has no name or is of an unknown kind")
    if not (isinstance(entry.offset, int) and isinstance(entry.length, int)):
        raise ValueError("a region has no position")
    if not 0 <= entry.offset <= entry.offset + entry.length <= len(log.data):
        raise ValueError("a region lies outside the file")
    return entry


def inflated(log: Container, entry: Entry) -> tuple[bytes, ...]:
    """Returns the part of a region that each rank wrote, if it wrote any; raises LogError if it does not inflate."""
    with damage_in(log, f"its private region {entry.name}"):
        return tuple(streams("zlib", _stored(log, entry)))


def _stored(log: Container, entry: Entry) -> memoryview:
    """Returns the compressed bytes of a region."""
    return memoryview(log.data)[entry.offset : entry.offset + entry.length]


@contextmanager
def damage_in(log: Container, what: str) -> Iterator[None]:
    """Turns errors from damaged JSON or columns into LogError."""
    try:
        yield
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, EOFError, zlib.error) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise LogError(log.path, f"is damaged: {what} cannot be read ({reason})") from error


def private_document(parts: Sequence[bytes]) -> dict[str, Any]:
    """Returns the object in a region of kind `json`."""
    found = checked(json.loads(parts[0])) if parts else {}
    if not isinstance(found, dict):
        raise ValueError("a json region is not an object")
    return found


_READERS: dict[str, Callable[[Sequence[bytes]], Columns | dict[str, Any]]] = {
    "json": private_document,
    "table": Columns,
}
