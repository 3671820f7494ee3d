"""Decide whether the runs of an activity confirm a claim of the course, contradict it, or prove neither."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iolens.course.activity import Claim, Levels
from iolens.lab.sweep.read.results import Results, read_phase
from iolens.lazy import pd
from iolens.metrics.comparison.effects import PointGroups
from iolens.metrics.comparison.points import measured, point_row
from iolens.metrics.comparison.results import groups_of
from iolens.metrics.comparison.settings import Measure, describe
from iolens.metrics.files.stripes.bound import of_runs
from iolens.metrics.statistics.intervals import CONFIDENCE, Ratio, family

YES, NO, SAME, OPEN = "yes", "no", "same", "open"
"""The outcomes: as the course says; the opposite; no difference although the course expects one; not proven by
these runs.
"""

LOOKS = ("finds", "holds_up", "processes")
"""Kinds of claims that the logs answer without a measurement, so that there is no interval."""

Found = Mapping[str, Callable[[Path], list[str] | list[int]]]
"""Functions that return names for a log, by kind of claim. `finds` returns the advice rules that have a finding in the
log; `holds_up` returns the file for whose I/O other ranks waited most, if there is one.
"""


@dataclass(frozen=True)
class JudgedClaim:
    """The outcome of one claim.

    `ratio` is the ratio of `values` (MiB/s, of both points, or of the point and its bound), with an interval that holds
    together with those of the activity's other claims at 95 %. `logs` gives the number of logs that have the finding,
    and the number of all. `problem` is the reason why the claim cannot be judged.
    """

    claim: Claim
    answer: str
    values: tuple[float, ...] = ()
    ratio: Ratio | None = None
    logs: tuple[int, int] = (0, 0)
    problem: str = ""


def judge_claims(claims: Sequence[Claim], results: Results, found: Found) -> list[JudgedClaim]:
    """Returns the outcome of every claim, in their order."""
    measuring = sum(claim.kind not in LOOKS for claim in claims)
    return [_outcome_of(claim, results, found, max(1, measuring)) for claim in claims]


def _outcome_of(claim: Claim, results: Results, found: Found, measuring: int) -> JudgedClaim:
    """Returns the outcome of one claim. Its interval is wide enough that the intervals of all `measuring` claims hold
    together.
    """
    places = [claim.point] if claim.kind in (*LOOKS, "reaches") else [claim.point, claim.other]
    groups = [_runs_at(results.runs, levels) for levels in places]
    for levels, runs in zip(places, groups, strict=True):
        if runs.empty:
            return JudgedClaim(claim, OPEN, problem=f"{describe(levels)}: not run")
    most = max(len(runs) for runs in groups)
    for levels, runs in zip(places, groups, strict=True):
        row = point_row(list(levels), tuple(levels.values()), runs, most, results.measure)
        if row["left_out"]:
            return JudgedClaim(claim, OPEN, problem=f"{row['label']}: {row['left_out']}")
    if claim.kind in LOOKS:
        return _looked_up(claim, groups[0], found)
    points = _points_of(claim, results)
    if not {tuple(levels.values()) for levels in places} <= set(points.at):
        return JudgedClaim(claim, OPEN, problem=f"the program measured no {claim.operation} bandwidth")
    if claim.kind == "reaches":
        speeds = points.family.groups[points.at[tuple(claim.point.values())]]
        return _reaching(claim, groups[0], speeds, results, (1.0 - CONFIDENCE) / measuring)
    one, other = (tuple(levels.values()) for levels in places)
    ratio = points.contrast([(1, one), (-1, other)], measuring)
    values = tuple(points.family.typical(points.at[point]).value for point in (one, other))
    return JudgedClaim(claim, _compared(claim, ratio), values, ratio)


def _runs_at(runs: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """Returns the runs of a point; none if a changed experiment no longer has the point."""
    names = list(levels)
    if not set(names) <= set(runs.columns):
        return runs[:0]
    return runs[[key == tuple(levels.values()) for key in runs[names].itertuples(index=False, name=None)]]


def _points_of(claim: Claim, results: Results) -> PointGroups:
    """Returns the points of the activity that can be compared by the bandwidth of the claim's operation. As in the
    report, all points are compared together, and within the blocks in which their runs were made.
    """
    names, measure = list(claim.point), Measure(f"{claim.operation} bandwidth", column="claimed")
    runs = results.runs.assign(
        claimed=[None if pd.isna(file) else _speed_in(Path(file), claim.operation) for file in results.runs["result"]]
    )
    order = dict.fromkeys(runs[names].itertuples(index=False, name=None))
    parts = {point: _runs_at(runs, dict(zip(names, point, strict=True))) for point in order}
    most = max(len(measured(part, "claimed")) for part in parts.values())
    kept = [point for point, part in parts.items() if not point_row(names, point, part, most, measure)["left_out"]]
    return groups_of(kept, [parts[point] for point in kept], measure)


def _speed_in(result: Path, operation: str) -> float | None:
    """Returns the bandwidth of an operation in MiB/s, or None if the program did not measure it."""
    return read_phase(result, operation)["bandwidth"] or None


def _compared(claim: Claim, ratio: Ratio) -> str:
    """Returns the verdict by the interval of a ratio: within the margin around 1, on one side of 1, or on both."""
    if ratio.low is None or ratio.high is None:
        return OPEN
    alike = ratio.low >= 1 / (1 + claim.margin) and ratio.high <= 1 + claim.margin
    if claim.kind == "same":
        return YES if alike else NO if ratio.is_clear else OPEN
    if alike:
        return SAME
    return OPEN if not ratio.is_clear else YES if ratio.value > 1 else NO


def _reaching(claim: Claim, runs: pd.DataFrame, speeds: Sequence[float], results: Results, risk: float) -> JudgedClaim:
    """Returns the outcome of a claim that a point reaches a share of the bandwidth to which the storage's model limits
    it.
    """
    found = of_runs(runs, results.limits)
    if found is None:
        return JudgedClaim(claim, OPEN, problem="the storage has no model that gives a bound")
    most, _ = found
    speed = family([speeds]).contrast([(1, 0)], risk)
    if speed.low is None or speed.high is None:
        return JudgedClaim(claim, OPEN, (speed.value, most), Ratio(speed.value / most, None, None))
    ratio = Ratio(speed.value / most, speed.low / most, speed.high / most)
    answer = YES if speed.low >= claim.margin * most else NO if speed.high < claim.margin * most else OPEN
    return JudgedClaim(claim, answer, (speed.value, most), ratio)


def _looked_up(claim: Claim, runs: pd.DataFrame, found: Found) -> JudgedClaim:
    """Returns the answer to a claim about logs: those of a point have a finding, a culprit, or so many processes."""
    logs = [Path(log) for log in runs.loc[runs["usable"], "log"].dropna()]
    having = sum((claim.rule or claim.count) in found[claim.kind](log) for log in logs)
    outcome = JudgedClaim(claim, OPEN, logs=(having, len(logs)))
    if not logs:
        return replace(outcome, problem="the runs left no log")
    return replace(outcome, answer=YES if having == len(logs) else NO if not having else OPEN)
