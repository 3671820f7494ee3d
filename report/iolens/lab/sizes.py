"""Sizes in the form that people write: `16M`, `1MiB`, `4096`; the suffixes are powers of 1024."""

from __future__ import annotations

import re

_FACTORS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_PATTERN = re.compile(r"^(\d+)\s*([kmgt]?)(?:i?b)?$", re.IGNORECASE)


def parse_size(text: str | int) -> int:
    """Returns the bytes of `text`; raises ValueError that explains the form of a size."""
    match = _PATTERN.match(str(text).strip())
    if not match:
        raise ValueError(f"{text!r} is not a size; write bytes, or a number with k, M or G (powers of 1024)")
    return int(match[1]) * _FACTORS[match[2].lower()]


def short_size(size: int) -> str:
    """Returns the shortest exact form, as used in folder names: 16777216 → `16M`, 1000 → `1000`."""
    for suffix in ("G", "M", "k"):
        factor = _FACTORS[suffix.lower()]
        if size >= factor and size % factor == 0:
            return f"{size // factor}{suffix}"
    return str(size)


def rounded_size(size: float) -> str:
    """Returns bytes for a person, with one decimal: 93952409600 → `87.5 GiB`."""
    for suffix, factor in (("PiB", 2**50), ("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:.1f} {suffix}"
    return f"{size:.0f} B"
