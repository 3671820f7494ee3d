"""The parts of a document: text, tables and figures, side by side or one below the other, and the parts of each page.
Lengths are in points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from iolens.metrics.times.timespans import Timeline


Style: TypeAlias = Literal["body", "lead", "code", "heading", "note", "finding", "small"]


@dataclass(frozen=True)
class Text:
    """A paragraph; `code` keeps its lines and is set in a fixed-width font.

    `see` names the exhibits with the numbers behind the text, separated by spaces.
    """

    text: str
    style: Style = "body"
    see: str = ""


@dataclass(frozen=True)
class About:
    """The origin of a table or figure: the exhibit's name, its title, and the definition of its metric."""

    name: str
    title: str
    definition: str


@dataclass(frozen=True)
class Ranks:
    """The ranks behind each row of a table, as `0-3,8` or `all`, and the number of all ranks."""

    rows: Sequence[str]
    processes: int


@dataclass(frozen=True)
class Table:
    """A table of ready-made words.

    Columns of numbers are set flush right; long paths lose their middle. If a page does not have room for all rows,
    `more` returns at most the given number of rows, and the number of all rows. `ranks` returns the ranks behind these
    rows.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    about: About | None = None
    more: Callable[[int], tuple[Sequence[Sequence[str]], int]] | None = None
    ranks: Callable[[int], Ranks] | None = None


@dataclass(frozen=True)
class Cells:
    """The values behind the cells of a map: arrays (rows, columns) of bytes by kind of operation.

    Rows count upwards and have names; columns count to the right, and each covers the same number of `seconds`.
    """

    values: Mapping[str, np.ndarray]
    rows: Sequence[str]
    seconds: float


@dataclass(frozen=True)
class FigureBlock:
    """A figure with its caption; `width` in points scales it down, else it is shrunk only if necessary. `says`
    describes its content in words, for readers who cannot see it. `cells` are the values of the first picture in it.
    `timelines` are the data of an interactive figure that replaces it in HTML.
    """

    figure: Figure
    caption: str = ""
    width: float | None = None
    title: str = ""
    about: About | None = None
    cells: Cells | None = None
    timelines: Callable[[], Sequence[Timeline]] | None = None
    says: str = ""


def described(figure: FigureBlock) -> str:
    """Returns a figure's alternative text: its title, and a description of its contents."""
    title = figure.title or (figure.about.title if figure.about else "")
    return ": ".join(part for part in (title, figure.says) if part) or "figure"


@dataclass(frozen=True)
class Row:
    """Blocks side by side, in columns of equal width or of these `shares`."""

    blocks: Sequence[Block]
    shares: Sequence[float] = ()


Block: TypeAlias = "Text | Table | FigureBlock | Row"


@dataclass(frozen=True)
class Page:
    """At least one block under a heading.

    A page begins on a new sheet and continues on further sheets if necessary. `subtitle` and `labels` replace the
    document's if the page is about another subject. A page that is `joined` begins where the previous page ended, if
    there is room.
    """

    title: str
    blocks: Sequence[Block]
    subtitle: str | None = None
    labels: Sequence[str] | None = None
    joined: bool = False


S = TypeVar("S")

Part: TypeAlias = Callable[[S], Sequence[Block]]
"""An exhibit's `tables` or `figures`, or any function that makes blocks."""


@dataclass(frozen=True)
class PageLayout(Generic[S]):
    """A page's title and its parts from top to bottom. A `joined` page begins on the sheet on which the page before it
    ended, unless that page is `alone` on its sheet.
    """

    title: str
    parts: Sequence[Part[S]]
    joined: bool = True
    alone: bool = False


def laid_out(layouts: Sequence[PageLayout[S]], subject: S) -> list[Page]:
    """Returns the pages that have something to show."""
    shown = [(one, blocks) for one in layouts if (blocks := [block for part in one.parts for block in part(subject)])]
    before = [None, *(one for one, _ in shown[:-1])]
    return [
        Page(one.title, blocks, joined=one.joined and not (last and last.alone))
        for last, (one, blocks) in zip(before, shown, strict=True)
    ]


def abreast(*parts: Part[S]) -> Part[S]:
    """Returns a part with the blocks of all these parts, two side by side."""

    def pairs(subject: S) -> list[Block]:
        blocks = [block for part in parts for block in part(subject)]
        return [
            Row([*blocks[i : i + 2], *([Text("")] if i + 1 == len(blocks) else [])]) for i in range(0, len(blocks), 2)
        ]

    return pairs
