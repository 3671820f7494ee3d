"""A table's layout: column widths from the words, long words broken or shortened, numbers flush right."""

from __future__ import annotations

from collections.abc import Sequence

from reportlab.lib.colors import HexColor
from reportlab.platypus import Flowable
from reportlab.platypus import Table as Grid

from iolens.pages.blocks import Table
from iolens.pages.cells import NUMBER
from iolens.pages.fonts import BOLD, PLAIN, font, text_width
from iolens.pages.shorten import broken

SIZE, LEADING, PAD = 7.2, 9.2, 4.0
INK, LINE, BAND = HexColor("#222222"), HexColor("#999999"), HexColor("#f6f6f6")


def grid(table: Table, width: float) -> Flowable:
    """The table as a flowable that repeats its head, if it has one, on every sheet it goes over."""
    rows = [[str(cell) for cell in row] for row in table.rows]
    heads = [str(name) for name in table.columns]
    widths = column_widths(heads, rows, width)
    cells = [wrapped(row, widths, PLAIN) for row in rows]
    head = int(any(heads))
    if head:
        cells.insert(0, wrapped(heads, widths, BOLD))
    style: list[tuple[object, ...]] = [
        ("FONT", (0, 0), (-1, -1), font(PLAIN), SIZE, LEADING),
        ("TEXTCOLOR", (0, 0), (-1, -1), INK),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, -1), (-1, -1), 0.4, LINE),
        ("ROWBACKGROUNDS", (0, head), (-1, -1), [None, BAND]),
        ("TOPPADDING", (0, 0), (-1, -1), 1.6),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 1.8),
        ("LEFTPADDING", (0, 0), (-1, -1), PAD / 2),
        ("RIGHTPADDING", (0, 0), (-1, -1), PAD / 2),
    ]
    if head:
        style += [
            ("FONT", (0, 0), (-1, 0), font(BOLD), SIZE, LEADING),
            ("VALIGN", (0, 0), (-1, 0), "BOTTOM"),
            ("LINEBELOW", (0, 0), (-1, 0), 0.6, LINE),
        ]
    for column in range(len(heads)):
        if rows and all(NUMBER.match(row[column]) for row in rows):
            style.append(("ALIGN", (column, 0), (column, -1), "RIGHT"))
    return Grid(cells, colWidths=widths, repeatRows=head, style=style, hAlign="LEFT")


def column_widths(heads: Sequence[str], rows: Sequence[Sequence[str]], width: float) -> list[float]:
    """Each column as wide as its longest cell; when all together are too wide, the widest give way to a cap.

    A head may be broken at spaces, so that its longest word counts for it.
    """
    wanted = []
    for column, head in enumerate(heads):
        longest = max((text_width(word, BOLD, SIZE) for word in head.split()), default=0.0)
        cells = {row[column] for row in rows}
        wanted.append(max([longest, *(text_width(cell, PLAIN, SIZE) for cell in cells)]) + PAD + 0.5)
    whole = [text_width(head, BOLD, SIZE) + PAD + 0.5 for head in heads]
    roomy = [max(pair) for pair in zip(wanted, whole, strict=True)]
    if sum(roomy) <= width:
        return roomy
    return capped(wanted, width)


def capped(wanted: Sequence[float], width: float) -> list[float]:
    """Widths with one cap for all, the highest cap at which they fit into `width`."""
    left, room = len(wanted), width
    for want in sorted(wanted):
        if want * left > room:
            return [min(each, room / left) for each in wanted]
        room, left = room - want, left - 1
    return list(wanted)


def wrapped(cells: Sequence[str], widths: Sequence[float], name: str) -> list[str]:
    """Cells with line ends where their column needs them."""
    return ["\n".join(broken(cell, name, SIZE, wide - PAD)) for cell, wide in zip(cells, widths, strict=True)]
