"""The advice on a job as paragraphs: what bounds the run, what to do about it, and what that can gain at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.pages.blocks import Block, Text
from iolens.pages.exhibits.overview import advice, verdict

if TYPE_CHECKING:
    from iolens.advise import Finding
    from iolens.log import Job

MOST, LINES = 3, 6
"""Findings on the first page, and lines of a remedy there."""


def judgement(job: Job) -> list[Block]:
    """What bounds the run, in a sentence."""
    return [Text(verdict(job).sentence, "lead")]


def first_findings(job: Job) -> list[Block]:
    """The findings that can gain most."""
    found = advice(job)
    blocks = [block for number, one in enumerate(found[:MOST], 1) for block in paragraphs(one, number, LINES)]
    return [Text("What to do", "heading"), *blocks] if blocks else []


def all_findings(job: Job) -> list[Block]:
    """Every finding in full; nothing where the first page has them in full."""
    found = advice(job)
    if len(found) <= MOST and all(one.remedy.count("\n") < LINES for one in found):
        return []
    return [block for number, one in enumerate(found, 1) for block in paragraphs(one, number)]


def paragraphs(one: Finding, number: int, lines: int | None = None) -> list[Block]:
    """A finding: what, how much, from what, why, and what to paste (its first lines)."""
    remedy = one.remedy.splitlines()
    shown = remedy if lines is None or len(remedy) <= lines else [*remedy[: lines - 1], "… (all of it under Advice)"]
    return [
        Text(f"{number}. {one.title}: {one.gain_words}", "finding"),
        Text(f"{one.evidence} {one.why}", "small"),
        *([Text("\n".join(shown), "code")] if shown else []),
    ]


def spoken(job: Job) -> list[str]:
    """The same for a terminal, short: iolens advise says it all."""
    return [f"{number}. {one.title}: {one.gain_words}. {one.evidence}" for number, one in enumerate(advice(job), 1)]
