"""The regions behind Darshan's last one, which describe themselves: see profiler/LOG.md."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from iolens.log.container import INFLATED_LIMIT, Container, LogError, inflate_stream

if TYPE_CHECKING:
    import pandas as pd

FOOTER = struct.Struct("<8sQQQ")
MAGIC = b"iolens01"


def read_private(log: Container) -> dict[str, pd.DataFrame | dict[str, Any]]:
    """All private regions by name: a frame or a dict; none in a log that another profiler wrote."""
    if len(log.data) < FOOTER.size or log.data[-FOOTER.size :][:8] != MAGIC:
        return {}
    _, offset, length, _ = FOOTER.unpack(log.data[-FOOTER.size :])
    try:
        directory = json.loads(log.data[offset : offset + length])
        regions = [(entry["name"], entry["kind"], entry["offset"], entry["bytes"]) for entry in directory["regions"]]
        return {name: READERS[kind](list(chunks(log, start, size))) for name, kind, start, size in regions}
    except (ValueError, KeyError, TypeError, EOFError, zlib.error) as error:
        raise LogError(log.path, f"is damaged: its private regions cannot be read ({error})") from error


def chunks(log: Container, offset: int, length: int) -> Iterator[bytes]:
    """Each contributing rank's part, inflated."""
    stored = memoryview(log.data)[offset : offset + length]
    if len(stored) != length:
        raise ValueError("a region lies outside the file")
    room = INFLATED_LIMIT
    while stored:
        piece, stored = inflate_stream("zlib", stored, room + 1)
        room -= len(piece)
        if room < 0:
            raise ValueError(f"a region inflates to more than {INFLATED_LIMIT >> 20} MiB")
        yield piece


def document(parts: list[bytes]) -> dict[str, Any]:
    """A region of kind `json`."""
    found = json.loads(parts[0]) if parts else {}
    if not isinstance(found, dict):
        raise ValueError("a json region is not an object")
    return found


def table(parts: list[bytes]) -> pd.DataFrame:
    """A region of kind `table`: the rows of all parts; bytes become text."""
    import pandas as pd

    if not parts:
        return pd.DataFrame()
    frames = [pd.DataFrame(columns_of(part)) for part in parts]
    return pd.concat(frames, ignore_index=True)


def columns_of(part: bytes) -> dict[str, Any]:
    """The columns of one part."""
    head, newline, body = part.partition(b"\n")
    if not newline:
        raise ValueError("a table has no header line")
    header = json.loads(head)
    rows, at, columns = int(header["rows"]), 0, {}
    for column in header["columns"]:
        kind = np.dtype(column["dtype"])
        if rows < 0 or kind.itemsize == 0 or at + rows * kind.itemsize > len(body):
            raise ValueError(f"column {column['name']} is cut off")
        values = np.frombuffer(body, kind, rows, at)
        at += values.nbytes
        columns[column["name"]] = (
            np.array([value.decode("utf-8", "replace") for value in values.tolist()], dtype=object)
            if kind.kind == "S"
            else values.astype(kind.newbyteorder("="))
        )
    return columns


READERS = {"json": document, "table": table}
