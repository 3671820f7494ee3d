"""The comparison of a sweep: the answer, figures, tables, then small summaries of jobs side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.predict.what_if import read_what_if
from iolens.lab.storage import backends
from iolens.lab.sweep.read.results import Results
from iolens.lab.tune.trail import read_trail
from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.audit.sources import sources_of_comparison
from iolens.metrics.comparison.results import Comparison, bounded, compare
from iolens.metrics.comparison.settings import size_text, three_digits, volume_text
from iolens.metrics.job.cost import performance
from iolens.metrics.job.interfaces.mpiio import aggregators, byte_ratios, listed_ranks
from iolens.metrics.subjects.subject import Subject, Subjects, Trial
from iolens.pages.base.blocks import Block, Page, PageLayout, Text, laid_out
from iolens.pages.base.exhibit import frames
from iolens.pages.base.words import value_with_unit
from iolens.pages.comparison.audit_page import ComparisonSummary, audit_page, search_page, with_audit, with_trail
from iolens.pages.comparison.latency_document import write_latency_comparison
from iolens.pages.exhibits.subjects import CALLS, FINDINGS, SIZES, TIMES, subject_activity_figure
from iolens.pages.exhibits.sweep_answers import ANSWERS, SCALING, WHAT_IF
from iolens.pages.exhibits.sweep_points import BARS, BRIEF, COMPARISON_EXHIBITS, EFFECTS, INTERACTION, MAP, POINTS, RUNS
from iolens.pages.output.document import write_document
from iolens.pages.wording.subject_words import unlike_bytes
from iolens.pages.wording.sweep_cautions import doubts, origins
from iolens.pages.wording.sweep_remedy import Remedy, driver_marks, folded, remedy
from iolens.pages.wording.sweep_verdict import (
    answer_sentences,
    bound_sentences,
    comparison_subtitle,
    comparison_verdict,
    complete_run,
    details,
    interaction_sentence,
    lead,
)

_MOST_JOBS, _TOGETHER = 80, 9
"""Largest number of jobs in one document, and in one figure."""

_WORTH_SAYING = 0.05
"""Minimum relative difference between the bytes of POSIX and of MPI-IO that a job's facts mention."""

_MOST = 0.99
"""Minimum share of all written bytes in one file for which a job is said to have written this file only."""


def job_pages(comparison: Comparison, read: Callable[[Path], Job]) -> list[Page]:
    """Returns a page with the baseline, the best and the worst setting side by side, and one with a job of every
    setting, both continued as needed; none without logs. `read` makes a Job of a log.
    """
    chosen = _typical_runs(comparison)
    if chosen.empty:
        return []
    note = f"For each setting, the job whose {comparison.measure.name} came nearest to the typical value"
    more = f"; the first {_MOST_JOBS} of {len(chosen)} settings" if len(chosen) > _MOST_JOBS else ""
    blocks: list[Block] = [Text(f"{note}{more}. `iolens report LOG` makes the full summary of any of them.", "note")]
    shown = chosen["point"].tolist()[:_MOST_JOBS]
    size = -(-len(shown) // -(-len(shown) // _TOGETHER))
    before = 0
    for first in range(0, len(shown), size):
        names = comparison.points["name"].loc[shown[first : first + size]].to_dict()
        subjects, said = _subjects_of(comparison, chosen, names, read, before)
        before += len(subjects.all)
        blocks += [*said, *TIMES.figures(subjects), *CALLS.tables(subjects), *SIZES.figures(subjects)]
    return [*_side_pages(comparison, chosen, read), Page("One job per setting", blocks)]


def _side_pages(comparison: Comparison, chosen: pd.DataFrame, read: Callable[[Path], Job]) -> list[Page]:
    """Returns the page of baseline, best and worst; none if fewer than two of them have a readable log."""
    roles: dict[int, str] = {}
    for role in ("baseline", "best", "worst"):
        index = getattr(comparison, role)
        if index in chosen["point"].tolist():
            roles[index] = f"{roles[index]} and {role}" if index in roles else role
    names = {index: str(comparison.points.loc[index, "label"]) for index in roles}
    subjects, _ = _subjects_of(comparison, chosen, names, read)
    if len(subjects.all) < 2:
        return []
    role_of = {names[index]: role for index, role in roles.items()}
    named = "; ".join(f"{letter}: {role_of[one.label]}, {one.label}" for letter, one in subjects.named)
    intro = f"{named}. Each is shown by the job whose {comparison.measure.name} came nearest to the typical value."
    unlike = unlike_bytes(subjects)
    caution = [Text(f"Caution: {unlike}", "small")] if unlike else []
    blocks: list[Block] = [*caution, Text(intro, "note"), *FINDINGS.tables(subjects), *TIMES.figures(subjects)]
    blocks += [*subject_activity_figure(subjects), *SIZES.figures(subjects)]
    heads = " and ".join(roles.values())
    return [Page(f"{heads[:1].upper()}{heads[1:]} side by side", blocks)]


def _subjects_of(
    comparison: Comparison,
    chosen: pd.DataFrame,
    names: Mapping[int, str],
    read: Callable[[Path], Job],
    before: int = 0,
) -> tuple[Subjects, list[Block]]:
    """Reads the logs of the chosen runs. Returns them as subjects of a comparison, whose letters follow those of
    `before` earlier subjects, and a sentence about each run or its unreadable log.
    """
    found, said, measure = Subjects((), before=before), list[Block](), comparison.measure
    for index, name in names.items():
        (run,) = chosen[chosen["point"] == index].to_dict("records")
        path = Path(run["log"])
        title = f"{name}, repetition {run['repetition']}: {value_with_unit(measure, run[measure.column])}"
        try:
            job = read(path)
        except (IolensError, OSError) as error:
            said.append(Text(f"{title}. The log cannot be read: {error}"))
            continue
        found = Subjects((*found.all, Subject(name, path, (Trial(path, job=job),))), before=before)
        said.append(Text(f"{found.letters[-1]}: {title}. {_job_sentence(job)}"))
    return found, said


def _typical_runs(comparison: Comparison) -> pd.DataFrame:
    """Returns one usable run with a log for each point: the run whose value is nearest to the typical value, as a
    ratio.
    """
    runs, column = comparison.runs, comparison.measure.column
    runs = runs[runs["usable"] & runs["log"].notna() & runs[column].notna()]
    typical = comparison.points["value"].loc[runs["point"]].to_numpy(dtype=float)
    distance = [abs(math.log(speed / value)) for speed, value in zip(runs[column], typical, strict=True)]
    return runs.assign(distance=distance).sort_values(["point", "distance"]).drop_duplicates("point")


def _job_sentence(job: Job) -> str:
    """Returns the job in a sentence: ranks, time, bytes of each layer, who wrote in which sizes."""
    words = [f"{job.nprocs} ranks, run time {three_digits(job.run_time)} s"]
    for name in ("MPI-IO", "POSIX"):
        if name in job.frames:
            done = performance(job, name)
            words.append(f"{name} wrote {volume_text(done.bytes_written)} and read {volume_text(done.bytes_read)}")
    for verb, ratio in zip(("read", "wrote"), byte_ratios(job).values(), strict=True):
        if ratio is not None and abs(ratio - 1) >= _WORTH_SAYING:
            words.append(f"POSIX {verb} {ratio:.2f} bytes for each byte of MPI-IO")
    found = aggregators(job, by_family=False)
    if found is not None and len(found):
        top = found.frame().iloc[0]
        more = f" and by some of {top['others']} others" if top["others"] else ""
        whole = top["bytes"] >= _MOST * performance(job, "POSIX").bytes_written
        its = "written" if whole else "the shared file with the most bytes was written"
        words.append(f"{its} by rank{'s'[: len(top['writers']) != 1]} {listed_ranks(top['writers'])}{more}")
        words.append(f"mostly {size_text(top['common_write'])} at a time, {100 * top['not_aligned']:.0f} % not aligned")
    return "; ".join(words) + f". Log: {job.log_name}"


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
