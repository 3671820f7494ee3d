"""Blocks as elements of HTML. Every word that comes from outside is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import count

from iolens.pages.blocks import Block, FigureBlock, Row, Table, Text
from iolens.pages.cells import NUMBER
from iolens.pages.html.svg import svg

HEADINGS = ("heading", "finding")
"""Styles of text that are headings below a section's."""


class Names:
    """Names of elements, each given once in a page."""

    def __init__(self) -> None:
        self.given: set[str] = set()

    def name(self, words: str) -> str:
        """A name made of these words, such as `where-the-time-went`."""
        stem = "-".join(re.findall(r"[a-z0-9]+", words.lower())[:8]) or "part"
        found = next(name for n in count(1) if (name := stem if n == 1 else f"{stem}-{n}") not in self.given)
        self.given.add(found)
        return found


def elements(blocks: Iterable[Block], names: Names) -> str:
    """The blocks, from top to bottom."""
    return "\n".join(element(block, names) for block in blocks)


def element(block: Block, names: Names) -> str:
    """One block."""
    if isinstance(block, Text):
        return text(block, names)
    if isinstance(block, FigureBlock):
        return figure(block, names)
    if isinstance(block, Table):
        return facts(block) if is_facts(block) else table(block, names)
    return row(block, names)


def text(block: Text, names: Names) -> str:
    """A paragraph, a heading, or text to paste."""
    if not block.text:
        return ""
    if block.style == "code":
        return f'<div class="code"><pre tabindex="0"><code>{escape(block.text)}</code></pre></div>'
    if block.style in HEADINGS:
        return f'<h3 class="{block.style}" id="{names.name(block.text)}">{escape(block.text)}</h3>'
    return f'<p class="{block.style}">{escape(block.text)}</p>'


def figure(block: FigureBlock, names: Names) -> str:
    """A figure between its title and its caption."""
    key = names.name(block.title or "figure")
    drawn = svg(block.figure, key, block.title or "figure", block.caption)
    caption = f'<p class="note">{escape(block.caption)}</p>' if block.caption else ""
    return (
        f'<figure class="drawn" id="{key}">{titled(block.title)}<div class="scroll" tabindex="0">{drawn}</div>'
        f"{caption}</figure>"
    )


def is_facts(block: Table) -> bool:
    """Whether a table is of names and values, without heads."""
    return len(block.columns) == 2 and not any(block.columns) and not block.title


def facts(block: Table) -> str:
    """Names and values."""
    pairs = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in block.rows)
    return f"<dl>{pairs}</dl>" if pairs else ""


def table(block: Table, names: Names) -> str:
    """A table with its title and note; script.js makes it sortable and, where it is long, searchable."""
    key = names.name(block.title or "table")
    flush = [all(NUMBER.match(str(row[n])) for row in block.rows) for n in range(len(block.columns))]
    head = cells("th", block.columns, flush) if any(block.columns) else ""
    body = "\n".join(cells("td", row, flush) for row in block.rows)
    note = f'<p class="note">{escape(block.note)}</p>' if block.note else ""
    label = escape(block.title or "table")
    return (
        f'<figure class="rows" id="{key}">{titled(block.title)}'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>'
        + (f"<thead>{head}</thead>" if head else "")
        + f"<tbody>\n{body}\n</tbody></table></div>{note}</figure>"
    )


def cells(kind: str, words: Sequence[str], flush: Sequence[bool]) -> str:
    """A row of a table; numbers are set flush right."""
    scope = ' scope="col"' if kind == "th" else ""
    each = (
        f"<{kind}{scope}{' class=n' if right else ''}>{escape(str(word))}</{kind}>"
        for word, right in zip(words, flush, strict=True)
    )
    return f"<tr>{''.join(each)}</tr>"


def row(block: Row, names: Names) -> str:
    """Blocks side by side, where there is room for them."""
    return f'<div class="row">{"".join(f"<div>{element(one, names)}</div>" for one in block.blocks)}</div>'


def titled(title: str) -> str:
    """A heading, or nothing."""
    return f"<h3>{escape(title)}</h3>" if title else ""
