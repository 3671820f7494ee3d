"""The structure of a PDF for readers who cannot see it (ISO 32000-1, 14.7 and 14.8).

It has headings, paragraphs, tables by row and cell, and figures with their alternative texts, in the order of reading.
reportlab draws pages and knows nothing of structure. Here every piece of content is marked in the stream of its page,
and the elements that the marks belong to are written when the document is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from reportlab.pdfbase.pdfdoc import PDFArray, PDFDictionary, PDFName, PDFString
from reportlab.platypus import Table as Grid

KINDS = {"page": "H1", "heading": "H2", "finding": "H3"}
"""The standard structure type of each style of text; all others are paragraphs."""


@dataclass(eq=False)
class _Element:
    """An element of the structure: its children, or the number of its marked content on its page."""

    kind: str
    alternative: str = ""
    below: list[_Element] = field(default_factory=list)
    page: int = 0
    mark: int = 0


class Tags:
    """The elements of one document, collected while its pages are drawn."""

    def __init__(self) -> None:
        self.document = _Element("Document")
        self.open = [self.document]
        self.by_page: dict[int, list[_Element]] = {}

    def begin(self, kind: str, alternative: str = "") -> _Element:
        """Returns a new element below the innermost open one; the new element becomes the innermost open one."""
        made = _Element(kind, alternative)
        self.open[-1].below.append(made)
        self.open.append(made)
        return made

    def end(self) -> None:
        """Closes the innermost open element."""
        self.open.pop()

    def mark(self, element: _Element, page: int) -> int:
        """Returns the number of an element's content on this page."""
        there = self.by_page.setdefault(page, [])
        there.append(element)
        element.page, element.mark = page, len(there) - 1
        return element.mark

    def write(self, document: Any) -> None:
        """Adds the structure to a document of reportlab whose pages are complete."""
        pages = document.Pages.pages
        for number, page in enumerate(pages):
            page.StructParents, page.Tabs = number, PDFName("S")
            page.__NoDefault__ = [*page.__NoDefault__, "StructParents", "Tabs"]
        root = PDFDictionary({"Type": PDFName("StructTreeRoot")})
        place = document.Reference(root)
        found: dict[int, Any] = {}
        root["K"] = _write_element(self.document, place, document, found)
        tree = [
            part
            for number in range(len(pages))
            for part in (number, PDFArray([found[id(one)] for one in self.by_page.get(number + 1, [])]))
        ]
        root["ParentTree"] = document.Reference(PDFDictionary({"Nums": PDFArray(tree)}))
        document.Catalog.StructTreeRoot = place
        document.Catalog.MarkInfo = PDFDictionary({"Marked": "true"})


def _write_element(element: _Element, parent: Any, document: Any, found: dict[int, Any]) -> Any:
    """Adds an element and all elements below it to the document. Returns the element's reference, which is also added
    to `found`.
    """
    made = PDFDictionary({"S": PDFName(element.kind), "P": parent})
    place = found[id(element)] = document.Reference(made)
    if element.alternative:
        made["Alt"] = PDFString(element.alternative)
    if element.kind == "TH":
        made["A"] = PDFDictionary({"O": PDFName("Table"), "Scope": PDFName("Column")})
    if element.page:
        made["Pg"] = document.Reference(document.Pages.pages[element.page - 1])
        made["K"] = element.mark
    else:
        made["K"] = PDFArray([_write_element(one, place, document, found) for one in element.below])
    return place


@contextmanager
def tagged(canvas: Any, kind: str, alternative: str = "") -> Iterator[None]:
    """Marks everything that is drawn inside the block as the content of a new element."""
    element = canvas.tags.begin(kind, alternative)
    canvas.addLiteral(f"/{kind} <</MCID {canvas.tags.mark(element, canvas.getPageNumber())}>> BDC")
    yield
    canvas.addLiteral("EMC")
    canvas.tags.end()


@contextmanager
def artifact(canvas: Any) -> Iterator[None]:
    """Marks everything that is drawn inside the block as decoration, which is not read out."""
    canvas.addLiteral("/Artifact BMC")
    yield
    canvas.addLiteral("EMC")


class TaggedTable(Grid):  # type: ignore[misc]
    """A table of a tagged PDF: each row and each cell is a structure element. A blank cell gets an empty element, so
    that later cells stay in their columns.
    """

    def draw(self) -> None:
        """Draws the table."""
        tags = self.canv.tags
        self.drawn = 0
        tags.begin("Table")
        super().draw()
        tags.end()

    def _drawCell(self, *cell: Any) -> None:
        """Draws one cell; reportlab draws them row by row."""
        row, column = divmod(self.drawn, self._ncols)
        self.drawn += 1
        if column == 0:
            self.canv.tags.begin("TR")
        with tagged(self.canv, "TH" if row < self.repeatRows else "TD"):
            super()._drawCell(*cell)
        if column == self._ncols - 1:
            self.canv.tags.end()

    def _drawBkgrnd(self) -> None:
        """Draws the bands behind the rows."""
        with artifact(self.canv):
            super()._drawBkgrnd()

    def _drawLines(self) -> None:
        """Draws the lines between the rows."""
        with artifact(self.canv):
            super()._drawLines()
