"""Writes the outputs and pictures of a page's commands into the page itself, for walk.py --record.

Outputs and pictures are committed and read by people: a build of the manual copies them, and measures nothing.
A comment behind a block of commands asks for its output, which stands below the comment:

    <!-- output -->                    <!-- output: 20 --> the first lines
    <!-- output: 20 from WORDS -->     as many from the first line on that begins with these words

A comment such as `<!-- picture: job.html -->` or `<!-- picture: job.pdf page 1 -->` asks for a picture of a file
that the commands made. The image below it names the file in docs/images, and what the picture shows.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from commands import BLOCK

OUTPUT = re.compile(
    r"\A\n?<!-- output(?:: *(\d+)(?: from (.+?))?)? *-->\n(?:```text\n.*?^```\n)?", re.MULTILINE | re.DOTALL
)
PICTURE = re.compile(r"^<!-- picture: (\S+)(?: page (\d+))? *-->\n!\[(.+)\]\((\S+)\)$", re.MULTILINE)


class NoPicture(Exception):
    """Raised if a picture cannot be drawn. The text says why, and what to install or do."""


def with_output(text: str, said: Mapping[str, str]) -> str:
    """Returns the page with new outputs. `said` has the outputs by the number of their block; blocks without a new
    output keep the old one.
    """
    parts, end = [], 0
    for number, block in enumerate(BLOCK.finditer(text)):
        parts.append(text[end : block.end()])
        end = block.end()
        asked = OUTPUT.match(text[end:])
        if asked and str(number) in said:
            end += asked.end()
            comment = asked[0].partition("-->")[0].strip()
            parts.append(f"\n{comment} -->\n{shown(said[str(number)], asked[1], asked[2])}")
    return "".join([*parts, text[end:]])


def shown(output: str, count: str | None, begin: str | None) -> str:
    """Returns lines of an output as a block of text: the first `count` lines or, if `begin` is given, as many lines
    from the first one that begins with it.
    """
    lines = [line.rstrip() for line in output.splitlines()]
    first = next((place for place, line in enumerate(lines) if line.startswith(begin or "")), 0)
    end = first + int(count) if count else len(lines)
    chosen = [*(["…"] if first else []), *lines[first:end], *(["…"] if end < len(lines) else [])]
    return "\n".join(["```text", *chosen, "```\n"])


def draw_pictures(text: str, made: Path, page: Path) -> None:
    """Draws all pictures of a page from the files in the folder `made`; raises NoPicture if one cannot be drawn."""
    for source, sheet, _, target in PICTURE.findall(text):
        if not (made / source).exists():
            raise NoPicture(f"{page}: the page shows a picture of {source}, but its commands did not make this file")
        draw = draw_html if source.endswith(".html") else draw_pdf
        (page.parent / target).parent.mkdir(exist_ok=True)
        draw(made / source, sheet or "1", page.parent / target)


def draw_pdf(source: Path, sheet: str, target: Path) -> None:
    """Draws a page of a PDF as PNG."""
    if shutil.which("pdftoppm") is None:
        raise NoPicture(f"{source.name} cannot be drawn without pdftoppm: install poppler-utils")
    words = ["pdftoppm", "-r", "90", "-png", "-singlefile", "-f", sheet, source, target.with_suffix("")]
    subprocess.run(words, check=True)


def draw_html(source: Path, _: str, target: Path) -> None:
    """Draws the top of an HTML document as PNG."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise NoPicture(f"{source.name} cannot be drawn without a browser: install chromium")
    view = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,1000"]
    subprocess.run(
        [browser, *view, f"--screenshot={target}", source.resolve().as_uri()], check=True, capture_output=True
    )
