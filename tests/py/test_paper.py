"""The project's paper: its numbers equal those of the documents that measured them, and all its references exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAPER = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
REFERENCES = (ROOT / "paper/paper.bib").read_text(encoding="utf-8")
TABLE = re.compile(r"^<!-- from (\S+) -->\n\n\|.*\n\|-.*\n((?:\|.*\n)+)", re.MULTILINE)


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def test_every_row_of_figures_stands_in_the_document_that_it_names() -> None:
    """The first cells of a row in the paper must occur in the same order in a row of the document."""
    tables = TABLE.findall(PAPER)
    assert len(tables) == PAPER.count("\n|---") == 6
    for name, rows in tables:
        source = [cells(row) for row in (ROOT / name).read_text(encoding="utf-8").splitlines() if row.startswith("|")]
        for row in map(cells, rows.splitlines()):
            assert any(found[: len(row)] == row for found in source), f"{name}: {row}"


def test_every_command_of_the_paper_is_there() -> None:
    for path in re.findall(r"`((?:tests|profiler|report)/[\w./]+)[ `]", PAPER):
        assert (ROOT / path).is_file(), path
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for target in re.findall(r"`make ([\w-]+)`", PAPER):
        assert target in targets


def test_every_reference_is_cited_and_described() -> None:
    cited = set(re.findall(r"@(\w+\d{4})\b", PAPER))
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", REFERENCES, re.MULTILINE))
