"""The advice on a job as paragraphs, each with the exhibits that hold its numbers: what limits the run, what to do
about it, and how much that could save.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING

from iolens.advise import diagnosis, say
from iolens.advise.judge import TOO_INCOMPLETE
from iolens.advise.table import RULES
from iolens.log import Job
from iolens.pages.base.blocks import Block, Text

if TYPE_CHECKING:
    from iolens.advise import Diagnosis, Finding


EVIDENCE: Mapping[str, str] = {rule.id: rule.exhibit for rule in RULES}
"""The exhibits that hold the evidence of each rule, separated by spaces; every rule has at least one. A page does not
refer to an exhibit that the log leaves empty.
"""


_LINES = 14
"""Maximum number of lines of a remedy on the first page."""
_SLACK = 2
"""Number of lines by which a block that cannot be divided may exceed the room on a page."""
_MINOR, _NOTES = "Found, but not worth a change", "Notes"
_LABELLED = re.compile(r"\s*(-|\w[\w+-]*\s) \S")
"""Matches the first line of an entry: a bullet, or the name of a language or tool followed by the lines for it."""


def judgement(job: Job) -> list[Block]:
    """Returns a sentence about what limits the run with the confidence in it, followed by what could change it."""
    found = diagnosis(job)
    doubts = [Text(f"{' '.join(found.doubts)} That could change the verdict.")] if found.doubts else []
    return [Text(confident_verdict(found), "lead"), *doubts]


def confident_verdict(found: Diagnosis) -> str:
    """Returns the verdict's sentence with its confidence, if anything was judged."""
    sentence = found.verdict.sentence
    if not found.confidence:
        return sentence
    return f"{sentence.removesuffix('.')} (confidence: {found.confidence})."


def first_action(job: Job) -> list[Block]:
    """Returns the one change that can gain most, or the statement that there is none."""
    found = diagnosis(job)
    worth = found.worth
    if not worth:
        return [Text(no_action_sentence(found))]
    first, *others = worth
    more = f"{say.count(len(others), 'more change')} can be worth the work: see Advice." if others else ""
    if not _fits_first_page(first):
        more = f"This is a part of the remedy; the whole remedy is under Advice. {more}".strip()
    return [Text("What to do", "heading"), *_paragraphs(first, lines=_LINES), *([Text(more, "small")] if more else [])]


def no_action_sentence(found: Diagnosis) -> str:
    """Returns the sentence that says why no change is proposed."""
    why = "no finding promises enough time to be worth a change" if found.confidence else "there is nothing to judge"
    if found.verdict.is_too_short:
        why = "the run is too short to judge"
    elif TOO_INCOMPLETE in found.verdict.sentence:
        why = TOO_INCOMPLETE
    elif found.verdict.kind == "cores":
        why = "iolens run --trace mpi records which ranks share processors"
    return f"No action is proposed: {why}."


def _fits_first_page(one: Finding) -> bool:
    """Returns whether all lines of a remedy stand on the first page."""
    return len(one.remedy.strip().splitlines()) <= _LINES


def all_findings(job: Job) -> list[Block]:
    """Returns every finding: first those that are worth it, in full unless the first page has them in full, then the
    others.
    """
    found = diagnosis(job)
    numbered = list(enumerate(found.worth, 1))
    blocks: list[Block] = []
    if found.worth and _fits_first_page(found.worth[0]):
        first = numbered.pop(0)[1]
        if numbered:
            blocks = [_heading(first, "1. "), Text("The first page shows it in full.", "small")]
    blocks += [block for number, one in numbered for block in _paragraphs(one, f"{number}. ")]
    for title, others in ((_MINOR, found.minor), (_NOTES, found.notes)):
        if others:
            blocks += [
                Text(title, "heading"),
                *(block for one in others for block in _brief_paragraphs(one, found.doubts)),
            ]
    return blocks


def _brief_paragraphs(one: Finding, doubts: Collection[str]) -> list[Block]:
    """Returns a finding that asks for no change of the program: the fact and its evidence, and for a note also the
    remedy. Evidence that stands among the doubts below the verdict is not repeated.
    """
    gain = f" ({one.gain_words.partition(':')[0]})" if one.gain is not None else ""
    fact = f"{one.title}{gain}" + ("." if one.evidence in doubts else f": {one.evidence}")
    said = Text(fact, "small", EVIDENCE.get(one.id, ""))
    return [said, Text(one.remedy.strip(), "code")] if one.severity == "note" else [said]


def _heading(one: Finding, number: str = "") -> Text:
    """Returns the title of a finding with its gain."""
    return Text(f"{number}{one.title}: {one.gain_words}", "finding", EVIDENCE.get(one.id, ""))


def _paragraphs(one: Finding, number: str = "", lines: int | None = None) -> list[Block]:
    """Returns a finding: title, gain, evidence, explanation, and the first lines of the text to paste."""
    remedy = one.remedy.strip().splitlines()
    brief = lines is not None and len(remedy) > lines
    shown = to_paste(remedy, lines) if brief and lines else remedy
    first = opening(remedy)
    if first and not shown:
        first = f"{first.rstrip(':.')}."
    return [
        _heading(one, number),
        Text(f"{one.evidence} {first if brief else one.why}".strip(), "small"),
        *([Text("\n".join(shown), "code")] if shown else []),
    ]


def opening(remedy: list[str]) -> str:
    """Returns the text of a remedy before its lines to paste, as one sentence; empty if it has no such lines."""
    said = list(takewhile(lambda line: not line.startswith(" "), remedy))
    return " ".join(" ".join(said).split()) if len(said) < len(remedy) else ""


def to_paste(remedy: list[str], most: int) -> list[str]:
    """Returns the lines of a remedy that are pasted, which are those that are indented (or all lines, if none is), as
    many as there is room for.

    Lines that belong together are not separated: an entry of a list, or the lines between two empty ones.
    """
    pieces = [piece for piece in _divided(remedy) if piece[0].startswith(" ")]
    shown: list[str] = []
    for piece in pieces or _divided(remedy):
        if len(shown) + len(piece) > most + (0 if shown else _SLACK):
            break
        shown += piece
    return shown


def _divided(remedy: list[str]) -> list[list[str]]:
    """Returns the lines of a remedy in pieces that make sense by themselves; empty lines are left out."""
    pieces: list[list[str]] = []
    fresh = True
    for line in remedy:
        if line.strip():
            if fresh or _LABELLED.match(line) or line.startswith(" ") != pieces[-1][0].startswith(" "):
                pieces.append([])
            pieces[-1].append(line)
        fresh = not line.strip()
    return pieces


def spoken(job: Job) -> list[str]:
    """Returns all findings in a sentence or two each, for a terminal; `iolens advise` gives them in full."""
    found = diagnosis(job)
    return [
        *(f"{number}. {one.title}: {one.gain_words}. {one.evidence}" for number, one in enumerate(found.worth, 1)),
        *(f"{_MINOR}: {one.title} ({one.gain_words.partition(':')[0]}). {one.evidence}" for one in found.minor),
        *(f"{_NOTES}: {one.title}. {one.evidence}" for one in found.notes),
    ]
