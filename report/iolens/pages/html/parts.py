"""Blocks as elements of HTML, with ids that link findings to numbers, and timelines as data. Every word that comes
from outside is escaped here.
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import count
from pathlib import Path

import numpy as np

from iolens.metrics.files.costly_files import EVERY_RANK
from iolens.metrics.times.timespans import Timeline
from iolens.pages.base.blocks import About, Block, Cells, FigureBlock, Page, Ranks, Row, Table, Text, described
from iolens.pages.html.svg import svg
from iolens.pages.text.lines import NUMBER

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


FOLDER = Path(__file__).parent / "uplot"

_CELLS = {"kind": "u1", "file": "u1", "row": "u2", "bin": "u2", "moved": "f8", "calls": "u4", "busy": "f4"}
_SINGLE = {"kind": "u1", "file": "u1", "rank": "u4", "offset": "f8", "length": "f8", "start": "f8", "end": "f8"}
"""The columns of cells and of single calls, with the type of number that each is stored as. The byte order is this
machine's, which computers with a browser share.
"""

_STILL = (
    "The figures of this page are static, because the library that makes them interactive (uPlot) was missing when "
    "iolens was installed; packaging/plotting.sh fetches it."
)


def is_installed() -> bool:
    """Returns whether uPlot is installed."""
    return (FOLDER / "uPlot.iife.min.js").is_file()


def library() -> tuple[str, str]:
    """Returns uPlot's style and script."""
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("uPlot.min.css", "uPlot.iife.min.js"))
    return style, script


def notice(interactive: bool, has_timelines: bool) -> str:
    """Returns the footer of a page: uPlot's licence if it is in the page, or the reason why figures are static although
    they could be interactive.
    """
    if not has_timelines:
        return ""
    if not interactive:
        return f"<footer><p>{escape(_STILL)}</p></footer>"
    text = escape((FOLDER / "LICENSE").read_text(encoding="utf-8"))
    return (
        "<footer><p>Interactive figures are drawn by uPlot, © 2022 Leon Sorokin, MIT licence.</p>"
        f"<details><summary>The licence</summary><pre>{text}</pre></details></footer>"
    )


def data_of(block: FigureBlock) -> str:
    """Returns the attribute with the timelines of a figure; empty if there is none."""
    found = block.timelines() if block.timelines and is_installed() else []
    return f' data-timelines="{escape(json.dumps([_packed(one) for one in found]))}"' if found else ""


def _packed(cells: Timeline) -> dict[str, object]:
    """Returns a timeline as JSON: its facts, and its columns deflated one after the other."""
    columns = [(name, getattr(cells, name), kind) for name, kind in _CELLS.items()]
    if cells.single is not None:
        columns += [(f"single_{name}", getattr(cells.single, name), kind) for name, kind in _SINGLE.items()]
    facts = ("layer", "ranks", "each", "width", "bins", "end", "files", "file_count", "traced", "made")
    arrays = [np.ascontiguousarray(values, f"<{kind}") for _, values, kind in columns]
    return {name: getattr(cells, name) for name in facts} | {
        "columns": [(name, kind, len(values)) for name, values, kind in columns],
        "data": _deflated(arrays),
    }


def _deflated(arrays: Iterable[np.ndarray]) -> str:
    """Returns arrays as text. The first bytes of all numbers stand together, then the second bytes, and so on: similar
    bytes compress better.
    """
    planes = (array.view(np.uint8).reshape(len(array), -1).T.tobytes() for array in arrays)
    return b64encode(zlib.compress(b"".join(planes), 6)).decode("ascii")


_SHORT = 16
"""Maximum number of characters of a cell that stays on one line."""

_PATH = 24
"""Minimum number of characters of a path that may be broken after its slashes."""

_STUB = '<span class="unseen">name</span>'
"""The head that screen readers find above a first column with the names of the rows, which has no visible head."""

_MOST_ROWS = 1000
"""Maximum number of rows of a table in a page; a longer table is exported as a whole."""


def elements(blocks: Iterable[Block], places: ElementNames) -> str:
    """Returns the blocks, from top to bottom."""
    return "\n".join(_element(block, places) for block in blocks)


def _element(block: Block, places: ElementNames) -> str:
    """Returns one block as HTML."""
    if isinstance(block, Text):
        return _text(block, places)
    if isinstance(block, FigureBlock):
        return _figure(block, places)
    if isinstance(block, Table):
        return _facts(block) if _is_facts(block) else _table(block, places)
    return _row(block, places)


def _text(block: Text, places: ElementNames) -> str:
    """Returns a paragraph, a heading, or text to paste."""
    if not block.text:
        return ""
    if block.style == "code":
        return f'<div class="code"><pre tabindex="0"><code>{escape(block.text)}</code></pre></div>'
    if block.style == "finding":
        return _finding_html(block, places)
    if block.style == "heading":
        return f'<h3 class="heading" id="{places.name(block.text)}">{escape(block.text)}</h3>'
    return f'<p class="{block.style}">{_prose(block.text)}</p>'


def _prose(words: str) -> str:
    """Returns a sentence, in which `names of commands and columns` stand in a font of their own."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words))


def _finding_html(block: Text, places: ElementNames) -> str:
    """Returns a finding with links to the numbers that it is about, if the page has them."""
    head = f'<h3 class="finding" id="{places.next_finding()}">{escape(block.text)}</h3>'
    links = [
        f'<a href="#{places.exhibit(name)}">{escape(places.titles[name])}</a>'
        for name in block.see.split()
        if name in places.titles
    ]
    return head + (f'<p class="see">Numbers: {", ".join(links)}</p>' if links else "")


def _figure(block: FigureBlock, places: ElementNames) -> str:
    """Returns a figure between its title and its caption."""
    key = places.of(block.about, block.title or "figure")
    title = block.title or (block.about.title if block.about else "figure")
    drawn = svg(block.figure, key, described(block), block.caption)
    caption = f'<p class="note">{_prose(block.caption)}</p>' if block.caption else ""
    data = _held(block.cells) + data_of(block)
    return (
        f'<figure class="drawn" id="{key}"{data}>{_head_of(block.title, block.about, key, places)}'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}">{drawn}</div>{caption}</figure>'
    )


def _held(cells: Cells | None) -> str:
    """Returns the values of a map's cells in the form that script.js reads: whole bytes, row by row from the bottom."""
    if cells is None:
        return ""
    values = {name: [[round(float(one)) for one in row] for row in grid] for name, grid in cells.values.items()}
    data = {"rows": list(cells.rows), "seconds": cells.seconds, "values": values}
    return f' data-cells="{escape(json.dumps(data, separators=(",", ":")))}"'


def _is_facts(block: Table) -> bool:
    """Returns whether a table is of names and values, without heads."""
    return len(block.columns) == 2 and not any(block.columns) and not block.title


def _facts(block: Table) -> str:
    """Returns names and values as HTML."""
    pairs = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in block.rows)
    return f"<dl>{pairs}</dl>" if pairs else ""


def _table(block: Table, places: ElementNames) -> str:
    """Returns a table with its title and note; script.js makes it sortable and, if it is long, searchable."""
    title = block.title or (block.about.title if block.about else "table")
    key = places.of(block.about, title)
    rows, extent = _shown_rows(block)
    ranks, merged = _ranks_behind(block, len(rows))
    on_screen = " ".join(words for words in (extent, merged) if words)
    note = f'{_prose(block.note)} <span class="screen">{on_screen}</span>' if on_screen else _prose(block.note)
    flush = [all(NUMBER.match(str(row[n])) for row in rows) for n in range(len(block.columns))]
    head = cells("th", block.columns, flush) if any(block.columns) else ""
    body = "\n".join(
        cells("td", row, flush, "extra" * (n >= len(block.rows)), ranks.rows[n] if ranks else "")
        for n, row in enumerate(rows)
    )
    processes = f' data-processes="{ranks.processes}"' if ranks else ""
    return (
        f'<figure class="rows" id="{key}"{processes}>{_head_of(block.title, block.about, key, places)}'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}"><table>'
        + (f"<thead>{head}</thead>" if head else "")
        + f"<tbody>\n{body}\n</tbody></table></div>"
        + (f'<p class="note">{note}</p>' if note else "")
        + "</figure>"
    )


def _shown_rows(block: Table) -> tuple[Sequence[Sequence[str]], str]:
    """Returns as many rows as a screen has room for, and a sentence with their number if paper shows fewer."""
    rows, total = block.more(_MOST_ROWS) if block.more else ([], 0)
    if len(rows) < len(block.rows):
        return block.rows, ""
    if total == len(block.rows):
        return rows, ""
    number = f"all {total:,}" if total == len(rows) else f"the first {len(rows):,} of {total:,} (--csv exports all)"
    return rows, f"This page lists {number}, one by one."


def _ranks_behind(block: Table, rows: int) -> tuple[Ranks | None, str]:
    """Returns the ranks by which script.js can filter the shown rows, or a sentence with the reason why it cannot."""
    found = block.ranks(rows) if block.ranks else None
    if found is None or found.processes < 2 or len(found.rows) != rows:
        return None, ""
    if set(found.rows) <= {EVERY_RANK}:
        return None, "All ranks used each of these files, and the log has only their sums: no filter by rank."
    return found, ""


def _breakable(word: str) -> str:
    """Returns a word in HTML; a long word may be broken after its slashes."""
    said = escape(word)
    return re.sub(r"(?<=[^/<])/(?=[^/])", "/<wbr>", said) if len(word) >= _PATH else said


def _headed(word: str) -> str:
    """Returns the head of a column in HTML; an empty head becomes a word that only screen readers get."""
    return escape(word) or _STUB


def cells(kind: str, words: Sequence[str], flush: Sequence[bool], look: str = "", ranks: str = "") -> str:
    """Returns a row of a table; numbers are set flush right, short words are not broken. `ranks` are those
    behind the row.
    """
    scope, said = (' scope="col"', _headed) if kind == "th" else ("", _breakable)

    def look_of(word: str, right: bool) -> str:
        if right:
            return " class=n"
        if kind == "td" and len(word) <= _SHORT:
            return " class=s"
        return " class=p" if kind == "td" and "/" in word else ""

    each = (
        f"<{kind}{scope}{look_of(str(word), right)}>{said(str(word))}</{kind}>"
        for word, right in zip(words, flush, strict=True)
    )
    behind = f' data-ranks="{ranks}"' if ranks else ""
    return f"<tr{f' class={look}' if look else ''}{behind}>{''.join(each)}</tr>"


def _row(block: Row, places: ElementNames) -> str:
    """Returns blocks side by side if there is room for them."""
    return f'<div class="row">{"".join(f"<div>{_element(one, places)}</div>" for one in block.blocks)}</div>'


def _head_of(title: str, about: About | None, key: str, places: ElementNames) -> str:
    """Returns a heading. The first part of an exhibit also gets links to the advice about its numbers above the
    heading, and the definition below it.
    """
    parts = [f"<h3>{escape(title)}</h3>"] if title else []
    if about is not None and key == places.exhibit(about.name):
        found = "; ".join(f'<a href="#{name}">{escape(said)}</a>' for said, name in places.findings_in(about))
        parts += [f'<p class="see">Advice: {found}</p>'] if found else []
        said = about.definition
        parts += [f"<details><summary>Definition</summary><p>{_prose(said)}</p></details>"] if said else []
    return "".join(parts)
