"""The comparison of logs, runs and outputs as a document: differences, facts, time, bytes, sizes, files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from iolens.lab.storage import backends
from iolens.metrics.audit.sources import sources_of_subjects
from iolens.metrics.subjects.subject import Subjects
from iolens.pages.blocks import Block, Text
from iolens.pages.comparison.audit import audit_page, with_audit
from iolens.pages.comparison.summary import ComparisonSummary
from iolens.pages.document import write_document
from iolens.pages.exhibit import frames
from iolens.pages.exhibits.subjects.figures import BARS, RATIOS, SIZES, TIMES, subject_activity_figure
from iolens.pages.exhibits.subjects.tables import FACTS, FILES, FINDINGS, SUBJECT_EXHIBITS, WHO, grouped_tables
from iolens.pages.exhibits.sweep.scaling import SUBJECT_SCALING
from iolens.pages.layout import PageLayout, laid_out
from iolens.pages.subjects.words import headline, notes, subject_doubts


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
