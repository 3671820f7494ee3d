"""Names of C++ functions that are too long for their place: parameters and template arguments are dropped first."""

from __future__ import annotations

import re
from collections.abc import Callable

_KEPT = ("(anonymous namespace)", "<lambda")
"""Beginnings of brackets that are a part of a name."""


_MOST_BLANKS = 2
"""Maximum number of blanks before a function's name, which belong to its return type."""

_NO_NAME = re.compile(r"[%/;,“]|(?<!:):(?!:)")


def is_long_name(text: str) -> bool:
    """Returns True for a C++ name, and not for a sentence or path with such a name in it."""
    bare = _without(_without(text.strip(), "()", ""), "<>", "")
    return "::" in bare and bare.count(" ") <= _MOST_BLANKS and not _NO_NAME.search(bare)


def shorter_names(text: str) -> list[str]:
    """Returns a C++ name in shorter and shorter forms, each with the indent of the text.

    First without parameters, then without template arguments and the return type, then without the outer namespaces
    and classes, one after the other.
    """
    name = text.lstrip()
    indent = text[: len(text) - len(name)]
    bare = _without(name, "()", "").removesuffix(" const")
    plain = _without(bare, "<>", "<…>")
    plain = plain.rpartition(" ")[2] if "(anonymous namespace)" not in plain else plain
    parts = plain.split("::")
    return [f"{indent}{one}" for one in (bare, plain, *(f"…{'::'.join(parts[n:])}" for n in range(1, len(parts))))]


def fitting_name(text: str, fits: Callable[[str], bool]) -> str:
    """Returns the longest form of a C++ name that fits, or the shortest form if none does."""
    forms = shorter_names(text)
    return next((one for one in forms if fits(one)), forms[-1])


def _without(name: str, brackets: str, instead: str) -> str:
    """Returns a name with another text in place of its outermost brackets; returns the name unchanged if brackets do
    not pair.
    """
    found, depth, begin = [], 0, 0
    for place, letter in enumerate(name):
        if letter == brackets[0]:
            if depth == 0:
                found.append(name[begin:place])
                begin = place
            depth += 1
        elif letter == brackets[1]:
            depth -= 1
            if depth < 0:
                return name
            if depth == 0:
                inner = name[begin : place + 1]
                is_kept = inner.startswith(_KEPT) or name[:begin].endswith("operator")
                found.append(inner if is_kept else instead)
                begin = place + 1
    return name if depth else "".join([*found, name[begin:]])
