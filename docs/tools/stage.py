"""Lay out the manual's sources for Sphinx: stage.py FOLDER WALKED.

Every Markdown file of the repository becomes a page (pages.py), with its links going to pages, or to copies of the
files that they name. Where a page asks for output or a picture, it is put in from what walk.py left in WALKED. The
reference pages are written by reference.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import reference
from commands import BLOCK
from pages import ROOT, documents, outside_code, page_of

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
OUTPUT = re.compile(r"\A\n?<!-- output(?:: *(\d+)(?: from (.+?))?)? *-->")
PICTURE = re.compile(r"^<!-- picture: (\S+)(?: page (\d+))?: (.+?) *-->$", re.MULTILINE)


def main(words: Sequence[str]) -> int:
    """Write all sources."""
    if len(words) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, walked = Path(words[0]), Path(words[1])
    shutil.rmtree(folder, ignore_errors=True)
    known = documents()
    for document in known:
        text = (ROOT / document).read_text(encoding="utf-8")
        if document.parts[0] == "docs":
            text = with_pictures(with_output(text, walked, document), walked, document, folder)
        write(folder / page_of(document), with_links(text, document, set(known), folder))
    for name, text in reference.pages().items():
        write(folder / name, text)
    return 0


def write(path: Path, text: str) -> None:
    """A page and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def with_links(text: str, document: Path, known: set[Path], folder: Path) -> str:
    """The same document with its links as they are from its page."""

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


def with_output(text: str, walked: Path, document: Path) -> str:
    """The same page with the output of its blocks where it asks for it."""
    kept = walked / page_of(document).with_suffix(".json")
    said = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    parts, end = [], 0
    for number, block in enumerate(BLOCK.finditer(text)):
        parts.append(text[end : block.end()])
        end = block.end()
        asked = OUTPUT.match(text[end:])
        if asked:
            end += asked.end()
            parts.append(shown(said.get(str(number), ""), asked[1], asked[2]))
    return "".join([*parts, text[end:]])


def shown(output: str, count: str | None, begin: str | None) -> str:
    """Lines of an output as a block of their own: the first ones, or as many from one that begins with some words."""
    lines = output.splitlines()
    first = next((place for place, line in enumerate(lines) if line.startswith(begin or "")), 0)
    end = first + int(count) if count else len(lines)
    chosen = [*(["…"] if first else []), *lines[first:end], *(["…"] if end < len(lines) else [])]
    return "\n\n```{code-block} text\n:class: output\n\n" + "\n".join(chosen) + "\n```" if lines else ""


def with_pictures(text: str, walked: Path, document: Path, folder: Path) -> str:
    """Returns the page with pictures of what its commands made; ends the program if the tool for it is missing."""

    def picture(found: re.Match[str]) -> str:
        source, page, words = found.groups()
        place = walked / page_of(document).with_suffix("") / "iolens" if document.stem != "index" else walked
        name = f"pictures/{page_of(document).stem}-{Path(source).stem}-{page or 'top'}.png"
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (place / source).exists():
            raise SystemExit(f"{document}: no picture of {source}: the page's commands have not made it (walk.py)")
        draw = draw_html if source.endswith(".html") else draw_pdf
        draw(place / source, page or "1", target)
        up = os.path.relpath(name, page_of(document).parent)
        return f"```{{figure}} {up}\n:alt: {words}\n:class: page\n\n{words}\n```"

    return PICTURE.sub(picture, text)


def draw_pdf(source: Path, page: str, target: Path) -> None:
    """Draws a page of a PDF as PNG."""
    if shutil.which("pdftoppm") is None:
        raise SystemExit(f"{source.name} cannot be drawn without pdftoppm: install poppler-utils")
    words = ["pdftoppm", "-r", "90", "-png", "-singlefile", "-f", page, source, target.with_suffix("")]
    subprocess.run(words, check=True)


def draw_html(source: Path, _: str, target: Path) -> None:
    """Draws the top of an HTML document as PNG."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit(f"{source.name} cannot be drawn without a browser: install chromium")
    view = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,1000"]
    subprocess.run(
        [browser, *view, f"--screenshot={target}", source.resolve().as_uri()], check=True, capture_output=True
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
