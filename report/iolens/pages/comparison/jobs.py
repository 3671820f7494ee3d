"""The jobs of a sweep as subjects side by side: baseline, best and worst, then a job of every setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from iolens.errors import IolensError
from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.comparison.results import Comparison
from iolens.metrics.comparison.settings import size_text, three_digits, volume_text
from iolens.metrics.job.cost import performance
from iolens.metrics.job.interfaces.mpiio import aggregators, byte_ratios, listed_ranks
from iolens.metrics.subjects.subject import Subject, Subjects, Trial
from iolens.pages.blocks import Block, Page, Text
from iolens.pages.comparison.numbers import value_with_unit
from iolens.pages.exhibits.subjects.figures import SIZES, TIMES, subject_activity_figure
from iolens.pages.exhibits.subjects.tables import CALLS, FINDINGS
from iolens.pages.subjects.words import unlike_bytes

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
