"""The exhibits of each page and their layout: a page is a list of parts, each of which makes blocks of the subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from iolens.pages.blocks import Block, Page, Row, Text

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
