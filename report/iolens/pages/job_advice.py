"""The advice on a job as paragraphs: what bounds the run, what to do about it, and what that can gain at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.pages.blocks import Block, Text
from iolens.pages.evidence import EVIDENCE
from iolens.pages.exhibits.overview import advice, verdict

if TYPE_CHECKING:
    from iolens.advise import Finding
    from iolens.log import Job

MOST, LINES = 3, (8, 4, 2)
"""Findings on the first page, and lines of a remedy there when it has one, two or three of them."""
MORE = " (all of it: Advice)"


def judgement(job: Job) -> list[Block]:
    """What bounds the run, in a sentence."""
    return [Text(verdict(job).sentence, "lead")]


def first_findings(job: Job) -> list[Block]:
    """The findings that can gain most."""
    found = advice(job)[:MOST]
    blocks = [block for number, one in enumerate(found, 1) for block in paragraphs(one, number, lines_for(found))]
    return [Text("What to do", "heading"), *blocks] if blocks else []


def lines_for(found: list[Finding]) -> int:
    """Lines of a remedy on the first page."""
    return LINES[min(len(found), MOST) - 1] if found else 0


def all_findings(job: Job) -> list[Block]:
    """Every finding in full; nothing where the first page has them in full."""
    found = advice(job)
    if len(found) <= MOST and all(len(one.remedy.strip().splitlines()) <= lines_for(found) for one in found):
        return []
    return [block for number, one in enumerate(found, 1) for block in paragraphs(one, number)]


def paragraphs(one: Finding, number: int, lines: int | None = None) -> list[Block]:
    """A finding: what, how much, from what, why, and what to paste (its first lines)."""
    remedy = one.remedy.strip().splitlines()
    brief = lines is not None and len(remedy) > lines
    shown = to_paste(remedy)[:lines] if brief else remedy
    return [
        Text(f"{number}. {one.title}: {one.gain_words}{MORE * brief}", "finding", EVIDENCE.get(one.id, "")),
        Text(one.evidence if brief else f"{one.evidence} {one.why}", "small"),
        *([Text("\n".join(shown), "code")] if shown else []),
    ]


def to_paste(remedy: list[str]) -> list[str]:
    """The lines of a remedy that are pasted, which are indented; all lines where none is."""
    lines = [line for line in remedy if line.strip()]
    return [line for line in lines if line.startswith(" ")] or lines


def spoken(job: Job) -> list[str]:
    """The same for a terminal, short: iolens advise says it all."""
    return [f"{number}. {one.title}: {one.gain_words}. {one.evidence}" for number, one in enumerate(advice(job), 1)]
