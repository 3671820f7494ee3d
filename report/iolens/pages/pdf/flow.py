"""Blocks as reportlab's flowables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import CondPageBreak, Flowable, KeepTogether, Paragraph, Preformatted
from reportlab.platypus import Table as Grid

from iolens.pages.base.blocks import Block, FigureBlock, Row, Table, Text, described
from iolens.pages.pdf.grid import grid
from iolens.pages.pdf.tags import KINDS, tagged
from iolens.pages.pdf.vector import BOLD, MONO, PLAIN, draw_figure, font

GAP = 12.0
_LONG, _ROOM = 16, 110.0
"""A table with more rows than _LONG may be split over pages, but does not begin on a page with less than _ROOM points
left.
"""
_BELONGING = ("small", "code")
"""Styles of texts that stay on one page with the finding above them."""
_INK, _QUIET = HexColor("#222222"), HexColor("#555555")


@dataclass(frozen=True)
class Spacing:
    """The spacing of blocks: the scale of figures, and the points below each block."""

    figures: float = 1.0
    below: float = 11.0


USUAL, CLOSE = Spacing(), Spacing(figures=0.88, below=5.0)

_STYLES: dict[str, dict[str, Any]] = {
    "body": {"fontName": PLAIN, "fontSize": 8.5, "leading": 12, "textColor": _INK, "spaceAfter": 5},
    "lead": {"fontName": BOLD, "fontSize": 10, "leading": 14, "textColor": _INK, "spaceAfter": 7},
    "note": {
        "fontName": PLAIN,
        "fontSize": 7,
        "leading": 9.5,
        "textColor": _QUIET,
        "spaceBefore": 3,
        "spaceAfter": 5,
    },
    "page": {"fontName": BOLD, "fontSize": 13, "leading": 17, "textColor": _INK, "spaceBefore": 10, "spaceAfter": 7},
    "heading": {
        "fontName": BOLD,
        "fontSize": 9,
        "leading": 12,
        "textColor": _INK,
        "spaceBefore": 4,
        "spaceAfter": 3,
    },
    "finding": {"fontName": BOLD, "fontSize": 8.5, "leading": 12, "textColor": _INK, "spaceBefore": 2, "spaceAfter": 1},
    "small": {"fontName": PLAIN, "fontSize": 7.5, "leading": 10, "textColor": _INK, "spaceAfter": 3},
    "code": {
        "fontName": MONO,
        "fontSize": 7.5,
        "leading": 10,
        "textColor": _INK,
        "backColor": HexColor("#f3f3f3"),
        "borderPadding": 4,
        "leftIndent": 4,
        "spaceBefore": 5,
        "spaceAfter": 9,
    },
}


class _Words(Paragraph):  # type: ignore[misc]
    """A paragraph or heading that is marked in the document's structure."""

    def draw(self) -> None:
        """Draws the text as an element of the document's structure."""
        with tagged(self.canv, KINDS.get(self.style.name, "P")):
            super().draw()


class _Code(Preformatted):  # type: ignore[misc]
    """Lines to paste that are marked in the document's structure."""

    def draw(self) -> None:
        """Draws the lines as an element of the document's structure."""
        with tagged(self.canv, "P"):
            super().draw()


_BEFORE_UNIT, _UNBROKEN = re.compile(r"(?<=\d) (?=%|(?:[KMGT]i)?B\b|[mµ]?s\b|min\b)"), "\u00a0"
"""Matches the space between a number and its unit. The other value replaces this space, so that no line is broken
there.
"""


def _paragraph(text: str, style: str) -> Flowable:
    """Returns one paragraph."""
    look = _STYLES[style]
    font(look["fontName"])
    kind = _Code if style == "code" else _Words
    words = text if style == "code" else escape(_BEFORE_UNIT.sub(_UNBROKEN, text), quote=False)
    return kind(words, ParagraphStyle(style, **look))


class Heading(_Words):
    """A page's title, also an entry of the PDF's outline."""

    def draw(self) -> None:
        """Draws the title and marks its place in the outline."""
        key = f"{self.canv.getPageNumber()} {self.text}"
        self.canv.bookmarkPage(key)
        self.canv.addOutlineEntry(self.text, key, 0)
        super().draw()


def _heading(title: str) -> Flowable:
    """Returns a page's title."""
    font(BOLD)
    found = Heading(escape(title, quote=False), ParagraphStyle("page", **_STYLES["page"]))
    found.text = title
    return found


class Drawing(Flowable):  # type: ignore[misc]
    """A matplotlib figure that is shrunk to `width` points if it is wider, then scaled; `says` describes its content in
    words.
    """

    def __init__(self, figure: Any, width: float, scale: float, says: str) -> None:
        super().__init__()
        self.says = says
        size = 72 * figure.get_size_inches()
        self.figure, self.factor = figure, scale * min(1.0, width / size[0])
        self.width, self.height = (float(self.factor * length) for length in size)

    def wrap(self, *available: float) -> tuple[float, float]:
        """Returns the size that the figure takes."""
        return self.width, self.height

    def draw(self) -> None:
        """Draws the figure as vectors."""
        self.canv.scale(self.factor, self.factor)
        with tagged(self.canv, "Figure", self.says):
            draw_figure(self.canv, self.figure)


def together(blocks: Sequence[Block]) -> list[list[Block]]:
    """Returns the blocks in groups that stay on one sheet: a finding with its evidence and remedy, any other
    block alone.
    """
    groups: list[list[Block]] = []
    for block in blocks:
        if groups and isinstance(block, Text) and block.style in _BELONGING and _begins_finding(groups[-1][0]):
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _begins_finding(block: Block) -> bool:
    """Returns whether a block begins a finding."""
    return isinstance(block, Text) and block.style == "finding"


def flowables(group: Sequence[Block], width: float, spacing: Spacing) -> list[Flowable]:
    """Returns the flowables of a group in a column of `width` points: the group stays together, except that a long
    table may be split.
    """
    block = group[0]
    if isinstance(block, Table) and len(block.rows) > _LONG:
        return [CondPageBreak(_ROOM), *_parts(block, width, spacing)]
    return [KeepTogether([flow for one in group for flow in _parts(one, width, spacing)])]


def headed(title: str, group: Sequence[Block], width: float, spacing: Spacing) -> list[Flowable]:
    """Returns a page's title and its first group, on one sheet."""
    block = group[0]
    if isinstance(block, Table) and len(block.rows) > _LONG:
        return [CondPageBreak(_ROOM), _heading(title), *_parts(block, width, spacing)]
    return [KeepTogether([_heading(title), *(flow for one in group for flow in _parts(one, width, spacing))])]


def _parts(block: Block, width: float, spacing: Spacing) -> list[Flowable]:
    """Returns the pieces of a block, from top to bottom."""
    if isinstance(block, Text):
        return [_paragraph(block.text, block.style)]
    if isinstance(block, FigureBlock):
        figure = Drawing(block.figure, min(width, block.width or width), spacing.figures, described(block))
        return _spaced([*_titled(block.title), figure, *_note_paragraph(block.caption)], spacing)
    if isinstance(block, Table):
        return _spaced([*_titled(block.title), grid(block, width, _note_paragraph(block.note))], spacing)
    return [side_by_side(block, width, spacing)]


def _spaced(flow: list[Flowable], spacing: Spacing) -> list[Flowable]:
    """Adds space below the last piece, unless a page ends there."""
    flow[-1].spaceAfter = spacing.below
    return flow


def _titled(title: str) -> list[Flowable]:
    """Returns the title as a heading; an empty list if there is no title."""
    return [_paragraph(title, "heading")] if title else []


def _note_paragraph(note: str) -> list[Flowable]:
    """Returns the note as a paragraph, or an empty list if there is none."""
    return [_paragraph(note, "note")] if note else []


def side_by_side(row: Row, width: float, spacing: Spacing = USUAL) -> Flowable:
    """Returns the blocks of a row in columns, with their tops aligned."""
    shares = row.shares or [1.0] * len(row.blocks)
    room = width - GAP * (len(row.blocks) - 1)
    widths = [room * share / sum(shares) for share in shares]
    cells = [_parts(block, wide, spacing) for block, wide in zip(row.blocks, widths, strict=True)]
    columns = [wide + (GAP if i < len(widths) - 1 else 0) for i, wide in enumerate(widths)]
    style = [
        ("FONTNAME", (0, 0), (-1, -1), font(PLAIN)),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        *((f"{side}PADDING", (0, 0), (-1, -1), 0) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")),
        ("RIGHTPADDING", (0, 0), (-2, -1), GAP),
    ]
    found = Grid([cells], colWidths=columns, style=style, hAlign="LEFT")
    return _spaced([found], spacing)[0]
