"""Lay out the manual's sources for Sphinx: stage.py FOLDER.

Every Markdown file of the repository becomes a page (pages.py). Its links are changed so that they lead to pages, or to
copies of the files that they name. Outputs and pictures are those that stand in the page (record.py): nothing is run or
measured here. The reference pages are written by reference.py.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import reference
from pages import ROOT, documents, outside_code, page_of
from record import PICTURE

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
OUTPUT = re.compile(r"^<!-- output.*-->\n```text$", re.MULTILINE)


def main(words: Sequence[str]) -> int:
    """Writes the sources of all pages of the manual into a folder, which is emptied first; returns 2 if no folder is
    given.
    """
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(words[0])
    shutil.rmtree(folder, ignore_errors=True)
    known = documents()
    for document in known:
        text = (ROOT / document).read_text(encoding="utf-8")
        write(folder / page_of(document), with_links(with_figures(with_output(text)), document, set(known), folder))
    for name, text in reference.pages().items():
        write(folder / name, text)
    return 0


def write(path: Path, text: str) -> None:
    """Writes a page, and makes the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def with_links(text: str, document: Path, known: set[Path], folder: Path) -> str:
    """Returns the text of a document with changed links. They lead to pages of the manual, or to copies of other files
    of the repository, which are made in `folder`. Links to anything else become plain words.
    """

    def link(found: re.Match[str]) -> str:
        image, words, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        words = LINK.sub(link, words)
        name, hash_, anchor = target.partition("#")
        named = Path(os.path.normpath(document.parent / name))
        if named / "README.md" in known:
            named = named / "README.md"
        if named not in known:
            if not (ROOT / named).is_file():
                return words
            copied = folder / page_of(named)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / named, copied)
        relative = os.path.relpath(page_of(named), page_of(document).parent)
        return f"{image}[{words}]({relative}{hash_}{anchor})"

    return "".join(LINK.sub(link, line) if is_text else line for line, is_text in outside_code(text))


def with_output(text: str) -> str:
    """Returns the page with its outputs marked, so that they look like a terminal's and have no button to copy them."""
    return OUTPUT.sub("\n```{code-block} text\n:class: output\n", text)


def with_figures(text: str) -> str:
    """Returns the page with its pictures as figures, each with its caption below."""
    return PICTURE.sub(r"![\3](\4){.page}\n\n*\3*", text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
