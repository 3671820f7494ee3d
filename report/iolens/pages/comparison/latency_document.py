"""The comparison of a sweep whose metric is latency: improvement over the baseline, by size or by operation."""

from __future__ import annotations

from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.sweep.read.results import Results
from iolens.metrics.audit.sources import of_latencies
from iolens.metrics.comparison.latency import (
    LatencyComparison,
    choices,
    compare_latencies,
    latency_rows,
    lossy_variants,
)
from iolens.metrics.comparison.settings import describe
from iolens.pages.base.blocks import Page, PageLayout, Text, laid_out
from iolens.pages.base.exhibit import frames
from iolens.pages.base.words import plural
from iolens.pages.comparison.audit_page import ComparisonSummary, audit_page, with_audit
from iolens.pages.exhibits.sweep_latency import (
    CHOICES,
    EACH_OPERATION,
    IMPROVEMENT,
    LATENCIES,
    LATENCY_EXHIBITS,
    OVERALL,
    Latencies,
)
from iolens.pages.output.document import write_document
from iolens.pages.wording.sweep_cautions import not_read, retried


def write_latency_comparison(results: Results, path: Path) -> ComparisonSummary:
    """Writes the document of a sweep of latencies; raises if no run has any."""
    rows = latency_rows(results.runs, results.settings)
    if rows.empty:
        reasons = [str(reason) for reason in results.runs["reason"].dropna()]
        raise IolensError(f"no run of {results.directory} has latencies" + (f": {reasons[0]}" if reasons else ""))
    order = [describe(dict(point)) for point in results.runs[list(results.settings)].to_dict("records")]
    present = set(rows["variant"])
    variants = [variant for variant in dict.fromkeys(order) if variant in present]
    lossy = lossy_variants(results.runs, results.settings)
    found = Latencies(compare_latencies(rows, variants, lossy), choices(results.runs, results.settings), rows)
    notes = _cautions(results, order, present)
    evidence = of_latencies(results.runs, results.settings, present, found.comparison.baseline, results.program)
    pages = [*latency_pages(found, notes), audit_page(evidence)]
    write_document(path, results.title, _latency_subtitle(results, variants), pages)
    return ComparisonSummary(
        path=path,
        verdict=latency_verdict(found.comparison),
        cautions=tuple(notes),
        remedy=None,
        points=(OVERALL if found.comparison.by_size else EACH_OPERATION).table(found),
        frames=with_audit(frames(LATENCY_EXHIBITS, found), evidence),
    )


def latency_pages(found: Latencies, notes: list[str]) -> list[Page]:
    """Returns the answer with the improvement chart, the latencies, and the table behind both."""
    by_size = found.comparison.by_size
    overall = OVERALL if by_size else EACH_OPERATION
    said = [Text(f"Note. {note}") for note in notes]
    answer = [Text(latency_verdict(found.comparison), "lead"), *overall.tables(found), *CHOICES.tables(found), *said]
    return [Page("The answer", answer), *laid_out(_SIZE_PAGES if by_size else _OPERATION_PAGES, found)]


_SIZE_PAGES: tuple[PageLayout[Latencies], ...] = (
    PageLayout("Improvement over message size", [IMPROVEMENT.figures]),
    PageLayout("Latency over message size", [LATENCIES.figures]),
    PageLayout("Every size", [LATENCIES.tables]),
)

_OPERATION_PAGES: tuple[PageLayout[Latencies], ...] = (
    PageLayout("Improvement of each operation", [IMPROVEMENT.figures]),
    PageLayout("Latency", [LATENCIES.figures]),
    PageLayout("Every operation", [LATENCIES.tables]),
)
"""The pages for operations without sizes."""


def latency_verdict(found: LatencyComparison) -> str:
    """Returns which variant is faster or slower, and for which sizes."""
    if len(found.variants) == 1:
        return f"There is only one variant: {found.baseline}. A comparison needs a second variant."
    sentences = []
    what = "sizes" if found.by_size else "operations"
    for variant in found.variants[1:]:
        cells = found.cells[(found.cells["variant"] == variant) & found.cells["improvement"].notna()]
        clear = cells[cells["clear"]]
        faster, slower = int((clear["improvement"] > 0).sum()), int((clear["improvement"] < 0).sum())
        text = f"{variant}: faster than {found.baseline} at {faster}, slower at {slower} of {len(cells)} {what}"
        sentences.append(text + f"; {len(cells) - faster - slower} cannot be told apart.")
    return " ".join(sentences)


def _cautions(results: Results, order: list[str], present: set[str]) -> list[str]:
    """Returns the cautions that a reader needs before the numbers."""
    words = []
    counts = results.runs[results.runs["usable"]].groupby(list(results.settings)).size()
    if len(counts) and counts.min() < 3:
        words.append(f"Too few repetitions: a variant has {plural(counts.min(), 'usable run')}.")
    for variant in dict.fromkeys(order):
        if variant not in present:
            reasons = results.runs.loc[[name == variant for name in order], "reason"].dropna()
            words.append(f"{variant} has no latencies: {reasons.iloc[0] if len(reasons) else 'no reason given'}.")
    words += _variants_that_lost(results, order)
    words += retried(results)
    words += not_read(results)
    return words


def _variants_that_lost(results: Results, order: list[str]) -> list[str]:
    """Returns a caution on the variants that discarded runs, because their remaining runs may be the lucky ones."""
    words = []
    for variant in dict.fromkeys(order):
        runs = results.runs[[name == variant for name in order]]
        lost = runs[~runs["usable"]]
        reasons = [*lost["reason"].dropna(), *(reason for reasons in runs["lost_attempts"] for reason in reasons)]
        count = len(lost) + sum(map(len, runs["lost_attempts"]))
        if count:
            why = f": {reasons[0]}" if reasons else ""
            tried = len(runs) + count - len(lost)
            words.append(
                f"{variant} lost {count} of {tried} runs{why}. The remaining runs may look faster than the variant is."
            )
    return words


def _latency_subtitle(results: Results, variants: list[str]) -> str:
    """Returns the subtitle, which names the program and its ranks."""
    ranks = results.runs["nprocs"].dropna()
    parts = [results.program]
    parts += [f"{int(ranks.iloc[0])} ranks"] if len(ranks) else []
    return ", ".join([*parts, f"{plural(len(variants), 'variant')}, {len(results.runs)} runs"])
