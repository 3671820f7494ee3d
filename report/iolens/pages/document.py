"""A document: pages of text, tables and vector figures on A4, all with the same header and footer.

The same input gives the same bytes: nothing in the file tells when it was made. Lengths are points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from iolens.pages.output import written_aside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Style: TypeAlias = Literal["body", "lead", "code", "heading", "note"]


@dataclass(frozen=True)
class Text:
    """A paragraph; `code` keeps its lines and is set in a fixed-width font."""

    text: str
    style: Style = "body"


@dataclass(frozen=True)
class Table:
    """A table of ready-made words. Columns of numbers are set flush right; long paths lose their middle."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True)
class FigureBlock:
    """A figure with its caption; `width` in points scales it down, else it is shrunk only if it must be."""

    figure: Figure
    caption: str = ""
    width: float | None = None
    title: str = ""


@dataclass(frozen=True)
class Row:
    """Blocks side by side, in columns of equal width or of these `shares`."""

    blocks: Sequence[Block]
    shares: Sequence[float] = ()


Block: TypeAlias = "Text | Table | FigureBlock | Row"


@dataclass(frozen=True)
class Page:
    """At least one block under a heading, begun on a new sheet and continued on further ones where they need more room.

    `subtitle` and `labels` replace the document's where a page is about something else than the document. A page
    that is `joined` begins where the one before it ended, if there is room.
    """

    title: str
    blocks: Sequence[Block]
    subtitle: str | None = None
    labels: Sequence[str] | None = None
    joined: bool = False


def write_pdf(path: Path, title: str, subtitle: str, pages: Sequence[Page], labels: Sequence[str] = ()) -> None:
    """Write the pages; `labels` are set in a box at the foot of every page, such as `EMULATED STORAGE`.

    IolensError when the file cannot be written; then nothing is left behind.
    """
    from iolens.pages.sheet import build

    with written_aside(path) as aside:
        build(aside, title, [(page, *heads(page, subtitle, labels)) for page in pages])


def heads(page: Page, subtitle: str, labels: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The subtitle and labels that hold for a page."""
    own: Any = labels if page.labels is None else page.labels
    return (subtitle if page.subtitle is None else page.subtitle), tuple(own)
