"""The comparison PDF of a sweep whose metric is latency: improvement over the baseline, by size or by operation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iolens.errors import IolensError
from iolens.figures.latency_improvement import LOWEST, improvement_bars, operation_improvement
from iolens.figures.latency_lines import latency_lines, operation_latencies
from iolens.lab.sweep.results import Results
from iolens.metrics.latency import LatencyComparison, choices, compare_latencies, latency_rows
from iolens.metrics.settings import describe, size_text
from iolens.metrics.statistics import CONFIDENCE, RATIO, claim
from iolens.pages.blocks import Block, FigureBlock, Page, Table, Text
from iolens.pages.comparison_summary import ComparisonSummary
from iolens.pages.comparison_words import interval, number, plural
from iolens.pages.document import write_pdf

if TYPE_CHECKING:
    import pandas as pd

MICRO = 1e6


def write_latency_comparison(results: Results, pdf: Path) -> ComparisonSummary:
    """Write the PDF of a sweep of latencies; raises when no run has any."""
    rows = latency_rows(results.runs, results.settings)
    if rows.empty:
        reasons = [str(reason) for reason in results.runs["reason"].dropna()]
        raise IolensError(f"no run of {results.directory} has latencies" + (f": {reasons[0]}" if reasons else ""))
    order = [describe(dict(point)) for point in results.runs[list(results.settings)].to_dict("records")]
    present = set(rows["variant"])
    variants = [variant for variant in dict.fromkeys(order) if variant in present]
    found = compare_latencies(rows, variants)
    notes = cautions(results, order, present)
    chose = choices(results.runs, results.settings)
    write_pdf(pdf, results.title, subtitle(results, variants), list(latency_pages(found, chose, notes)), [])
    return ComparisonSummary(
        pdf=pdf,
        verdict=verdict(found),
        cautions=tuple(notes),
        remedy=None,
        points=overall_table(found),
        frames={"latency": found.cells, "overall": found.overall, "choices": chose, "runs": rows},
    )


def latency_pages(found: LatencyComparison, chose: pd.DataFrame, notes: list[str]) -> Iterable[Page]:
    """The answer with the improvement chart, the latencies, and the table behind both."""
    blocks: list[Block] = [Text(verdict(found), "lead"), overall_table(found)]
    if bool(chose[["selected", "eager_observed"]].notna().to_numpy().any()):
        blocks.append(choices_table(chose))
    blocks += [Text(f"Note. {note}") for note in notes]
    yield Page("The answer", blocks)
    over = "Improvement over message size" if found.by_size else "Improvement of each operation"
    if len(found.variants) > 1:
        caption = (
            f"100 (t_base - t) / t_base against {found.baseline}: above the line is faster. Whiskers: "
            f"{100 * CONFIDENCE:.0f} % interval of the proven bars; faint: not proven among all bars of its operation."
        )
        if (found.cells["improvement"] < LOWEST).any():
            caption += f" Bars that end at {LOWEST:.0f} % are longer: they carry their number."
        draw = improvement_bars if found.by_size else operation_improvement
        yield Page(over, [FigureBlock(draw(found.cells, found.baseline), caption)], joined=True)
    yield latency_page(found, chose)
    yield Page("Every size" if found.by_size else "Every operation", [latency_table(found)], joined=True)


def latency_page(found: LatencyComparison, chose: pd.DataFrame) -> Page:
    """The latencies themselves, over the sizes or over the operations."""
    caption = "Mean over iterations and ranks; typical value of the repetitions, with its interval"
    if not found.by_size:
        return Page("Latency", [FigureBlock(operation_latencies(found.cells), f"{caption}.")], joined=True)
    eager = chose.set_index("variant")["eager_observed"].dropna().astype(float)
    caption += " as a band."
    caption += " Dotted: the largest message that was sent without a receiver waiting." if len(eager) else ""
    figure = latency_lines(found.cells, {str(key): float(value) for key, value in eager.items()})
    return Page("Latency over message size", [FigureBlock(figure, caption)], joined=True)


def verdict(found: LatencyComparison) -> str:
    """Which variant is faster or slower, and where."""
    if len(found.variants) == 1:
        return f"One variant only: {found.baseline}; nothing to hold it against."
    sentences = []
    what = "sizes" if found.by_size else "operations"
    for variant in found.variants[1:]:
        cells = found.cells[(found.cells["variant"] == variant) & found.cells["improvement"].notna()]
        clear = cells[cells["clear"]]
        faster, slower = int((clear["improvement"] > 0).sum()), int((clear["improvement"] < 0).sum())
        text = f"{variant}: faster than {found.baseline} at {faster}, slower at {slower} of {len(cells)} {what}"
        sentences.append(text + f"; {len(cells) - faster - slower} cannot be told apart.")
    return " ".join(sentences)


def overall_table(found: LatencyComparison) -> Table:
    """Each operation and variant over all its sizes."""
    rows = [
        [
            str(row["operation"]),
            str(row["variant"]),
            f"{number(row['ratio'])}{interval(row['low'], row['high'])}",
            *([f"{row['sizes']}"] if found.by_size else []),
        ]
        for _, row in found.overall.iterrows()
    ]
    over = ", geometric mean over the sizes" if found.by_size else ""
    note = f"Time of {found.baseline} divided by the variant's{over}; above 1 is faster. "
    note += f"Method: {claim(RATIO, CONFIDENCE)}."
    title, more = ("Over all sizes", ["sizes"]) if found.by_size else ("Each operation", [])
    return Table(title, ["operation", "variant", "× as fast", *more], rows, note)


def is_known(value: Any) -> bool:
    """False for None and for a frame's missing values."""
    return value is not None and value == value


def choices_table(chose: pd.DataFrame) -> Table:
    """What the library chose under each variant, as far as it tells."""
    rows = []
    for _, row in chose.iterrows():
        eager = f"{int(row['eager_observed'])} B" if is_known(row["eager_observed"]) else "n/a"
        first = str(row["selected"]) if is_known(row["selected"]) else "n/a"
        crowded = {True: "more ranks than processors", False: ""}.get(row["oversubscribed"], "n/a")
        rows.append([str(row["variant"]), first, eager, crowded])
    note = "From the library's own words, and from sends that returned without a receiver; n/a: not told or looked for."
    return Table("What the MPI library did", ["variant", "first component", "eager limit seen", "remark"], rows, note)


def latency_table(found: LatencyComparison) -> Table:
    """One row per operation and size, a column per variant, microseconds."""
    order = {operation: i for i, operation in enumerate(dict.fromkeys(found.cells["operation"]))}
    cells = found.cells.assign(place=found.cells["operation"].map(order)).sort_values(["place", "bytes"], kind="stable")
    table = cells.pivot_table(
        index=["operation", "bytes"], columns="variant", values="seconds", sort=False, aggfunc="first"
    )
    sizes = ["message"] if found.by_size else []
    columns = ["operation", *sizes, *(f"{variant}, µs" for variant in found.variants)]
    rows = []
    for (operation, size), values in zip(table.index, table[list(found.variants)].to_numpy(), strict=True):
        times = ["n/a" if value != value else number(value * MICRO) for value in values]
        rows.append([str(operation), *([size_text(size)] if found.by_size else []), *times])
    return Table("Latency", columns, rows, "Typical value over the repetitions, microseconds.")


def cautions(results: Results, order: list[str], present: set[str]) -> list[str]:
    """What a reader must know before believing the numbers."""
    words = []
    counts = results.runs[results.runs["usable"]].groupby(list(results.settings)).size()
    if len(counts) and counts.min() < 3:
        words.append(f"Too few repetitions: a variant has {counts.min()} usable {plural('run', int(counts.min()))}.")
    for variant in dict.fromkeys(order):
        if variant not in present:
            reasons = results.runs.loc[[name == variant for name in order], "reason"].dropna()
            words.append(f"{variant} has no latencies: {reasons.iloc[0] if len(reasons) else 'no reason given'}.")
    words += lost_runs(results, order)
    words += [f"Not read: {skip.path} ({skip.reason})." for skip in results.skipped]
    return words


def lost_runs(results: Results, order: list[str]) -> list[str]:
    """Which variants lost runs, so that the others may be the lucky ones."""
    words = []
    for variant in dict.fromkeys(order):
        runs = results.runs[[name == variant for name in order]]
        lost = runs[~runs["usable"]]
        reasons = [*lost["reason"].dropna(), *(reason for reasons in runs["lost_attempts"] for reason in reasons)]
        count = len(lost) + sum(map(len, runs["lost_attempts"]))
        if count:
            why = f": {reasons[0]}" if reasons else ""
            tried = len(runs) + count - len(lost)
            words.append(f"{variant} lost {count} of {tried} runs{why}. What remains may look faster than it is.")
    return words


def subtitle(results: Results, variants: list[str]) -> str:
    """What was run."""
    ranks = results.runs["nprocs"].dropna()
    parts = [str((results.experiment.get("workload") or {}).get("program") or results.name)]
    parts += [f"{int(ranks.iloc[0])} ranks"] if len(ranks) else []
    return ", ".join([*parts, f"{len(variants)} {plural('variant', len(variants))}, {len(results.runs)} runs"])
