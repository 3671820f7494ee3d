"""A document: pages of text, tables and figures. The ending of its name decides whether it becomes a PDF or one HTML
file. Files appear whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from iolens.errors import IolensError
from iolens.pages.base.blocks import Page


def make_folder(folder: Path) -> None:
    """Makes the folder and those above it if they do not exist; raises IolensError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IolensError(f"{folder}: the folder cannot be made ({error.strerror}); name another folder") from error


def need_parent(path: Path) -> None:
    """Raises IolensError if the folder of a file to be written does not exist."""
    if not path.parent.is_dir():
        raise IolensError(
            f"{path}: cannot be written (there is no folder {path.parent}; make it, or name another folder)"
        )


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Yields a path beside `path` to write to.

    It is renamed to `path` if the block ends well, else removed. Raises IolensError if the file cannot be written, or
    if its folder does not exist.
    """
    need_parent(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield aside
        os.replace(aside, path)
    except OSError as error:
        raise IolensError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            aside.unlink()


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
