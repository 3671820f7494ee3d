"""Finds records and their texts in a region of a module whose records differ in length."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from iolens.log.format import apmpi
from iolens.log.format.container import Container, Region
from iolens.log.format.dxt import dxt_fields

Place = tuple[int, list[tuple[int, int]]]
"""Offset of a record, which begins with its id, and begin and end of its texts: a host, or the names of pools."""


def record_places(log: Container, region: Region, data: bytes) -> Iterator[Place]:
    """Yields every record of a LUSTRE, DXT, APMPI or HEATMAP region, in order."""
    at = 0
    while at < len(data):
        if region.name == "LUSTRE":
            words, texts = _lustre(log, region, data, at)
        elif region.name == "HEATMAP":
            words, texts = 6 + 2 * _word(log, data, at, 3), []
        elif region.name == "APMPI":
            end = at + 8 * apmpi.RECORD
            words, texts = (apmpi.RECORD, [(end - 8 * apmpi.NODE, end)]) if at else (apmpi.HEAD, [])
        else:
            segments = _word(log, data, at, 11) + _word(log, data, at, 12)
            words, texts = 13 + len(dxt_fields(region)) * segments, [(at + 24, at + 88)]
        yield at, texts
        at += 8 * words


def _lustre(log: Container, region: Region, data: bytes, at: int) -> tuple[int, list[tuple[int, int]]]:
    """Returns the number of words in a LUSTRE record, and where the pool's name of each component lies: 16 bytes after
    7 numbers.
    """
    if region.version == 1:
        return 7 + _word(log, data, at, 6), []
    components = _word(log, data, at, 2)
    first = at + 8 * 4
    pools = [(first + 72 * i + 56, first + 72 * i + 72) for i in range(components)]
    return 4 + 9 * components + _word(log, data, at, 3), pools


def _word(log: Container, data: bytes, at: int, index: int) -> int:
    """Returns the 64-bit number `index` of the record that begins at `at`."""
    return int(struct.unpack_from(f"{log.order}q", data, at + 8 * index)[0])
