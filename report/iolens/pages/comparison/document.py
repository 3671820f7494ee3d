"""The comparison of a sweep: the answer, figures, tables, then a small summary of one job per point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from iolens.lab.predict.what_if import read_what_if
from iolens.lab.storage import backends
from iolens.lab.sweep.read.results import Results
from iolens.lab.tune.trail import read_trail
from iolens.log import Job
from iolens.metrics.audit.sources import sources_of_comparison
from iolens.metrics.comparison.results import Comparison, bounded, compare
from iolens.pages.blocks import Block, Page, Text
from iolens.pages.comparison.audit import audit_page, with_audit
from iolens.pages.comparison.cautions import doubts, origins
from iolens.pages.comparison.driver import driver_marks
from iolens.pages.comparison.jobs import job_pages
from iolens.pages.comparison.latency import write_latency_comparison
from iolens.pages.comparison.remedy import Remedy, folded, remedy
from iolens.pages.comparison.search import search_page, with_trail
from iolens.pages.comparison.summary import ComparisonSummary
from iolens.pages.comparison.words import (
    answer_sentences,
    bound_sentences,
    comparison_subtitle,
    comparison_verdict,
    complete_run,
    details,
    interaction_sentence,
    lead,
)
from iolens.pages.document import write_document
from iolens.pages.exhibit import frames
from iolens.pages.exhibits.sweep.answers import ANSWERS
from iolens.pages.exhibits.sweep.comparison import (
    BARS,
    BRIEF,
    COMPARISON_EXHIBITS,
    EFFECTS,
    INTERACTION,
    MAP,
    POINTS,
    RUNS,
)
from iolens.pages.exhibits.sweep.scaling import SCALING
from iolens.pages.exhibits.sweep.what_if import WHAT_IF
from iolens.pages.layout import PageLayout, laid_out


def write_comparison(
    results: Results, path: Path, read: Callable[[Path], Job], device_rate: float = 0.0
) -> ComparisonSummary:
    """Writes the comparison of a sweep, a PDF or an HTML page; `read` makes a Job of a run's log.

    `device_rate` (MiB/s) is drawn as the bound of points that no model bounds.
    """
    if results.metric == "latency":
        return write_latency_comparison(results, path)
    limits = results.limits if results.metric == "write_bandwidth" else {}
    comparison = bounded(
        compare(results.runs, results.settings, results.measure, results.fresh, limits),
        0.0 if results.measure.less_is_better else device_rate,
    )
    of_storage = [*backends.storage_marks(set(results.runs["storage"])), *driver_marks(results.runs)]
    labels = of_storage if results.measure.of_storage else []
    evidence = sources_of_comparison(comparison, results.program)
    answer, *others = _sweep_pages(results, comparison)
    trail = read_trail(results.directory)
    searched = [search_page(trail)] if trail else []
    pages = [
        answer,
        *searched,
        *others,
        *job_pages(comparison, read),
        audit_page(evidence),
    ]
    write_document(path, results.title, comparison_subtitle(results, comparison), pages, labels)
    return ComparisonSummary(
        path=path,
        verdict=comparison_verdict(comparison),
        cautions=(*origins(results, comparison), *answer_sentences(comparison)),
        doubts=tuple(doubts(results, comparison)),
        remedy=remedy(results, comparison),
        points=BRIEF.table(comparison),
        frames=with_audit(with_trail(frames((*COMPARISON_EXHIBITS, ANSWERS, SCALING), comparison), trail), evidence),
    )


def _sweep_pages(results: Results, comparison: Comparison) -> list[Page]:
    """Returns the pages about the sweep as a whole; a figure that the matrix does not allow is left out."""
    comparable = bool(comparison.factors) and comparison.best is not None
    found = laid_out([*(_PAGES if comparable else ()), _LAST_PAGE], comparison)
    return [_answer_page(results, comparison), *_what_if_pages(results), *found]


def _what_if_pages(results: Results) -> list[Page]:
    """Returns the page of predictions that lie with the results (`iolens predict -o`); none without predictions."""
    found = read_what_if(results.directory)
    table = WHAT_IF.table(found) if found else None
    if found is None or table is None:
        return []
    return [Page(WHAT_IF.title, [*WHAT_IF.figures(found), replace(table, title="")])]


def _answer_page(results: Results, comparison: Comparison) -> Page:
    """Returns the first page: the reasons for doubt about the numbers, the gain, text to paste, the map of the sweep,
    and the sources of the numbers.
    """
    blocks: list[Block] = [Text(f"Caution: {doubt}", "small") for doubt in doubts(results, comparison)]
    blocks.append(Text(lead(comparison), "lead"))
    found = remedy(results, comparison)
    blocks += _remedy_blocks(found) if found is not None else []
    blocks += MAP.figures(comparison)
    blocks += [Text(sentence) for sentence in (*details(comparison), *answer_sentences(comparison))]
    first = complete_run(results)
    blocks += [Text(text, "small") for text in (*([first] if first else []), *origins(results, comparison))]
    return Page("The answer", blocks)


def _remedy_blocks(found: Remedy) -> list[Block]:
    """Returns the recommendation as text that can be pasted."""
    before = ", before the file exists:" if found.stripes or found.hints else ":"
    lines = [] if found.stripes is None else [found.stripes]
    if found.hints:
        lines += ["cat > hints.txt <<END", *found.hints, "END", "export ROMIO_HINTS=$PWD/hints.txt"]
    lines += [folded(line) for line in found.own]
    return [Text(found.lead + before), Text("\n".join(lines), "code"), Text(found.holds_for)]


def _together(comparison: Comparison) -> list[Block]:
    """Returns the joint effect of two settings in a sentence."""
    return [] if comparison.interaction is None else [Text(interaction_sentence(comparison.interaction))]


def _model_bound(comparison: Comparison) -> list[Block]:
    """Returns sentences about the bound by the storage's model."""
    return [Text(sentence) for sentence in bound_sentences(comparison)]


def _all_runs(comparison: Comparison) -> list[Block]:
    """Returns the table of all runs, preceded by its note because the table is long."""
    table = RUNS.table(comparison)
    return [] if table is None else [Text(table.note, "note"), replace(table, title="", note="")]


_PAGES: tuple[PageLayout[Comparison], ...] = (
    PageLayout(BARS.title, [BARS.figures, _model_bound], joined=False),
    PageLayout("What each setting does", [EFFECTS.figures, _together, INTERACTION.figures, EFFECTS.tables]),
    PageLayout("Scaling", [SCALING.figures, SCALING.tables]),
    PageLayout("Every setting", [POINTS.figures, POINTS.tables]),
    PageLayout("What each build computed", [ANSWERS.tables]),
)
"""The pages of a comparison whose settings can be compared."""

_LAST_PAGE: PageLayout[Comparison] = PageLayout(RUNS.title, [_all_runs], joined=False)
