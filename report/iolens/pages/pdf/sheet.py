"""A document as a PDF: sheets of A4 with header, footer and page numbers, and the flow of blocks over them."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
)

from iolens.pages.base.blocks import Page
from iolens.pages.pdf.flow import CLOSE, USUAL, Spacing, flowables, headed, together
from iolens.pages.pdf.grid import shorten
from iolens.pages.pdf.tags import Tags, artifact
from iolens.pages.pdf.vector import BOLD, PLAIN, font, text_width

_MARGIN = 48.0
_HEADER, _FOOTER = 46.0, 30.0
_WIDTH, _HEIGHT = A4[0] - 2 * _MARGIN, A4[1] - _MARGIN - _FOOTER - _HEADER
_LEAST_FULL = 0.6
"""Minimum share of a sheet that must be used before a new sheet is begun."""
_NEARLY_EMPTY = 0.2
"""A last sheet that is filled to a smaller share than this is avoided, if its contents fit on the other sheets."""
_INK, _QUIET, _LINE, _ALERT = HexColor("#222222"), HexColor("#666666"), HexColor("#bbbbbb"), HexColor("#b03a00")


def build_pdf(path: Path, title: str, subtitle: str, pages: Sequence[Page], labels: Sequence[str]) -> None:
    """Lays out the pages and writes the PDF; a page may have a subtitle and labels of its own. If the last sheet would
    be nearly empty, figures and spaces are made smaller, provided that this saves a sheet.
    """
    content, sheets, used = _laid_out(title, subtitle, pages, labels, USUAL)
    if sheets > 1 and used < _NEARLY_EMPTY:
        closer, fewer, _ = _laid_out(title, subtitle, pages, labels, CLOSE)
        content = closer if fewer < sheets else content
    path.write_bytes(content)


def _laid_out(
    title: str, subtitle: str, pages: Sequence[Page], labels: Sequence[str], spacing: Spacing
) -> tuple[bytes, int, float]:
    """Returns the PDF, the number of its sheets, and the part of the last sheet that is in use."""
    content = BytesIO()
    document = BaseDocTemplate(
        content,
        pagesize=A4,
        title=title,
        author="iolens",
        creator="iolens",
        lang="en",
        invariant=1,
        pageCompression=1,
    )
    templates, story = [], []
    for number, page in enumerate(pages):
        below = subtitle if page.subtitle is None else page.subtitle
        marked = labels if page.labels is None else page.labels
        templates.append(_template(f"sheet{number}", title, below, marked))
        if not (page.joined and number):
            story += [NextPageTemplate(f"sheet{number}"), *([_new_sheet(page)] if number else [])]
        first, *others = together(page.blocks)
        story += headed(page.title, first, _WIDTH, spacing)
        for group in others:
            story += flowables(group, _WIDTH, spacing)
    document.addPageTemplates(templates)
    end = End()
    document.build([*story, end], canvasmaker=NumberedCanvas)
    return content.getvalue(), document.page, 1 - end.left / _HEIGHT


def _new_sheet(page: Page) -> Flowable:
    """Returns the break before a page. A page without a subtitle or labels of its own does not begin a new sheet if the
    sheet before it is less than six tenths full.
    """
    has_own = page.subtitle is not None or page.labels is not None
    return PageBreak() if has_own else CondPageBreak(_HEIGHT * (1 - _LEAST_FULL))


def _template(name: str, title: str, subtitle: str, labels: Sequence[str]) -> PageTemplate:
    """Returns the template of a PDF page: its frame, header and footer."""
    frame = Frame(
        _MARGIN,
        _MARGIN / 2 + _FOOTER,
        _WIDTH,
        _HEIGHT,
        leftPadding=0,
        rightPadding=0,
        topPadding=0,
        bottomPadding=0,
    )

    def surround(canvas: Any, document: Any) -> None:
        with artifact(canvas):
            _draw_header(canvas, title, subtitle)
            _draw_footer(canvas, labels)

    return PageTemplate(id=name, frames=[frame], onPage=surround)


def _draw_header(canvas: Any, title: str, subtitle: str) -> None:
    """Draws title, subtitle and a line."""
    top = A4[1] - _MARGIN / 2 - 10
    canvas.setFillColor(_INK)
    canvas.setFont(font(BOLD), 10.5)
    canvas.drawString(_MARGIN, top, shorten(title, BOLD, 10.5, _WIDTH))
    canvas.setFillColor(_QUIET)
    canvas.setFont(font(PLAIN), 7.5)
    canvas.drawString(_MARGIN, top - 12, shorten(subtitle, PLAIN, 7.5, _WIDTH))
    canvas.setStrokeColor(_LINE)
    canvas.setLineWidth(0.6)
    canvas.line(_MARGIN, top - 18, A4[0] - _MARGIN, top - 18)


def _draw_footer(canvas: Any, labels: Sequence[str]) -> None:
    """Draws a line, and the labels in boxes; the page number is drawn when the number of pages is known."""
    base = _MARGIN / 2 + 8
    canvas.setStrokeColor(_LINE)
    canvas.setLineWidth(0.6)
    canvas.line(_MARGIN, base + 14, A4[0] - _MARGIN, base + 14)
    x = _MARGIN
    for label in labels:
        wide = text_width(label, BOLD, 7) + 8
        canvas.setStrokeColor(_ALERT)
        canvas.setFillColor(_ALERT)
        canvas.rect(x, base - 3.5, wide, 12, stroke=1, fill=0)
        canvas.setFont(font(BOLD), 7)
        canvas.drawString(x + 4, base, label)
        x += wide + 6


class End(Flowable):  # type: ignore[misc]
    """Takes no room, and records how much of the last sheet is left, in points."""

    left = 0.0

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        """Remembers how much height the sheet has left; takes no room itself."""
        self.left = height
        return 0.0, 0.0

    def draw(self) -> None:
        """Draws nothing."""


class NumberedCanvas(Canvas):  # type: ignore[misc]
    """A canvas that holds the pages back until their number is known."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "initialFontName": font(PLAIN)})
        self.tags = Tags()
        self.held: list[dict[str, Any]] = []

    def showPage(self) -> None:
        """Holds the page back until `save`."""
        self.held.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        """Numbers the pages, then writes them all and their structure."""
        for number, state in enumerate(self.held, start=1):
            self.__dict__.update(state)
            self.setFillColor(_QUIET)
            self.setFont(font(PLAIN), 7.5)
            with artifact(self):
                self.drawRightString(A4[0] - _MARGIN, _MARGIN / 2 + 8, f"page {number} of {len(self.held)}")
            super().showPage()
        self.tags.write(self._doc)
        self.setViewerPreference("DisplayDocTitle", "true")
        super().save()
