"""The text in the cells of a table: recognising numbers, and shortening text."""

from __future__ import annotations

import re

NUMBER = re.compile(
    r"^(< )?[-+−]?[\d.,]+( ?(%|s|ms|us|µs|[KMGTPE]?i?B(/s)?|M?/s))?$|^[\d,]+ (h|min)( \d+ (min|s))?$|^n/a$|^--$|^$"
)
"""Matches text that is aligned to the right."""

_DOTS = "…"


def middle(text: str, keep: int) -> str:
    """Returns `keep` characters of a text, two fifths from its beginning and the rest from its end."""
    head = 2 * keep // 5
    return f"{text[:head]}{_DOTS}{text[len(text) - (keep - head) :]}"
