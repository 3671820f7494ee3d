"""Finds faults of an HTML page: tags that do not match, duplicate ids, broken links, files loaded from outside."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "wbr", "input", "br", "hr", "img", "link", "path", "image"}
ELSEWHERE = ("src", "href", "action", "data", "poster", "srcset")


class Checker(HTMLParser):
    """Collects faults, names and links of a page, and the words that a reader sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.names: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = [name for name, _ in attrs]
        if len(set(given)) != len(given):
            self.faults.append(f"{tag} has an attribute twice: {given}")
        for name, value in attrs:
            value = value or ""
            if name == "id":
                self.names.append(value)
            elif name in ("aria-labelledby", "aria-describedby", "for"):
                self.links.append(value)
            elif name in ELSEWHERE and value.startswith("#"):
                self.links.append(value[1:])
            elif name in ELSEWHERE and not value.startswith("data:"):
                self.faults.append(f"{tag} needs {value}")
            elif name.startswith("on"):
                self.faults.append(f"{tag} runs {value}")
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> where {self.open[-1:]} is open")

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words.append(data)


def checked(path: Path) -> Checker:
    """Parses a page; `faults` of the result are empty if the page is correct."""
    page = Checker()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    page.faults += [f"{tag} is not closed" for tag in page.open]
    page.faults += [f"{name} is there twice" for name in {n for n in page.names if page.names.count(n) > 1}]
    page.faults += [f"nothing is named {link}" for link in page.links if link not in page.names]
    return page
