"""Ids of the elements in an HTML page, so that findings and the numbers behind them link to each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from iolens.pages.blocks import About, Block, FigureBlock, Page, Row, Table, Text

_NUMBER = re.compile(r"^\d+\. ")
"""Number in front of a finding of the advice; on the first page the same finding has none."""


class ElementNames:
    """Gives each element of a page an id of its own. `titles` has the titles of the page's exhibits, by their names."""

    def __init__(self, pages: Sequence[Page]) -> None:
        blocks = list(flat_blocks(block for page in pages for block in page.blocks))
        abouts = [block.about for block in blocks if isinstance(block, Table | FigureBlock) and block.about]
        findings = [block for block in blocks if isinstance(block, Text) and block.style == "finding"]
        self.titles = {about.name: about.title for about in abouts}
        self.findings = {_NUMBER.sub("", one.text).partition(":")[0]: (n, one.see) for n, one in enumerate(findings, 1)}
        self.given: set[str] = set()
        self.seen_findings = 0

    def name(self, words: str) -> str:
        """Returns a name made of these words, such as `where-the-time-went`."""
        stem = "-".join(re.findall(r"[a-z0-9]+", words.lower())[:8]) or "part"
        found = next(name for n in count(1) if (name := stem if n == 1 else f"{stem}-{n}") not in self.given)
        self.given.add(found)
        return found

    def exhibit(self, name: str) -> str:
        """Returns the name of the first table or figure of an exhibit."""
        return f"exhibit_{name}"

    def of(self, about: About | None, title: str) -> str:
        """Returns the name of a table or figure."""
        if about is None or self.exhibit(about.name) in self.given:
            return self.name(title)
        self.given.add(self.exhibit(about.name))
        return self.exhibit(about.name)

    def next_finding(self) -> str:
        """Returns the id of the next finding in the order of the page."""
        self.seen_findings += 1
        return f"finding_{self.seen_findings}"

    def findings_in(self, about: About) -> list[tuple[str, str]]:
        """Returns the findings about these numbers: text and name of each. If a finding occurs several times, its last
        place counts.
        """
        return [(said, f"finding_{n}") for said, (n, see) in self.findings.items() if about.name in see.split()]


def flat_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yields the blocks; a row is replaced by the blocks in it."""
    for block in blocks:
        if isinstance(block, Row):
            yield from flat_blocks(block.blocks)
        else:
            yield block
