"""Tables and paragraphs as lines of text. A number is never cut; columns for which there is no room are left out and
named.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from iolens.foreign import printable_text
from iolens.pages.blocks import Table
from iolens.pages.exhibits.processor.drilled import INDENT
from iolens.pages.text.cells import NUMBER, middle
from iolens.pages.text.names import fitting_name, is_long_name

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
