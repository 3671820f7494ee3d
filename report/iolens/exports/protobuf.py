"""The part of protobuf's encoding that pprof's format needs (https://protobuf.dev/programming-guides/encoding/)."""

from __future__ import annotations

from collections.abc import Sequence

_VARINT, _BYTES = 0, 2
"""Protobuf's wire types."""


def _varint(value: int) -> bytes:
    """Returns a number in Protocol Buffers' variable length: seven bits per byte, the lowest first; a negative number
    as its 64 bits.
    """
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def integer_field(field: int, value: int) -> bytes:
    """Returns an integer field; nothing for 0, which is the default."""
    return _varint(field << 3 | _VARINT) + _varint(value) if value else b""


def packed(field: int, values: Sequence[int]) -> bytes:
    """Returns a field of repeated integers."""
    return block(field, b"".join(map(_varint, values)))


def block(field: int, content: bytes) -> bytes:
    """Returns a field of text or of a message."""
    return _varint(field << 3 | _BYTES) + _varint(len(content)) + content
