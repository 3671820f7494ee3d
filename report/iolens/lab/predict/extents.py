"""Pieces of a file as two arrays: their offsets and their lengths (bytes)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from iolens.lab.tiles import visible_before


@dataclass(frozen=True, eq=False)
class Extents:
    """Pieces in the order of the file, not empty and without overlap: offsets and lengths (bytes), arrays of
    equal size.
    """

    begin: np.ndarray
    length: np.ndarray

    @property
    def end(self) -> np.ndarray:
        """Returns the end of each piece, which is the offset after its last byte."""
        ends: np.ndarray = self.begin + self.length
        return ends

    @property
    def bytes(self) -> int:
        """Returns the bytes of all pieces together."""
        return int(self.length.sum())

    @cached_property
    def through(self) -> np.ndarray:
        """Returns the bytes in all pieces before each piece, and finally in all pieces."""
        return np.concatenate([[0], np.cumsum(self.length)])

    def before(self, places: np.ndarray) -> np.ndarray:
        """Returns how many bytes of the pieces lie before each of these offsets of the file."""
        if not len(self.begin):
            return np.zeros(len(places), np.int64)
        at = np.maximum(np.searchsorted(self.begin, places, side="right") - 1, 0)
        found: np.ndarray = self.through[at] + np.clip(places - self.begin[at], 0, self.length[at])
        return found

    def clip(self, begin: int, end: int) -> Extents:
        """Returns the parts that lie in [begin, end)."""
        first = int(np.searchsorted(self.end, begin, side="right"))
        last = int(np.searchsorted(self.begin, end, side="left"))
        begins = np.maximum(self.begin[first:last], begin)
        ends = np.minimum(self.end[first:last], end)
        return Extents(begins, ends - begins)


NOTHING = Extents(np.empty(0, np.int64), np.empty(0, np.int64))


def piece(offset: int, length: int) -> Extents:
    """Returns one piece, or no piece if the length is 0."""
    return Extents(np.array([offset]), np.array([length])) if length > 0 else NOTHING


def union(parts: Iterable[Extents]) -> Extents:
    """Returns the bytes that lie in any of the parts; adjacent pieces become one."""
    known = [part for part in parts if len(part.begin)]
    if not known:
        return NOTHING
    begin = np.concatenate([part.begin for part in known])
    end = np.concatenate([part.end for part in known])
    order = np.argsort(begin, kind="stable")
    begin, reach = begin[order], np.maximum.accumulate(end[order])
    fresh = np.concatenate([[True], begin[1:] > reach[:-1]])
    last = np.concatenate([np.flatnonzero(fresh)[1:] - 1, [len(begin) - 1]])
    return Extents(begin[fresh], reach[last] - begin[fresh])


@dataclass(frozen=True, eq=False)
class FileView:
    """A file view: the pieces of one file type, repeated every `extent` bytes from `displacement` on."""

    displacement: int
    extent: int
    pieces: Extents

    def place(self, offset: int) -> int:
        """Returns the number of visible bytes before the byte of the file at `offset`."""
        pieces = self.pieces
        return int(visible_before(pieces.begin, pieces.length, self.displacement, self.extent, np.array([offset]))[0])

    def extents(self, offset: int, length: int) -> Extents:
        """Returns the pieces of `length` bytes of data that begin at `offset`."""
        if length <= 0 or not len(self.pieces.begin):
            return NOTHING
        first = self.place(offset)
        size = int(self.pieces.through[-1])
        tiles = np.arange(first // size, (first + length - 1) // size + 1)
        begin = (self.displacement + tiles[:, None] * self.extent + self.pieces.begin).ravel()
        through = (tiles[:, None] * size + self.pieces.through[:-1]).ravel()
        lengths = np.tile(self.pieces.length, len(tiles))
        low = np.clip(first - through, 0, lengths)
        high = np.clip(first + length - through, 0, lengths)
        used = high > low
        return union([Extents((begin + low)[used], (high - low)[used])])
