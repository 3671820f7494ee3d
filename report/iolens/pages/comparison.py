"""The comparison PDF of a sweep: the answer, figures, tables, then a small summary of one job per point."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from iolens.figures.compare_bars import grouped_bars
from iolens.figures.compare_effects import effect_forest
from iolens.figures.compare_heatmap import heatmap
from iolens.figures.compare_interaction import interaction_lines
from iolens.figures.compare_ranking import ranked, ranking
from iolens.lab.storage import backends
from iolens.lab.sweep.results import METRICS, Results, load_results
from iolens.metrics.comparison import Comparison, compare
from iolens.metrics.statistics import CONFIDENCE
from iolens.pages.blocks import Block, FigureBlock, Page, Text
from iolens.pages.comparison_jobs import job_pages
from iolens.pages.comparison_remedy import Remedy, remedy
from iolens.pages.comparison_summary import ComparisonSummary
from iolens.pages.comparison_tables import brief_table, effects_table, points_table, runs_table
from iolens.pages.comparison_words import cautions, complete_run, interaction_sentence, subtitle, verdict
from iolens.pages.document import write_pdf
from iolens.pages.latency import write_latency_comparison

SPEED = ("value", "low", "high", "bandwidth")
TIME = ("seconds", "seconds_low", "seconds_high", "io_seconds")


def write_comparison(results_dir: Path, pdf: Path) -> ComparisonSummary:
    """Read a sweep's folder and write its comparison PDF."""
    results = load_results(results_dir)
    if results.metric == "latency":
        return write_latency_comparison(results, pdf)
    comparison = compare(results.runs, results.settings)
    labels = backends.marks(set(results.runs["storage"]))
    pages = [*sweep_pages(results, comparison), *job_pages(comparison)]
    write_pdf(pdf, results.title, subtitle(results, comparison), pages, labels)
    frames = {"points": comparison.points, "runs": comparison.runs, "effects": comparison.effects}
    if comparison.interaction is not None:
        frames["interaction"] = comparison.interaction.cells
    return ComparisonSummary(
        pdf=pdf,
        verdict=verdict(comparison),
        cautions=tuple(cautions(results, comparison)),
        remedy=remedy(results, comparison),
        points=brief_table(comparison),
        frames=frames,
    )


def sweep_pages(results: Results, comparison: Comparison) -> Iterable[Page]:
    """The pages about the sweep as a whole; a figure that the matrix does not allow is left out."""
    label = METRICS[results.metric][1]
    yield answer_page(results, comparison, f"{label}, MiB/s")
    if comparison.factors and comparison.best is not None:
        yield bars_page(comparison, label)
        yield effects_page(comparison, f"{label}, MiB/s")
        yield standing_page(comparison, f"{label}, MiB/s")
    table = runs_table(comparison)
    yield Page(table.title, [Text(table.note, "note"), replace(table, title="", note="")])


def answer_page(results: Results, comparison: Comparison, label: str) -> Page:
    """Verdict, map of the sweep, what to paste, what to beware of."""
    blocks: list[Block] = [Text(verdict(comparison), "lead")]
    if len(comparison.factors) >= 2 and comparison.best is not None:
        pair = comparison.interaction.names if comparison.interaction else comparison.factors[:2]
        rest = [name for name in comparison.factors if name not in pair]
        figure = heatmap(comparison.points, (pair[0], pair[1]), rest, label, comparison.best)
        caption = "Typical bandwidth of each setting. Framed: the best; hatched: left out of the comparison."
        blocks.append(FigureBlock(figure, caption))
    found = remedy(results, comparison)
    if found is not None:
        blocks += remedy_blocks(found, comparison.best == comparison.baseline)
    blocks += [Text(f"Note. {caution}") for caution in cautions(results, comparison)]
    first = complete_run(results)
    if first is not None:
        blocks.append(Text(first))
    if len(comparison.effects):
        caption = (
            f"Effect of each setting, the others balanced: mean ratio (diamond) and {100 * CONFIDENCE:.0f} % interval; "
            "the grey bar spans the single pairs: a long one means that the effect depends on the other settings."
        )
        blocks.append(FigureBlock(effect_forest(comparison.effects), caption))
    return Page("The answer", blocks)


def remedy_blocks(found: Remedy, is_baseline: bool) -> list[Block]:
    """The recommendation as text that can be pasted."""
    lead = "To use the best setting, before the file exists:"
    if is_baseline:
        lead = "The best setting is the baseline; to be sure to have it, before the file exists:"
    elif not found.proven:
        lead = "The best setting of this sweep, not proven better than a baseline; to try it, before the file exists:"
    lines = [] if found.stripes is None else [found.stripes]
    if found.hints:
        lines += ["cat > hints.txt <<END", *found.hints, "END", "export ROMIO_HINTS=$PWD/hints.txt"]
    lines += found.own
    return [Text(lead), Text("\n".join(lines), "code"), Text(found.holds_for)]


def bars_page(comparison: Comparison, label: str) -> Page:
    """Throughput and I/O time of every point."""
    bars = [
        FigureBlock(
            grouped_bars(comparison.points, comparison.runs, comparison.factors, columns, axis, comparison.best),
            caption,
        )
        for columns, axis, caption in (
            (
                SPEED,
                f"{label}, MiB/s",
                "Throughput: typical value, interval, single runs (dots). Intervals without cap leave the axis.",
            ),
            (TIME, "I/O time, s", "I/O time of the slowest rank, the same way."),
        )
    ]
    return Page("Throughput and I/O time", bars)


def effects_page(comparison: Comparison, label: str) -> Page:
    """What each setting does, alone and together."""
    blocks: list[Block] = []
    if comparison.interaction is not None:
        blocks.append(Text(interaction_sentence(comparison.interaction)))
        lines = interaction_lines(comparison.interaction.cells, comparison.interaction.names, label)
        caption = "Parallel lines: the two act independently; fanning out: they pay off together."
        blocks.append(FigureBlock(lines, caption))
    return Page("What each setting does", [*blocks, effects_table(comparison)])


def standing_page(comparison: Comparison, label: str) -> Page:
    """All points in order, and in numbers."""
    caption = "From best to worst. Orange: cannot be told from the best; grey: left out of the comparison."
    shown, measured = len(ranked(comparison.points)), int(comparison.points["value"].notna().sum())
    if shown < measured:
        caption += f" The best {shown} of {measured}."
    return Page("Every setting", [FigureBlock(ranking(comparison.points, label), caption), points_table(comparison)])
