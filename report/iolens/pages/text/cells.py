"""Recognises numbers in the cells of a table, and shortens long texts."""

from __future__ import annotations

import re

NUMBER = re.compile(
    r"^([<>≤] )?[-+−]?[\d.,]+( ?(%|s|ms|us|µs|[KMGTPE]?i?B(/s)?|M?/s))?$|^[\d,]+ (h|min)( \d+ (min|s))?$|^n/a$|^--$|^$"
)
"""Matches text that is aligned to the right."""

_DOTS = "…"


_CACHE, _CUT_CACHE = "/__pycache__/", f"/{_DOTS}/"
"""The folder of Python's compiled modules, which distinguishes no files, and the text that replaces it in a shortened
path.
"""

_LEAST_HEAD = 4
"""Minimum number of characters that are kept from the beginning of a path."""


def middle(text: str, keep: int) -> str:
    """Returns a text shortened to `keep` characters: two fifths from its beginning and the rest from its end. A path
    keeps its first folder at most, because its last folders and its name distinguish files. The name is kept whole if
    there is room, and otherwise loses its own middle.
    """
    if text.startswith("/") and _CACHE in text:
        text = text.replace(_CACHE, _CUT_CACHE)
        if len(text) <= keep + 1:
            return text
    head, name = 2 * keep // 5, text[text.rfind("/") :]
    if text.startswith("/") and " " not in text:
        if len(name) > keep - _LEAST_HEAD > _LEAST_HEAD:
            return f"{_DOTS}{middle(name[1:], keep - 1)}"
        head = min(head, max(keep - len(name), 0), text.index("/", 1) + 1 if "/" in text[1:] else head)
    end = text[len(text) - (keep - head) :].removeprefix(_DOTS).removeprefix(_CUT_CACHE[:2])
    return f"{text[:head]}{_DOTS}{end}"
