"""Darshan's record id of a name: Bob Jenkins's 64-bit hash of its bytes (lookup8, 1997), begun with zero."""

from __future__ import annotations

_WORD = 0xFFFFFFFFFFFFFFFF
_GOLDEN_RATIO = 0x9E3779B97F4A7C13
_SHIFTS = ((43, 9, 8), (38, 23, 5), (35, 49, 11), (12, 18, 22))
_BLOCK = 24


def record_id(name: bytes) -> int:
    """Returns the id of a record with this name."""
    a, b, c = 0, 0, _GOLDEN_RATIO
    whole = len(name) - len(name) % _BLOCK
    for at in range(0, whole, _BLOCK):
        words = (int.from_bytes(name[at + 8 * i : at + 8 * i + 8], "little") for i in range(3))
        a, b, c = _mixed(*(lane + word & _WORD for lane, word in zip((a, b, c), words, strict=True)))
    rest = name[whole:]
    a += int.from_bytes(rest[:8], "little")
    b += int.from_bytes(rest[8:16], "little")
    c += len(name) + (int.from_bytes(rest[16:], "little") << 8)
    return _mixed(a & _WORD, b & _WORD, c & _WORD)[2]


def _mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    """Mixes three words so that each bit of the result depends on all of their bits."""
    for first, second, third in _SHIFTS:
        a = (a - b - c ^ c >> first) & _WORD
        b = (b - c - a ^ a << second) & _WORD
        c = (c - a - b ^ b >> third) & _WORD
    return a, b, c
