"""A table's layout on sheets: column widths from the words, long words broken or shortened, numbers flush right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.platypus import Flowable
from reportlab.platypus import Table as Grid

from iolens.pages.base.blocks import Table
from iolens.pages.pdf.tags import TaggedTable
from iolens.pages.pdf.vector import BOLD, PLAIN, font, text_width
from iolens.pages.text.lines import NUMBER, fitting_name, is_long_name, middle


def shorten(text: str, font: str, size: float, width: float) -> str:
    """Returns the text on one line of `width` points; if it is longer, an ellipsis replaces its middle. A C++ name
    loses its parameters and template arguments first.
    """
    if text_width(text, font, size) <= width:
        return text
    if is_long_name(text):
        text = fitting_name(text, lambda name: text_width(name, font, size) <= width)
        if text_width(text, font, size) <= width:
            return text
    low, high = 1, len(text) - 1
    while low < high:
        keep = (low + high + 1) // 2
        low, high = (keep, high) if text_width(middle(text, keep), font, size) <= width else (low, keep - 1)
    return middle(text, low)


def broken(text: str, font: str, size: float, width: float) -> list[str]:
    """Returns the text in lines of at most `width` points, broken at spaces; a word that is longer is shortened.

    All lines have the indent of the text. A C++ name stays on one line.
    """
    if text_width(text, font, size) <= width:
        return [text]
    if is_long_name(text):
        return [shorten(text, font, size, width)]
    indent = text[: len(text) - len(text.lstrip())]
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else f"{indent}{word}"
        if lines and text_width(longer, font, size) <= width:
            lines[-1] = longer
        else:
            lines.append(shorten(f"{indent}{word}", font, size, width))
    return lines


_SIZE, _PAD = 7.2, 4.0
_USUAL, _CLOSE = (9.2, 1.6, 1.8), (8.6, 0.9, 1.1)
"""Distances in points from line to line, above a row and below a row, in tables with usual and with reduced spacing."""
_FEWEST = 6
"""Minimum number of rows of a table on its last sheet."""
_INK, _LINE, _BAND = HexColor("#222222"), HexColor("#999999"), HexColor("#f6f6f6")


class Sheets(Flowable):  # type: ignore[misc]
    """A table and its note over as many sheets as they need; the last sheet never has only the note or only a few rows.

    `closer` makes the same table with less space between rows, which is used if that saves a sheet.
    """

    def __init__(self, whole: Grid, note: Sequence[Flowable] = (), closer: Callable[[], Grid] | None = None) -> None:
        super().__init__()
        self.whole, self.note, self.closer = whole, note, closer
        self.spaceAfter, self.hAlign = 0, "LEFT"

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        """Returns the width and height of the table with its note."""
        below = sum(part.wrap(width, height)[1] + part.getSpaceBefore() for part in self.note)
        size = self.whole.wrap(width, height)
        if self.closer is not None and size[1] + below > height:
            tight = self.closer()
            if tight.wrap(width, height)[1] + below <= height:
                self.whole, size = tight, tight.wrap(width, height)
        self.width, self.height = max(size[0], width if self.note else 0), size[1] + below
        return self.width, self.height

    def split(self, width: float, height: float) -> list[Flowable]:
        """Returns the part that fits into the height, and the rest with the note."""
        heights = self.whole._rowHeights
        fits = self.whole.wrap(width, height)[1] <= height
        parts = [] if fits else self.whole.split(width, height)
        rest = _row_count(parts[1]) if len(parts) == 2 else 0
        if rest < _FEWEST <= _row_count(self.whole) // 2 and (fits or rest):
            room = sum(heights) if fits else height
            parts = self.whole.split(width, room - sum(heights[len(heights) - _FEWEST + rest :]) - 0.1)
        return [parts[0], Sheets(parts[1], self.note)] if len(parts) == 2 else []

    def draw(self) -> None:
        """Draws the table and its note."""
        y = self.height - self.whole._height
        self.whole.drawOn(self.canv, 0, y)
        for part in self.note:
            y -= part.getSpaceBefore() + part.height
            part.drawOn(self.canv, 0, y)


def _row_count(part: Any) -> int:
    """Returns the number of rows of a reportlab table, without its head."""
    return int(part._nrows) - int(part.repeatRows)


def grid(table: Table, width: float, note: Sequence[Flowable] = ()) -> Flowable:
    """Returns the table and its note as a flowable that repeats its head, if it has one, on every sheet it
    goes over.
    """
    return Sheets(_set_table(table, width, closer=False), note, lambda: _set_table(table, width, closer=True))


def _set_table(table: Table, width: float, closer: bool) -> Grid:
    """Returns the table as reportlab draws it."""
    rows = [[str(cell) for cell in row] for row in table.rows]
    heads = [str(name) for name in table.columns]
    widths = column_widths(heads, rows, width)
    cells = [_broken_cells(row, widths, PLAIN) for row in rows]
    head = int(any(heads))
    if head:
        cells.insert(0, _broken_cells(heads, widths, BOLD))
    leading, above, below = _CLOSE if closer else _USUAL
    style: list[tuple[object, ...]] = [
        ("FONT", (0, 0), (-1, -1), font(PLAIN), _SIZE, leading),
        ("TEXTCOLOR", (0, 0), (-1, -1), _INK),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, -1), (-1, -1), 0.4, _LINE),
        ("ROWBACKGROUNDS", (0, head), (-1, -1), [None, _BAND]),
        ("TOPPADDING", (0, 0), (-1, -1), above),
        ("BOTTOMPADDING", (0, 0), (-1, -1), below),
        ("LEFTPADDING", (0, 0), (-1, -1), _PAD / 2),
        ("RIGHTPADDING", (0, 0), (-1, -1), _PAD / 2),
    ]
    if head:
        style += [
            ("FONT", (0, 0), (-1, 0), font(BOLD), _SIZE, leading),
            ("VALIGN", (0, 0), (-1, 0), "BOTTOM"),
            ("LINEBELOW", (0, 0), (-1, 0), 0.6, _LINE),
        ]
    for column in range(len(heads)):
        if rows and all(NUMBER.match(row[column]) for row in rows):
            style.append(("ALIGN", (column, 0), (column, -1), "RIGHT"))
    return TaggedTable(cells, colWidths=widths, repeatRows=head, style=style, hAlign="LEFT")


def column_widths(heads: Sequence[str], rows: Sequence[Sequence[str]], width: float) -> list[float]:
    """Returns the width of each column: that of its longest cell.

    If all columns together are too wide, the widest are limited to a common maximum. A head may be broken at spaces, so
    that only its longest word counts.
    """
    wanted = []
    for column, head in enumerate(heads):
        longest = max((text_width(word, BOLD, _SIZE) for word in head.split()), default=0.0)
        cells = {row[column] for row in rows}
        wanted.append(max([longest, *(text_width(cell, PLAIN, _SIZE) for cell in cells)]) + _PAD + 0.5)
    whole = [text_width(head, BOLD, _SIZE) + _PAD + 0.5 for head in heads]
    roomy = [max(pair) for pair in zip(wanted, whole, strict=True)]
    if sum(roomy) <= width:
        return roomy
    return capped(wanted, width)


def capped(wanted: Sequence[float], width: float) -> list[float]:
    """Returns the widths, limited to the largest common maximum with which they fit into `width`."""
    left, room = len(wanted), width
    for want in sorted(wanted):
        if want * left > room:
            return [min(each, room / left) for each in wanted]
        room, left = room - want, left - 1
    return list(wanted)


def _broken_cells(cells: Sequence[str], widths: Sequence[float], name: str) -> list[str]:
    """Returns the cells with line breaks where their column requires them."""
    return ["\n".join(broken(cell, name, _SIZE, wide - _PAD)) for cell, wide in zip(cells, widths, strict=True)]
