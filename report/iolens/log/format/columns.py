"""A private table: its header, and its columns, which are decoded when the first of them is requested."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from iolens.foreign import decoded

_DTYPE = re.compile(r"<[iuf]8|<[iu]4|<u1|S[1-9][0-9]{0,5}")
_HEADS, _HEAD_BYTES = 512, 8 << 10
"""Number of headers that are remembered, because logs of one program have the same ones, and the largest size of such a
header.
"""


@dataclass(frozen=True)
class StoredColumn:
    """A column's type as stored, and in this machine's byte order; stored texts become Python's strings.

    `kind` is that of its array, as numpy names it; `before`: the bytes of a row in the columns before it.
    """

    name: str
    stored: np.dtype[Any]
    own: np.dtype[Any]
    kind: str
    before: int

    @property
    def end(self) -> int:
        """Returns the bytes of a row up to its end."""
        return self.before + self.stored.itemsize


@dataclass(frozen=True)
class PartHead:
    """Rows of a part, and its columns; None if they equal those of the previous part."""

    rows: int
    columns: tuple[StoredColumn, ...] | None


@dataclass(frozen=True)
class Piece:
    """The rows of a part in their stored form, column after column."""

    rows: int
    body: memoryview


class Columns(Mapping[str, np.ndarray]):
    """Arrays by name, each with `rows` values.

    All are made when the first one is requested, and the stored bytes are then released. Most questions need only a few
    of a log's tables, and making arrays costs more than inflating them. Raises ValueError or KeyError at once if the
    parts do not fit together, so that later requests cannot fail. Of each part at most `most` rows are kept, the first
    ones; `left_out` counts the others.
    """

    def __init__(self, parts: Iterable[bytes], most: int | None = None) -> None:
        pieces: list[Piece] = []
        columns: tuple[StoredColumn, ...] = ()
        self.left_out = 0
        for part in parts:
            head, at = _part_header(part)
            if columns and head.columns not in (None, columns):
                raise ValueError("its parts have different columns")
            columns = columns if head.columns is None else head.columns
            if columns:
                whole = Piece(head.rows, memoryview(part)[at:])
                _check_size(columns, whole)
                pieces.append(whole if most is None or whole.rows <= most else _copied_first_rows(columns, whole, most))
                self.left_out += whole.rows - pieces[-1].rows
        self.columns = {column.name: column for column in columns}
        self.rows = sum(piece.rows for piece in pieces)
        self.made: dict[str, np.ndarray] = {}
        self.stored: tuple[tuple[StoredColumn, ...], list[Piece]] | None = (columns, pieces)

    def __getitem__(self, name: str) -> np.ndarray:
        stored = self.stored
        if stored is not None:
            self.made, self.stored = _arrays(*stored), None
        return self.made[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def kind(self, name: str) -> str:
        """Returns the kind of an array, as numpy names it; `-` if there is no such array."""
        column = self.columns.get(name)
        return column.kind if column else "-"

    def extremes(self, name: str) -> tuple[int, int]:
        """Returns the smallest and the largest value of a column of integers, before any array is made. The table has
        rows.
        """
        assert self.stored is not None
        column = self.columns[name]
        before, end = column.before, column.end
        stored = [piece.body[piece.rows * before : piece.rows * end] for piece in self.stored[1] if piece.rows]
        values = np.frombuffer(stored[0] if len(stored) == 1 else b"".join(stored), column.stored)
        return int(values.min()), int(values.max())


def _part_header(part: bytes) -> tuple[PartHead, int]:
    """Returns the header of a part, and where its rows begin."""
    end = part.find(b"\n")
    if end < 0:
        raise ValueError("a table has no header line")
    line = part[:end]
    return (_parsed_header(line) if end > _HEAD_BYTES else _remembered(line)), end + 1


def _parsed_header(line: bytes) -> PartHead:
    """Parses the header of a part."""
    header = json.loads(line)
    if not isinstance(header, dict):
        raise ValueError("the header of a table is not an object")
    if "columns" not in header:
        return PartHead(int(header["rows"]), None)
    columns: list[StoredColumn] = []
    for said in header["columns"]:
        columns.append(_column_of(said, columns[-1].end if columns else 0))
    return PartHead(int(header["rows"]), tuple(columns))


_remembered = lru_cache(_HEADS)(_parsed_header)


def _column_of(said: dict[str, Any], before: int) -> StoredColumn:
    """Returns a column as the header describes it, after the given number of bytes in a row."""
    name, text = said["name"], said["dtype"]
    if not isinstance(name, str) or not _DTYPE.fullmatch(text):
        raise ValueError(f"a column is named {name!r} and of type {text!r}")
    stored: np.dtype[Any] = np.dtype(text)
    return StoredColumn(name, stored, stored.newbyteorder("="), "O" if stored.kind == "S" else stored.kind, before)


def _check_size(columns: tuple[StoredColumn, ...], piece: Piece) -> None:
    """Raises ValueError if a part is shorter than its columns."""
    if 0 <= piece.rows * columns[-1].end <= len(piece.body):
        return
    cut = next(column for column in columns if not 0 <= piece.rows * column.end <= len(piece.body))
    raise ValueError(f"column {cut.name} is cut off")


def _copied_first_rows(columns: tuple[StoredColumn, ...], whole: Piece, most: int) -> Piece:
    """Returns a copy of the first rows of a part."""
    begins = ((whole.rows * column.before, column.stored.itemsize) for column in columns)
    return Piece(most, memoryview(b"".join(whole.body[begin : begin + most * size] for begin, size in begins)))


def _arrays(columns: tuple[StoredColumn, ...], pieces: list[Piece]) -> dict[str, np.ndarray]:
    """Returns an array for each column: the rows of all pieces; bytes become text."""
    if len(pieces) == 1:
        return {column.name: _column_values(column, pieces[0]) for column in columns}
    return {column.name: np.concatenate([_column_values(column, piece) for piece in pieces]) for column in columns}


def _column_values(column: StoredColumn, piece: Piece) -> np.ndarray:
    """Returns the values of a column in one piece."""
    values = np.frombuffer(piece.body, column.stored, piece.rows, piece.rows * column.before)
    if column.kind != "O":
        return values.astype(column.own)
    # Most rows repeat a few words, so each word is kept in memory only once.
    texts = values.tolist()
    words = {text: decoded(text) for text in set(texts)}
    return np.fromiter(map(words.__getitem__, texts), object, len(values))
