"""A document: pages of text, tables and figures. The ending of its name decides whether it becomes a PDF or one HTML
file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iolens.pages.blocks import Page
from iolens.pages.output import written_aside

_ENDINGS = (".pdf", ".html", ".htm")
"""Suffixes of file names that can be written."""


def write_document(path: Path, title: str, subtitle: str, pages: Sequence[Page], labels: Sequence[str] = ()) -> None:
    """Writes the pages; `labels` stand on every page of a PDF and on top of an HTML, such as `EMULATED STORAGE`.

    The same input gives the same bytes. Raises IolensError if the file cannot be written; then nothing is left behind.
    """
    with written_aside(path) as aside:
        if path.suffix.lower() == ".pdf":
            from iolens.pages.pdf.sheet import build_pdf

            build_pdf(aside, title, subtitle, pages, labels)
        else:
            from iolens.pages.html.page import build_page as build_html

            build_html(aside, title, subtitle, pages, labels)
