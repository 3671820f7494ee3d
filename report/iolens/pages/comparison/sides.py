"""Baseline, best and worst setting of a sweep side by side: time by operation, bytes over time, sizes, findings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from iolens.errors import IolensError
from iolens.log import Job
from iolens.metrics.comparison.results import Comparison
from iolens.metrics.subjects.subject import Subject, Subjects, Trial
from iolens.pages.blocks import Block, Page, Text
from iolens.pages.comparison.jobs import typical_runs
from iolens.pages.exhibits.subjects.figures import SIZES, TIMES, activity_figure
from iolens.pages.exhibits.subjects.tables import FINDINGS


def side_pages(comparison: Comparison, read: Callable[[Path], Job]) -> list[Page]:
    """Returns one page (continued as needed); none where less than two of the three have a log that can be read."""
    subjects = _sides(comparison, read)
    if subjects is None:
        return []
    named = "; ".join(f"{letter}: {one.label}" for letter, one in zip(subjects.letters, subjects.all, strict=True))
    intro = f"{named}. Of each the job whose {comparison.measure.name} came nearest to the typical value."
    blocks: list[Block] = [Text(intro, "note"), *FINDINGS.tables(subjects), *TIMES.figures(subjects)]
    blocks += [*activity_figure(subjects), *SIZES.figures(subjects)]
    return [Page("Baseline, best and worst side by side", blocks)]


def _sides(comparison: Comparison, read: Callable[[Path], Job]) -> Subjects | None:
    """Returns the baseline, the best and the worst setting if they differ and have logs; None for fewer than two."""
    chosen = typical_runs(comparison).set_index("point")["log"]
    roles: dict[int, list[str]] = {}
    for role in ("baseline", "best", "worst"):
        index = getattr(comparison, role)
        if index is not None and index in chosen.index:
            roles.setdefault(index, []).append(role)
    found = []
    for index, names in roles.items():
        path = Path(str(chosen[index]))
        try:
            job = read(path)
        except (IolensError, OSError):
            continue
        label = f"{' and '.join(names)}, {comparison.points.loc[index, 'label']}"
        found.append(Subject(label, path, (Trial(path, job=job),)))
    return Subjects(tuple(found)) if len(found) > 1 else None
