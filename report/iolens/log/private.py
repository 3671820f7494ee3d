"""The regions behind Darshan's last one, which describe themselves: see profiler/LOG.md."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from iolens.log.container import Container, LogError, streams
from iolens.log.known import check_region
from iolens.log.records import Records

FOOTER = struct.Struct("<8sQQQ")
MAGIC = b"iolens01"
DTYPE = re.compile(r"<[iuf]8|<[iu]4|<u1|S[1-9][0-9]{0,5}")


@dataclass(frozen=True)
class Entry:
    """A region in the directory: where it lies, compressed, and of which kind it is."""

    name: str
    kind: str
    offset: int
    length: int


def read_private(log: Container) -> dict[str, Records | dict[str, Any]]:
    """All private regions by name: a table or a dict; none in a log that another profiler wrote."""
    found: dict[str, Records | dict[str, Any]] = {}
    for entry in entries_of(log) or ():
        with damage_in(log, f"its private region {entry.name}"):
            found[entry.name] = READERS[entry.kind](list(inflated(log, entry)))
            check_region(entry.name, found[entry.name])
    return found


def entries_of(log: Container) -> tuple[Entry, ...] | None:
    """The directory; None in a log that another profiler wrote, LogError when it is damaged."""
    if len(log.data) < FOOTER.size or log.data[-FOOTER.size :][:8] != MAGIC:
        return None
    _, offset, length, _ = FOOTER.unpack(log.data[-FOOTER.size :])
    with damage_in(log, "the directory of its private regions"):
        regions = json.loads(log.data[offset : offset + length])["regions"]
        return tuple(entry_of(log, region) for region in regions)


def entry_of(log: Container, region: dict[str, Any]) -> Entry:
    """One row of the directory, checked."""
    entry = Entry(region["name"], region["kind"], region["offset"], region["bytes"])
    if not isinstance(entry.name, str) or entry.kind not in READERS:
        raise ValueError("a region has no name or is of an unknown kind")
    if not (isinstance(entry.offset, int) and isinstance(entry.length, int)):
        raise ValueError("a region has no place")
    if not 0 <= entry.offset <= entry.offset + entry.length <= len(log.data):
        raise ValueError("a region lies outside the file")
    return entry


def inflated(log: Container, entry: Entry) -> tuple[bytes, ...]:
    """Each contributing rank's part of a region; LogError when it does not inflate."""
    with damage_in(log, f"its private region {entry.name}"):
        stored = memoryview(log.data)[entry.offset : entry.offset + entry.length]
        return tuple(streams("zlib", stored))


@contextmanager
def damage_in(log: Container, what: str) -> Iterator[None]:
    """What goes wrong with damaged JSON or columns, as a LogError."""
    try:
        yield
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, EOFError, zlib.error) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise LogError(log.path, f"is damaged: {what} cannot be read ({reason})") from error


def document(parts: list[bytes]) -> dict[str, Any]:
    """A region of kind `json`."""
    found = json.loads(parts[0]) if parts else {}
    if not isinstance(found, dict):
        raise ValueError("a json region is not an object")
    return found


def table(parts: list[bytes]) -> Records:
    """A region of kind `table`: the rows of all parts; bytes become text."""
    return Records(arrays(parts))


def arrays(parts: list[bytes]) -> dict[str, np.ndarray]:
    """The same as an array a column."""
    named: list[dict[str, Any]] = []
    pieces: dict[str, list[Any]] = {}
    for part in parts:
        header, body = header_of(part)
        if pieces and header.get("columns", named) != named:
            raise ValueError("its parts have different columns")
        named = header.get("columns", named)
        for name, values in columns_of(int(header["rows"]), named, body).items():
            pieces.setdefault(name, []).append(values)
    return {name: np.concatenate(values) if len(values) > 1 else values[0] for name, values in pieces.items()}


def header_of(part: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a part, which names the columns unless they are those of the part before, and the rest of it."""
    head, newline, body = part.partition(b"\n")
    if not newline:
        raise ValueError("a table has no header line")
    header = json.loads(head)
    if not isinstance(header, dict):
        raise ValueError("a table's header is not an object")
    return header, body


def columns_of(rows: int, named: list[dict[str, Any]], body: bytes) -> dict[str, Any]:
    """The columns of one part."""
    at, columns = 0, {}
    for column in named:
        kind, own = types_of(column["dtype"])
        if kind is None or not isinstance(column["name"], str):
            raise ValueError(f"a column is named {column['name']!r} and of type {column['dtype']!r}")
        if rows < 0 or at + rows * kind.itemsize > len(body):
            raise ValueError(f"column {column['name']} is cut off")
        values = np.frombuffer(body, kind, rows, at)
        at += values.nbytes
        columns[column["name"]] = (
            np.array([value.decode("utf-8", "replace") for value in values.tolist()], dtype=object)
            if kind.kind == "S"
            else values.astype(own)
        )
    return columns


@cache
def types_of(text: str) -> tuple[np.dtype[Any], np.dtype[Any]] | tuple[None, None]:
    """A column's type as it is stored, and in this machine's byte order; None for what no column may be of."""
    if not DTYPE.fullmatch(text):
        return None, None
    stored: np.dtype[Any] = np.dtype(text)
    return stored, stored.newbyteorder("=")


READERS: dict[str, Callable[[list[bytes]], Records | dict[str, Any]]] = {"json": document, "table": table}
