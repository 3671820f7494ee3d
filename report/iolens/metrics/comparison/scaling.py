"""The scaling of a program: speed-up and efficiency, for the same work (strong) and for more work (weak)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from iolens.lazy import pd
from iolens.metrics.comparison.points import measured
from iolens.metrics.comparison.results import Comparison
from iolens.metrics.comparison.settings import JointLevel, describe
from iolens.metrics.job.cost import moved_once
from iolens.metrics.statistics.intervals import family
from iolens.metrics.subjects.aligned import numbers
from iolens.metrics.subjects.subject import Subjects
from iolens.metrics.subjects.values import RUN

_WORKERS = ("ranks", "nodes")
"""Settings whose levels are numbers of workers. If an experiment varies both, the first one is used."""

_SAME = 0.01
"""Maximum relative difference between the work of two points that counts as the same."""


@dataclass(frozen=True)
class ScalingPoint:
    """A point of a scaling comparison: `rest` names its other settings, which all points compared with it share. `work`
    is in bytes (None: not known), `rates` are work per second in any unit.
    """

    rest: str
    workers: int
    work: float | None
    rates: Sequence[float]
    seconds: float


def scaling(points: Sequence[ScalingPoint]) -> pd.DataFrame | None:
    """Returns one row per point: rest, workers, seconds, kind, speedup, efficiency with low and high, runs.

    The base is the point with the fewest workers, p0, among the points of the same rest. With p workers and typical
    rates r (work over time), speed-up is r / r0 and efficiency r p0 / (r0 p). For equal work (strong scaling) r / r0 is
    T0 / T; for equal work per worker (weak scaling) efficiency is T0 / T. The intervals of the ratios to the base hold
    for all of its points together (`statistics.Family.against`). The kind is `neither` if neither the work nor the work
    per worker is equal. None if no two points of the same rest differ in their number of workers.
    """
    rows: list[tuple[Any, ...]] = []
    for rest in dict.fromkeys(point.rest for point in points):
        group = sorted((point for point in points if point.rest == rest and point.rates), key=lambda one: one.workers)
        if len({point.workers for point in group}) < 2:
            continue
        base, together = group[0], family([point.rates for point in group])
        kind = _kind_of(group)
        for place, point in enumerate(group):
            share = base.workers / point.workers
            if place == 0:
                rows.append((rest, point.workers, point.seconds, kind, 1.0, 1.0, None, None, len(point.rates)))
                continue
            ratio = together.against(place, 0)
            ends = [None if end is None else end * share for end in (ratio.low, ratio.high)]
            rows.append(
                (rest, point.workers, point.seconds, kind, ratio.value, ratio.value * share, *ends, len(point.rates))
            )
    names = ["rest", "workers", "seconds", "kind", "speedup", "efficiency", "low", "high", "runs"]
    found = pd.DataFrame(rows, columns=names).astype({"low": float, "high": float})
    return found if len(found) else None


def _kind_of(group: Sequence[ScalingPoint]) -> str:
    """Returns the kind of scaling: strong, weak, neither, or not known."""
    known = [point.work for point in group if point.work is not None]
    if len(known) < len(group):
        return "not known"
    if max(known) <= (1 + _SAME) * min(known):
        return "strong"
    each = [work / point.workers for work, point in zip(known, group, strict=True)]
    return "weak" if max(each) <= (1 + _SAME) * min(each) else "neither"


def of_comparison(comparison: Comparison) -> pd.DataFrame | None:
    """Returns `scaling` over the ranks (else the nodes) of a sweep, with equal other settings; None if neither varies.

    Points that are left out of the comparison are left out here as well.
    """
    factor, name = _workers_of(comparison)
    if factor is None:
        return None
    others, measure = [each for each in comparison.factors if each != factor], comparison.measure
    points = []
    for index, point in comparison.points.iterrows():
        if point["left_out"]:
            continue
        runs = comparison.runs[comparison.runs["point"] == index]
        level = point[factor]
        workers = level.parts[name] if isinstance(level, JointLevel) else level
        work = runs.loc[runs["usable"], "bytes"].dropna()
        bytes_moved = float(work.median()) if len(work) else None
        rest = describe({each: point[each] for each in others})
        rates = measure.rates(measured(runs, measure.column))
        seconds = point["value"] if measure.less_is_better else point["seconds"]
        points.append(ScalingPoint(rest, int(workers), bytes_moved, rates, float(seconds)))
    return scaling(points)


def _workers_of(comparison: Comparison) -> tuple[str | None, str]:
    """Returns the setting of the sweep that changes the number of workers, and which kind of workers (ranks, nodes)
    that is. The two differ if the setting joins several that change side by side.
    """
    for name in _WORKERS:
        for factor in comparison.factors:
            level = comparison.points[factor].iloc[0]
            if factor == name or (isinstance(level, JointLevel) and name in level.parts):
                return factor, name
    return None, ""


def of_subjects(subjects: Subjects) -> pd.DataFrame | None:
    """Returns `scaling` of the run time over the processes of the logs of one program; None if the logs are of
    different programs, or all have the same number of processes. The work is the number of bytes that a run moved.
    """
    jobs = [subject.jobs for subject in subjects.all]
    programs = {job.exe.rpartition("/")[2] for each in jobs for job in each}
    if len(programs) != 1 or not all(jobs):
        return None
    points = []
    for subject, each in zip(subjects.all, jobs, strict=True):
        times = numbers(subject).get((RUN, "run time", "s", -1), ())
        if not times or min(times) <= 0:
            return None
        work = float(median(sum(moved_once(job).values()) for job in each))
        rates = [max(work, 1.0) / seconds for seconds in times]
        points.append(ScalingPoint("", each[0].nprocs, work, rates, float(median(times))))
    return scaling(points)
