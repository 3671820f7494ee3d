"""A document: pages of text, tables and vector figures on A4, all with the same header and footer.

The same input gives the same bytes: nothing in the file tells when it was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iolens.pages.blocks import Page
from iolens.pages.output import written_aside
from iolens.pages.sheet import build


def write_pdf(path: Path, title: str, subtitle: str, pages: Sequence[Page], labels: Sequence[str] = ()) -> None:
    """Write the pages; `labels` are set in a box at the foot of every page, such as `EMULATED STORAGE`.

    IolensError when the file cannot be written; then nothing is left behind.
    """
    with written_aside(path) as aside:
        build(aside, title, [(page, *heads(page, subtitle, labels)) for page in pages])


def heads(page: Page, subtitle: str, labels: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The subtitle and labels that hold for a page."""
    own: Any = labels if page.labels is None else page.labels
    return (subtitle if page.subtitle is None else page.subtitle), tuple(own)
