"""Tables and paragraphs as lines of text. A number is never cut; columns for which there is no room are left out and
named, and long names and paths lose their middle.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

from iolens.foreign import printable_text
from iolens.pages.base.blocks import Table
from iolens.pages.base.words import INDENT

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


_GAP = 2
"""Blanks between columns."""

_SHORTEST = 16
"""Minimum width, in characters, to which a column of words is narrowed."""

MOST_ROWS = 24


def paragraph(text: str, width: int, indent: str = "") -> list[str]:
    """Returns the text in lines of at most `width` characters, the later ones indented; words longer than a line are
    broken.
    """
    return textwrap.wrap(
        printable_text(text, keep=INDENT), width, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]


def pair(name: str, value: str, width: int, most: int = 3) -> list[str]:
    """Returns a name and its value, indented; long words lose their middle, and so does a value of more than
    `most` lines.
    """
    lead = f"  {name:<17} "
    room = width - len(lead)
    words = " ".join(shortened(word, room) for word in printable_text(value).split())
    lines = paragraph(lead + words, width, " " * len(lead))
    if len(lines) <= most:
        return lines
    rest = " ".join(line.strip() for line in lines[most - 1 :])
    return [*lines[: most - 1], " " * len(lead) + shortened(rest, room)]


def table_text(table: Table, width: int) -> list[str]:
    """Returns title, heads, rows and notes of a table, in lines of at most `width` characters."""
    rows = [[printable_text(str(cell), keep=INDENT) for cell in row] for row in table.rows[:MOST_ROWS]]
    heads = [str(head) for head in table.columns]
    numeric = [all(NUMBER.match(row[n]) for row in rows) for n in range(len(heads))]
    kept, widths = _columns_that_fit(heads, rows, numeric, width)
    lines = paragraph(table.title, width) if table.title else []
    columns = list(zip(kept, widths, strict=True))
    if any(heads):
        lines += _head_lines([heads[n] for n in kept], widths, [numeric[n] for n in kept])
        lines.append((" " * _GAP).join("─" * wide for wide in widths))
    for row in rows:
        parts = [_lines_of_cell(row[n], wide) for n, wide in columns]
        for level in range(max(map(len, parts))):
            cells = [part[level] if level < len(part) else "" for part in parts]
            each = zip(cells, columns, strict=True)
            lines.append((" " * _GAP).join(_padded(cell, wide, numeric[n]) for cell, (n, wide) in each).rstrip())
    missing = [heads[n] for n in range(len(heads)) if n not in kept]
    if missing:
        lines += paragraph(f"No room in {width} columns for: {', '.join(missing)}.", width)
    if len(table.rows) > len(rows):
        lines += paragraph(f"{len(table.rows) - len(rows):,} more rows: iolens report --csv DIR exports them.", width)
    return lines + (paragraph(table.note, width) if table.note else [])


def _lines_of_cell(cell: str, width: int) -> list[str]:
    """Returns the lines of a cell in its column: sentences are broken at spaces, a path or a longer word loses its
    middle.
    """
    if (
        len(cell) <= width
        or cell.startswith(INDENT)
        or is_long_name(cell)
        or max(map(len, cell.split()), default=0) > width
    ):
        return [shortened(cell, width)]
    return textwrap.wrap(cell, width)


def _columns_that_fit(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], width: int
) -> tuple[list[int], list[int]]:
    """Returns the columns that are shown, and their widths.

    If room is short, heads are broken at spaces first, then columns of words are narrowed (down to _SHORTEST), then
    whole columns are dropped, the last ones first.
    """
    cells = [max((len(row[n]) for row in rows), default=0) for n in range(len(heads))]
    roomy = [max(cell, len(head)) for cell, head in zip(cells, heads, strict=True)]
    tight = [max([cell, *map(len, head.split())]) for cell, head in zip(cells, heads, strict=True)]
    least = [wide if number else min(wide, _SHORTEST) for wide, number in zip(tight, numeric, strict=True)]
    kept = list(range(len(heads)))

    def room(of: Sequence[int]) -> int:
        return width - sum(of[n] for n in kept) - _GAP * (len(kept) - 1)

    while len(kept) > 1 and room(least) < 0:
        kept.pop()
    if room(roomy) >= 0:
        return kept, [roomy[n] for n in kept]
    if room(tight) >= 0:
        return kept, [tight[n] for n in kept]
    widths = [least[n] for n in kept]
    spare = room(least)
    while spare > 0:
        wanting = [place for place, n in enumerate(kept) if widths[place] < tight[n]]
        if not wanting:
            break
        narrowest = min(wanting, key=lambda place: widths[place])
        widths[narrowest] += 1
        spare -= 1
    return kept, widths


def _head_lines(heads: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> list[str]:
    """Returns the lines of the heads, which are wrapped to the widths of their columns and aligned at the bottom."""
    broken = [textwrap.wrap(head, max(1, wide)) or [""] for head, wide in zip(heads, widths, strict=True)]
    most = max(map(len, broken))
    cells = [[""] * (most - len(each)) + each for each in broken]
    columns = list(zip(cells, widths, numeric, strict=True))
    return [
        (" " * _GAP).join(_padded(each[line], wide, right) for each, wide, right in columns).rstrip()
        for line in range(most)
    ]


def shortened(cell: str, wide: int) -> str:
    """Returns a cell of words without its middle if it is too long; a C++ name loses its parameters instead."""
    if len(cell) > wide and is_long_name(cell):
        cell = fitting_name(cell, lambda name: len(name) <= wide)
    return cell if len(cell) <= wide else middle(cell, wide - 1)


def _padded(cell: str, wide: int, right: bool) -> str:
    """Returns the cell padded to its column's width."""
    return cell.rjust(wide) if right else cell.ljust(wide)
