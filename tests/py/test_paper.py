"""The project's paper: it has the sections that the journal demands, and all that it refers to exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAPER = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
REFERENCES = (ROOT / "paper/paper.bib").read_text(encoding="utf-8")


SECTIONS = (
    *("Summary", "Statement of need", "State of the field", "Software design", "Research impact statement", "Limits"),
    *("AI usage disclosure", "References"),
)
"""The sections of the paper; the journal demands all of them but the limits."""


def test_the_paper_has_the_sections_that_the_journal_demands() -> None:
    assert tuple(re.findall(r"^# (.+)$", PAPER, re.MULTILINE)) == SECTIONS


def test_every_command_of_the_paper_is_there() -> None:
    for path in re.findall(r"`((?:tests|profiler|report)/[\w./]+)[ `]", PAPER):
        assert (ROOT / path).exists(), path
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for target in re.findall(r"`make ([\w-]+)`", PAPER):
        assert target in targets


def test_every_reference_is_cited_and_described() -> None:
    cited = set(re.findall(r"@(\w+\d{4})\b", PAPER))
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", REFERENCES, re.MULTILINE))
