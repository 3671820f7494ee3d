"""Tables as plain text, in pat_report's layout: numbers on the left, names on the right, with bars that show their
depth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from iolens.pages.base.words import INDENT
from iolens.pages.text.lines import NUMBER, shortened

if TYPE_CHECKING:
    from iolens.pages.base.blocks import Table

_WIDTH = 110
_LONGEST = 60
"""Maximum width of a text that is not a path, in characters."""
_SHORTEST = 8
"""Minimum width to which a text is narrowed on a terminal, in characters."""
_NAME = 24
"""Minimum room for names, in characters. Columns of numbers are dropped until names have this room, and longer names
are shortened.
"""
UNLIMITED = 100_000
"""Width of an output that is not a terminal."""
_HEAD = 10
"""Maximum width of a column's head before it is broken."""


def plain_table(table: Table, room: int = UNLIMITED) -> str:
    """Returns one line per row, or several for long texts, with numbers aligned to the right. If a table is wider than
    `room` columns, its texts are broken into more lines, and then its heads; then its last columns are left out and
    named, unless they have paths. A path stays whole, and may extend beyond the edge.
    """
    every = len(table.columns)
    steps = [(every, longest, _HEAD) for longest in range(_LONGEST, _SHORTEST - 1, -4)]
    steps += [(shown, _SHORTEST, 0) for shown in range(every, _fewest(table) - 1, -1)]
    bodies = ((shown, _plain_lines(table, shown, longest, head)) for shown, longest, head in steps)
    shown, body = next(
        (pair for pair in bodies if len(pair[1][0]) <= room), (every, _plain_lines(table, every, _SHORTEST, 0))
    )
    note = " ".join(filter(None, (table.note, _columns_left_out(table.columns[shown:]))))
    return "\n".join([table.title, "", *body, *_note_lines(note, room)])


def _fewest(table: Table) -> int:
    """Returns the smallest number of columns that are shown: those up to the last one with a path, and at least two."""
    return max([2, *(n + 1 for row in table.rows for n, cell in enumerate(row) if cell.startswith("/"))])


def _plain_lines(table: Table, shown: int, longest: int, head: int) -> list[str]:
    """Returns the lines of the first columns of a table."""
    rows = [part for row in table.rows for part in _row_lines(row[:shown], longest)]
    return _table_lines(table.columns[:shown], rows, head)


def _columns_left_out(heads: Sequence[str]) -> str:
    """Returns a sentence that names the columns that do not fit; "" if all do."""
    return f"No room for {', '.join(f'“{head}”' for head in heads)}: --csv has all columns." if heads else ""


def _row_lines(row: Sequence[str], longest: int) -> list[list[str]]:
    """Returns the lines of each cell of a row. Long texts are broken, and lists are broken after their commas; a path
    stays whole.
    """
    cells = [_cell_lines(cell, longest) for cell in row]
    return [[cell[n] if n < len(cell) else "" for cell in cells] for n in range(max(map(len, cells)))]


def _cell_lines(cell: str, longest: int) -> list[str]:
    """Returns the lines of a cell."""
    lines = []
    for line in wrap(cell, longest, break_long_words=False, break_on_hyphens=False) or [""]:
        parts = re.split(r"(?<=,)(?=\S)", line) if len(line) > longest and "/" not in line else [line]
        lines.append(parts[0])
        for part in parts[1:]:
            if len(lines[-1]) + len(part) <= longest:
                lines[-1] += part
            else:
                lines.append(part)
    return lines


def drilled(table: Table, depths: Sequence[int], levels: Sequence[str], room: int = UNLIMITED) -> str:
    """Returns one line per row, the first column last; `levels` are the names of the depths below the total. Columns
    that do not fit into `room` are left out and named, the last ones first.
    """
    deepest = max(depths, default=0)
    names = [row[0].replace(INDENT, "") for row in table.rows]
    widest = max((max(depth - 1, 0) + len(name) for depth, name in zip(depths, names, strict=True)), default=0)
    shown = len(table.columns)
    body = _table_lines(table.columns[1:], [row[1:] for row in table.rows])
    while shown > 2 and deepest + len(body[0]) + 3 + min(widest, _NAME) > room:
        shown -= 1
        body = _table_lines(table.columns[1:shown], [row[1:shown] for row in table.rows])
    note = " ".join(filter(None, (table.note, _columns_left_out(table.columns[shown:]))))
    width = len(body[0])
    names = [
        shortened(name, max(_NAME, room - deepest - width - 3 - max(depth - 1, 0)))
        for depth, name in zip(depths, names, strict=True)
    ]
    end = min(20, max(0, room - width - deepest))
    said, before = [], 0
    for depth, name, values in zip(depths, names, body[len(body) - len(names) :], strict=True):
        if depth > before:
            said.append(f"{'|' * depth:<{deepest}}{'-' * (width + end)}")
        said.append(f"{'|' * depth:<{deepest}}{values} | {' ' * max(depth - 1, 0)}{name}")
        before = depth
    ends = [f"{' ' * deepest}{head} |" for head in body[: len(body) - len(names) - 1]]
    heads = [
        line + (f" {' ' * place}{name}" if name else "")
        for place, name, line in _heading_lines(ends, levels, width, deepest)
    ]
    rule = "=" * (width + end + deepest)
    return "\n".join([table.title, "", *heads, "", *said, rule, *_note_lines(note, room)])


def _heading_lines(ends: Sequence[str], levels: Sequence[str], width: int, deepest: int) -> list[tuple[int, str, str]]:
    """Returns the heading lines above the tree's rows. Each has its number, the name of a level of the tree, and the
    text above the columns. Where a line lacks the name or the text, that part is blank.
    """
    blank = f"{' ' * (deepest + width)} |"
    count = max(len(ends), len(levels))
    heads = [*[blank] * (count - len(ends)), *ends]
    names = [*levels, *[""] * (count - len(levels))]
    return [(place, name, head) for place, (name, head) in enumerate(zip(names, heads, strict=True))]


def _table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]], longest: int = _HEAD) -> list[str]:
    """Returns the lines of the heads (one word per line if they are wider than their column), a rule, and the rows. A
    head of at most `longest` characters stays in one line.
    """
    widths = [
        max([len(cell) for cell in cells] + [len(word) for word in head.split()] + [min(longest, len(head))])
        for head, cells in zip(heads, _cells_by_column(rows, len(heads)), strict=True)
    ]
    flush = [all(NUMBER.match(cell) for cell in cells) for cells in _cells_by_column(rows, len(heads))]
    broken = [wrap(head, wide) or [""] for head, wide in zip(heads, widths, strict=True)]
    tall = max((len(parts) for parts in broken), default=1)
    top = [[""] * (tall - len(parts)) + parts for parts in broken]

    def line(cells: Sequence[str]) -> str:
        """Returns one line of cells."""
        each = zip(cells, widths, flush, strict=True)
        return " " + " | ".join(f"{cell:>{wide}}" if right else f"{cell:<{wide}}" for cell, wide, right in each)

    rule = " " + "-+-".join("-" * wide for wide in widths)
    return [*(line([parts[n] for parts in top]) for n in range(tall)), rule, *(line(row) for row in rows)]


def _cells_by_column(rows: Sequence[Sequence[str]], count: int) -> list[list[str]]:
    """Returns the cells by column."""
    return [[row[n] for row in rows] for n in range(count)]


def _note_lines(note: str, room: int) -> list[str]:
    """Returns the note, in lines."""
    return ["", *wrap(note, min(_WIDTH, room), break_on_hyphens=False)] if note else []
