"""Which exhibits stand on which page, and how: a page is a list of parts, each of them makes blocks of the subject."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from iolens.pages.blocks import Block, Page, Row, Text

S = TypeVar("S")

Part: TypeAlias = Callable[[S], Sequence[Block]]
"""An exhibit's `tables` or `figures`, or any function that makes blocks."""


@dataclass(frozen=True)
class Layout(Generic[S]):
    """A page's title and its parts from top to bottom."""

    title: str
    parts: Sequence[Part[S]]


def joined(layouts: Iterable[Layout[S]], subject: S) -> list[Page]:
    """The pages that have something to show, each begun where the one before it ended."""
    made = [(one.title, [block for part in one.parts for block in part(subject)]) for one in layouts]
    kept = [(title, blocks) for title, blocks in made if blocks]
    return [Page(title, blocks, joined=number > 0) for number, (title, blocks) in enumerate(kept)]


def abreast(*parts: Part[S]) -> Part[S]:
    """The blocks of these parts, two side by side."""

    def pairs(subject: S) -> list[Block]:
        blocks = [block for part in parts for block in part(subject)]
        return [
            Row([*blocks[i : i + 2], *([Text("")] if i + 1 == len(blocks) else [])]) for i in range(0, len(blocks), 2)
        ]

    return pairs
