"""The little of protobuf's encoding that pprof's format needs (https://protobuf.dev/programming-guides/encoding/)."""

from __future__ import annotations

from collections.abc import Sequence

VARINT, BYTES = 0, 2
"""Wire types."""


def varint(value: int) -> bytes:
    """Returns a number, seven bits a byte; a negative one as its 64 bits."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def number(field: int, value: int) -> bytes:
    """Returns an integer field; nothing for 0, which is the default."""
    return varint(field << 3 | VARINT) + varint(value) if value else b""


def packed(field: int, values: Sequence[int]) -> bytes:
    """Returns a field of repeated integers."""
    return block(field, b"".join(map(varint, values)))


def block(field: int, content: bytes) -> bytes:
    """Returns a field of text or of a message."""
    return varint(field << 3 | BYTES) + varint(len(content)) + content
