"""A whole document: head, table of contents, a section for each page, style and script.

Nothing is loaded from elsewhere. The same input gives the same bytes, because the file does not contain the time of its
creation.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from pathlib import Path

from iolens.pages.base.blocks import FigureBlock, Page
from iolens.pages.html.parts import ElementNames, elements, flat_blocks, is_installed, library, notice

FOLDER = Path(__file__).parent


def build_page(path: Path, title: str, subtitle: str, pages: Sequence[Page], labels: Sequence[str]) -> None:
    """Writes the document as one file."""
    path.write_text(document(title, subtitle, pages, labels), encoding="utf-8", errors="replace")


def document(title: str, subtitle: str, pages: Sequence[Page], labels: Sequence[str]) -> str:
    """Returns the document as text."""
    has_timelines = any(
        isinstance(block, FigureBlock) and block.timelines for page in pages for block in flat_blocks(page.blocks)
    )
    style, script = _style_and_script(has_timelines and is_installed())
    places = ElementNames(pages)
    keys = [places.name(page.title) for page in pages]
    contents = "".join(
        f'<li><a href="#{key}">{escape(page.title)}</a></li>' for key, page in zip(keys, pages, strict=True)
    )
    sections = "\n".join(_section(page, key, places) for key, page in zip(keys, pages, strict=True))
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="iolens">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the report</a>
<header>
<h1>{escape(title)}</h1>
<p>{escape(subtitle)}</p>
{_marks(labels)}
</header>
<nav aria-label="Contents"><ol>{contents}</ol></nav>
<main id="content">
{sections}
</main>
{notice(is_installed(), has_timelines)}
<script>
{script}</script>
</body>
</html>
"""


def _style_and_script(interactive: bool) -> tuple[str, str]:
    """Returns style and script of a page, including those of interactive figures if it has any."""
    words, script, style = (_packaged_text(name) for name in ("words.js", "script.js", "style.css"))
    if not interactive:
        return style, words + script
    plot_style, plot = library()
    return (
        f"{plot_style}\n{style}{_packaged_text('explore.css')}",
        f"{words}{plot}\n{_packaged_text('explore.js')}{script}",
    )


def _packaged_text(name: str) -> str:
    """Returns the text of a file in this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """Returns the content security policy, which allows pictures inside the page, its own style, and this script."""
    digest = b64encode(sha256(f"\n{script}".encode()).digest()).decode("ascii")
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _marks(labels: Sequence[str]) -> str:
    """Returns the marks of a document or page that readers must see, such as EMULATED STORAGE."""
    said = " ".join(f"<strong>{escape(label)}</strong>" for label in labels)
    return f'<p class="labels">{said}</p>' if said else ""


def _section(page: Page, key: str, places: ElementNames) -> str:
    """Returns one page as HTML."""
    own = f"<p>{escape(page.subtitle)}</p>" if page.subtitle else ""
    return f"""\
<section aria-labelledby="{key}">
<h2 id="{key}">{escape(page.title)}</h2>
{own}{_marks(page.labels or ())}
{elements(page.blocks, places)}
</section>"""
