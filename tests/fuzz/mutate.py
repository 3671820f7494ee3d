"""Damages bytes at random, from a seed: the same seed gives the same damage."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from typing import Any

INTEGERS = (0, 1, -1, 2, 7, 127, 128, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1, -(2**63))
DOUBLES = (float("nan"), float("inf"), float("-inf"), -1.0, 1e308, -1e308, 5e-324)
MOST_STEPS = 6


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Returns the bytes after one to six kinds of damage; a single one is as likely as all others together."""
    changed = bytearray(data)
    for _ in range(1 if chance.random() < 0.5 else chance.randint(2, MOST_STEPS)):
        chance.choice(STEPS)(changed, chance)
    return bytes(changed)


def place(data: bytearray, chance: random.Random, step: int = 1) -> int:
    """Returns an offset into the data, a multiple of `step`; often near the beginning, where sizes and counts are."""
    end = min(len(data), 256) if chance.random() < 0.4 else len(data)
    return chance.randrange(0, max(end, 1), step)


def flip(data: bytearray, chance: random.Random) -> None:
    """Flips one bit."""
    if data:
        data[place(data, chance)] ^= 1 << chance.randrange(8)


def overwrite(data: bytearray, chance: random.Random) -> None:
    """Overwrites one byte."""
    if data:
        data[place(data, chance)] = chance.randrange(256)


def integer(data: bytearray, chance: random.Random) -> None:
    """Overwrites a word with an integer that often causes errors, in either byte order."""
    size, code = chance.choice(((4, "I"), (8, "Q"), (8, "Q")))
    value = chance.choice(INTEGERS) & ((1 << 8 * size) - 1)
    at = place(data, chance, chance.choice((1, 4, 8, 8)))
    data[at : at + size] = struct.pack(chance.choice("<<>") + code, value)


def double(data: bytearray, chance: random.Random) -> None:
    """Overwrites a word with a floating-point number that often causes errors."""
    at = place(data, chance, 8)
    data[at : at + 8] = struct.pack(chance.choice("<<>") + "d", chance.choice(DOUBLES))


def truncate(data: bytearray, chance: random.Random) -> None:
    """Cuts off the end."""
    del data[place(data, chance) :]


def remove(data: bytearray, chance: random.Random) -> None:
    """Removes a piece in the middle."""
    at = place(data, chance)
    del data[at : at + chance.choice((1, 4, 8, 64, 1024))]


def repeat(data: bytearray, chance: random.Random) -> None:
    """Repeats a piece."""
    at, size = place(data, chance), chance.choice((1, 8, 64, 1024))
    data[at:at] = data[at : at + size]


def splice(data: bytearray, chance: random.Random) -> None:
    """Overwrites a piece of the data with a copy of another piece."""
    source, target, size = place(data, chance), place(data, chance), chance.choice((4, 8, 16, 64, 512))
    piece = data[source : source + size]
    data[target : target + len(piece)] = piece


def blank(data: bytearray, chance: random.Random) -> None:
    """Zeroes a page, like a page that a file system never wrote."""
    at, size = place(data, chance), chance.choice((8, 64, 4096))
    data[at : at + size] = bytes(size)


STEPS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    *(flip, overwrite, integer, integer, double),
    *(truncate, remove, repeat, splice, blank),
)

TEXTS = ("", "x" * 300, "|O", "<i4", "\u001b\n")
VALUES: tuple[Any, ...] = (None, True, -1, 0, 2**40, 2**80, 1.5, float("nan"), [], [[]], {}, *TEXTS)


def mutate_json(text: bytes, chance: random.Random) -> bytes:
    """Returns the JSON with one value or key replaced or removed."""
    changed = json.loads(text)
    parent, key = chance.choice(nodes(changed))
    step = chance.random()
    if step < 0.3:
        del parent[key]
    elif step < 0.4 and isinstance(parent, dict):
        parent[f"{key}x"] = parent.pop(key)
    else:
        parent[key] = chance.choice((*VALUES, *INTEGERS))
    return json.dumps(changed).encode()


def nodes(tree: Any) -> list[tuple[Any, Any]]:
    """Returns every (container, key or index) of a document."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    return [pair for key in keys for pair in ((tree, key), *nodes(tree[key]))]
