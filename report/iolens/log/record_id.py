"""Darshan's record id of a name: Bob Jenkins's 64-bit hash of its bytes (lookup8, 1997), begun with zero."""

from __future__ import annotations

WORD = 0xFFFFFFFFFFFFFFFF
GOLDEN_RATIO = 0x9E3779B97F4A7C13
SHIFTS = ((43, 9, 8), (38, 23, 5), (35, 49, 11), (12, 18, 22))
BLOCK = 24


def record_id(name: bytes) -> int:
    """Returns the id of a record with this name."""
    a, b, c = 0, 0, GOLDEN_RATIO
    whole = len(name) - len(name) % BLOCK
    for at in range(0, whole, BLOCK):
        words = (int.from_bytes(name[at + 8 * i : at + 8 * i + 8], "little") for i in range(3))
        a, b, c = mixed(*(lane + word & WORD for lane, word in zip((a, b, c), words, strict=True)))
    rest = name[whole:]
    a += int.from_bytes(rest[:8], "little")
    b += int.from_bytes(rest[8:16], "little")
    c += len(name) + (int.from_bytes(rest[16:], "little") << 8)
    return mixed(a & WORD, b & WORD, c & WORD)[2]


def mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    """Returns every bit of three words in every other one."""
    for first, second, third in SHIFTS:
        a = (a - b - c ^ c >> first) & WORD
        b = (b - c - a ^ a << second) & WORD
        c = (c - a - b ^ b >> third) & WORD
    return a, b, c
