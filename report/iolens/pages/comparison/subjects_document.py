"""The comparison of logs, runs and outputs as a document and as JSON, and the verdicts of a gate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from iolens.lab.storage import backends
from iolens.metrics.audit.sources import sources_of_subjects
from iolens.metrics.subjects.gate import BROKEN, OPEN, LimitVerdict
from iolens.metrics.subjects.subject import Subjects
from iolens.pages.base import words
from iolens.pages.base.blocks import Block, PageLayout, Table, Text, laid_out
from iolens.pages.base.exhibit import frames
from iolens.pages.comparison.audit_page import ComparisonSummary, audit_page, with_audit
from iolens.pages.exhibits.subjects import (
    BARS,
    FACTS,
    FILES,
    FINDINGS,
    RATIOS,
    SIZES,
    SUBJECT_EXHIBITS,
    TIMES,
    WHO,
    grouped_tables,
    subject_activity_figure,
)
from iolens.pages.exhibits.sweep_answers import SUBJECT_SCALING
from iolens.pages.output.document import write_document
from iolens.pages.output.export import json_rows
from iolens.pages.wording.subject_words import headline, notes, subject_doubts, value_text

if TYPE_CHECKING:
    from iolens.metrics.subjects.subject import Subjects


def write_subjects(subjects: Subjects, path: Path) -> ComparisonSummary:
    """Writes the document, as PDF or HTML according to its name, and returns its summary for a terminal."""
    title = f"Comparison of {len(subjects.all)}"
    names = ", ".join(f"{letter} {one.label}" for letter, one in subjects.named)
    evidence = sources_of_subjects(subjects)
    write_document(path, title, names, [*laid_out(_PAGES, subjects), audit_page(evidence)], _storage_marks(subjects))
    return ComparisonSummary(
        path=path,
        verdict="\n".join(headline(subjects)),
        cautions=tuple(notes(subjects)),
        doubts=tuple(subject_doubts(subjects)),
        remedy=None,
        points=None,
        frames=with_audit(frames((*SUBJECT_EXHIBITS, SUBJECT_SCALING), subjects), evidence),
    )


def _storage_marks(subjects: Subjects) -> list[str]:
    """Returns the marks that every page must show: the storage that was emulated."""
    kinds = {(trial.record.get("storage") or {}).get("kind") for one in subjects.all for trial in one.trials}
    kinds |= {job.storage for one in subjects.all for job in one.jobs}
    return backends.storage_marks(kinds)


def lead(subjects: Subjects) -> Sequence[Block]:
    """Returns the sentences that a reader needs first: the reasons to doubt the numbers, the most important difference,
    further differences, and notes.
    """
    first, *others = headline(subjects)
    most, _, further = first.partition("; ")
    said = [Text(f"Caution: {doubt}", "small") for doubt in subject_doubts(subjects)]
    said += [Text(f"{most.removesuffix('.')}.", "lead"), *([Text(f"Further: {further}")] if further else [])]
    return [*said, *map(Text, others), *(Text(text, "small") for text in notes(subjects))]


_PAGES: tuple[PageLayout[Subjects], ...] = (
    PageLayout("What differs", [lead, WHO.tables, RATIOS.figures, FINDINGS.tables], joined=False),
    PageLayout("How they were made", [FACTS.tables]),
    PageLayout("Rates, and what bounds them", [BARS.figures]),
    PageLayout("I/O time by operation", [TIMES.figures]),
    PageLayout("Scaling", [SUBJECT_SCALING.figures, SUBJECT_SCALING.tables]),
    PageLayout("Bytes over time", [subject_activity_figure]),
    PageLayout("Access sizes", [SIZES.figures]),
    PageLayout("Files", [FILES.tables]),
    PageLayout("Every number", [partial(grouped_tables, whole=False)], joined=False),
)


def as_json(subjects: Subjects) -> str:
    """Returns `headline`, `notes`, then the rows of every exhibit by its name; unknown values are null."""
    found: dict[str, Any] = {"headline": headline(subjects), "notes": [*subject_doubts(subjects), *notes(subjects)]}
    for name, frame in frames(SUBJECT_EXHIBITS, subjects).items():
        if name != "index":
            found[name] = json_rows(frame)
    return json.dumps(found, ensure_ascii=False)


def verdict_table(verdicts: Sequence[LimitVerdict]) -> Table:
    """Returns a table with a row for each limit of `iolens check`: its values before and now, the change, and the
    verdict.
    """
    rows = [
        [
            one.limit.text,
            value_text(one.base, one.unit),
            value_text(one.new, one.unit),
            _change_words(one),
            _outcome(one),
        ]
        for one in verdicts
    ]
    return Table("Limits", ["limit", "before", "now", "change", "verdict"], rows)


def summary(verdicts: Sequence[LimitVerdict]) -> str:
    """Returns one line on all verdicts: the broken limits, and the number of limits on which the runs cannot decide."""
    broken = [one for one in verdicts if one.outcome == BROKEN]
    still_open = sum(one.outcome == OPEN for one in verdicts)
    exceeded = f"{len(broken)} of {words.plural(len(verdicts), 'limit')} exceeded"
    told = [exceeded if broken else "no limit exceeded"]
    told += [f"{one.limit.name} {_change_words(one)} (limit {one.limit.text})" for one in broken]
    if still_open:
        told.append(f"{words.plural(still_open, 'limit')} could not be decided; repeat the runs more often")
    return "; ".join(told)


def junit(verdicts: Sequence[LimitVerdict]) -> str:
    """Returns the verdicts in the XML of JUnit: a broken limit is a failure, an open limit is skipped."""
    numbers = {"tests": len(verdicts), "errors": 0}
    for name, kind in (("failures", BROKEN), ("skipped", OPEN)):
        numbers[name] = sum(one.outcome == kind for one in verdicts)
    suite = ElementTree.Element("testsuite", {"name": "iolens check"} | {key: str(n) for key, n in numbers.items()})
    for one in verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname="iolens", name=one.limit.text)
        said = f"{value_text(one.base, one.unit)} before, {value_text(one.new, one.unit)} now: {_change_words(one)}"
        if one.outcome == BROKEN:
            ElementTree.SubElement(case, "failure", message=said)
        elif one.outcome == OPEN:
            ElementTree.SubElement(case, "skipped", message=f"{said} ({one.reason})")
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _change_words(one: LimitVerdict) -> str:
    """Returns the change of a number, with its interval."""
    if one.ratio is None:
        return words.NONE
    ends = [one.ratio.value, one.ratio.low, one.ratio.high]
    value, low, high = (None if end is None else _percent(end) for end in ends)
    return f"{value} %" if low is None or low == high else f"{value} % [{low}, {high}]"


def _percent(ratio: float) -> str:
    """Returns a ratio as a change in per cent, with its sign."""
    return "∞" if ratio == float("inf") else f"{100 * (ratio - 1):+.1f}"


def _outcome(one: LimitVerdict) -> str:
    """Returns the verdict in words, with its reason."""
    return f"{one.outcome}: {one.reason}" if one.reason else one.outcome
