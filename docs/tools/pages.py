"""The documents of the manual: where each lies in the repository, and the page that is made of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = {"build", "dist", "results"}

FENCE = re.compile(r"^ *(`{3,}|~{3,})")


def documents() -> list[Path]:
    """Returns every Markdown file of the repository as a path from its root, without built or installed files."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in MADE)
        found += [(Path(folder) / name).relative_to(ROOT) for name in sorted(files) if name.endswith(".md")]
    return found


def page_of(document: Path) -> Path:
    """Returns the page's path in the manual: files of docs/ move to its root, all others keep their path."""
    return document.relative_to("docs") if document.parts[0] == "docs" else document


def outside_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yields the lines of a document, each with True if the line is text, and False if it is in a fenced block of
    code.
    """
    fence = ""
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line)
        if fence:
            yield line, False
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        else:
            fence = found[1] if found else ""
            yield line, not fence
