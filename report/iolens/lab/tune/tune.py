"""Tune an experiment: search its matrix run by run, then confirm the result against the default.

Its runs are those of a sweep, in the same folders and under the same keys. Runs that a sweep or an earlier search
finished are reused, and an interrupted search continues where it stopped.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from iolens.lab.run.execute import interruptible
from iolens.lab.run.record import RunRecord, read_record
from iolens.lab.sweep.define.folders import POINTS
from iolens.lab.sweep.define.matrix import Run, schedule
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.perform.perform import perform
from iolens.lab.sweep.perform.progress import Progress
from iolens.lab.sweep.plan.alone import alone
from iolens.lab.sweep.plan.prepare import Sweep, attempt_at
from iolens.lab.sweep.read.measured import chosen_metric
from iolens.lab.sweep.read.results import read_run
from iolens.lab.sweep.read.running_table import write_runs
from iolens.lab.sweep.sweep import leave, lost_text, run_fresh, run_more
from iolens.lab.tune.budget import Budget
from iolens.lab.tune.refused import refused_points
from iolens.lab.tune.search import Choice, Search, search_of
from iolens.lab.tune.trail import SearchStep, Trail, write_trail
from iolens.metrics.comparison.settings import Measure, three_digits


@dataclass(frozen=True)
class Tuning:
    """A search that is set up: the sweep that provides its runs, the points, and the budget. Its results so far are the
    rate by the number of the point (`Measure.rates`), the points with a failed run, the trail, and the size of the
    largest file that a run wrote (0: unknown). Points are `refused` if a run showed that their settings do not take
    effect.
    """

    sweep: Sweep
    search: Search
    budget: Budget
    measured: Mapping[int, float]
    failed: frozenset[int]
    trail: Trail
    refused: frozenset[int] = frozenset()
    file_bytes: int = 0

    @property
    def reserved(self) -> int:
        """Returns the number of runs that will confirm the result."""
        return 2 * self.sweep.experiment.confirming_pairs


def begin(sweep: Sweep, search: Search, budget: Budget, before: Trail | None = None) -> Tuning:
    """Returns the state of a search in the sweep's folder: empty, or continued from the earlier trail `before`."""
    missing = {spec.id for spec in sweep.todo}
    finished: dict[str, list[float]] = {}
    done = [run for run in schedule(sweep.experiment) if run.id not in missing]
    measure, rates = _rates_of(sweep, done)
    for run, rate in zip(done, rates, strict=True):
        if rate is not None:
            finished.setdefault(run.point.id, []).append(rate)
    places = {point.id: i for i, point in enumerate(search.points)}
    measured = {
        places[name]: math.exp(math.fsum(map(math.log, values)) / len(values))
        for name, values in finished.items()
        if name in places
    }
    runs = {run.id: read_record(sweep.folder / POINTS / run.id) for run in schedule(sweep.experiment)}
    records = [record for name in missing if (record := runs[name])]
    sizes = [record.observed.get("file_bytes") for record in runs.values() if record]
    refused = frozenset[int]().union(*(refused_points(search.points, record) for record in records))
    steps = tuple(step for step in before.steps if step.run not in missing) if before else ()
    own = {step.run for step in steps}
    known = tuple(f"{name}/rep-1" for name in finished if f"{name}/rep-1" not in own)
    trail = Trail(len(search.points), str(budget), known, steps, measure=measure)
    return _with_size(Tuning(sweep, search, budget, measured, frozenset(), trail, refused), sizes)


def _with_size(tuning: Tuning, sizes: Iterable[int | None]) -> Tuning:
    """Returns the search with the largest of these file sizes; stripes that stay empty in such a file do not count."""
    largest = max((size for size in sizes if size), default=0)
    if largest <= tuning.file_bytes:
        return tuning
    return replace(tuning, file_bytes=largest, search=search_of(tuning.sweep.experiment, largest))


def _rates_of(sweep: Sweep, runs: Sequence[Run]) -> tuple[Measure, list[float | None]]:
    """Returns the measure by which finished runs are compared, and the rate of each; None if a run measured nothing."""
    paths = [sweep.folder / POINTS / run.id / "run.json" for run in runs]
    chosen = chosen_metric(sweep.experiment.report, lambda operation: [read_run(path, operation) for path in paths])
    column = chosen.measure.column
    values = [row.get(column) if row["usable"] and not row["ignored"] else None for row in chosen.rows]
    return chosen.measure, [chosen.measure.rates([float(value)])[0] if value else None for value in values]


def run_tuning(tuning: Tuning, progress: Progress) -> Tuning:
    """Searches until the budget is spent or no setting is expected to gain enough, then confirms the result; returns
    the final state.

    SIGTERM is treated like Ctrl-C: the run under way is stopped, finished runs are kept.
    """
    with alone(tuning.sweep.folder, *tuning.sweep.mounts), interruptible():
        try:
            tuning = _search(tuning, progress)
            done = len(tuning.trail.steps)
            more = run_more(tuning.sweep, repetitions_due(tuning), progress, done)
            run_fresh(replace(tuning.sweep, total=done), progress, done + len(more))
        finally:
            leave(tuning.sweep)
    return tuning


def _search(tuning: Tuning, progress: Progress) -> Tuning:
    """Runs one setting after another, each chosen from the results of the earlier ones."""
    while True:
        choice = tuning.search.next(tuning.measured, tuple(tuning.failed | tuning.refused))
        stopped = _why_stop(tuning, choice)
        if choice is None or stopped:
            break
        tuning = _take_step(tuning, choice, progress)
        write_trail(tuning.sweep.folder, tuning.trail)
    is_speed = bool(tuning.measured) and not tuning.trail.measure.less_is_better
    machine = tuple(tuning.search.traits(tuning.measured)) if is_speed else ()
    tuning = replace(tuning, trail=replace(tuning.trail, stopped=stopped, machine=machine))
    write_trail(tuning.sweep.folder, tuning.trail)
    return tuning


def repetitions_due(tuning: Tuning) -> list[PointSpec]:
    """Returns the missing repetitions of the best setting and of the default if an earlier sweep repeated other
    settings. A setting with a single run is left out of a comparison with repeated settings, because its scatter is
    unknown.
    """
    missing = {spec.id: spec for spec in tuning.sweep.todo}
    runs = schedule(tuning.sweep.experiment)
    counts = Counter(run.point.id for run in runs if run.id not in missing)
    most = max(counts.values(), default=1)
    if not tuning.measured:
        return []
    best = max(tuning.measured, key=lambda i: tuning.measured[i])
    wanted = {tuning.search.points[place].id for place in (best, tuning.search.begin[0][0])}
    done = {step.run for step in tuning.trail.steps}
    due = [run for run in runs if run.point.id in wanted and run.repetition <= most and run.id not in done]
    return [missing[run.id] for run in due if run.id in missing]


def _why_stop(tuning: Tuning, choice: Choice | None) -> str:
    """Returns the reason why no further run is made; empty if the search continues."""
    steps = tuning.trail.steps
    if choice is None:
        left = len(tuning.search.points) - len({*tuning.measured, *tuning.failed, *tuning.refused})
        return "no setting is expected to save more than another run costs" if left else "every setting was run"
    if not tuning.measured and tuning.failed >= {place for place, _ in tuning.search.begin[:2]}:
        return "every run failed, so the search has no results to use"
    spent = math.fsum(step.seconds for step in steps)
    return "" if tuning.budget.allows(len(steps), spent, tuning.reserved) else f"the budget of {tuning.budget} is spent"


def _take_step(tuning: Tuning, choice: Choice, progress: Progress) -> Tuning:
    """Performs one run of the search and adds its result to the trail."""
    sweep, point, began = tuning.sweep, tuning.search.points[choice.place], time.monotonic()
    with closing(perform(sweep, [attempt_at(sweep, Run(point, 1))], progress.begun)) as one:
        record = next(one)
    measure, measured, value = _rates_with(tuning, choice.place if record.status == "ok" else None)
    reason = None if value else record.reason or "it measured nothing"
    refused = frozenset[int]() if value else refused_points(tuning.search.points, record)
    if refused:
        reason = f"{reason}; {len(refused)} settings that cannot take effect for the same reason leave the search"
    seconds = time.monotonic() - began
    expected, low, high = choice.expected, choice.low, choice.high
    if expected is not None:
        expected, low, high = measure.span(expected, low, high)
    result = None if value is None else measure.span(value, None, None)[0]
    settings = dict(point.settings)
    step = SearchStep(record.id, settings, choice.why, expected, low, high, result, reason, seconds)
    before = _steps_in(measure, tuning, measured)
    trail = replace(tuning.trail, steps=(*before, step), measure=measure)
    if value is not None or any(step.bandwidth for step in trail.steps):
        write_runs(sweep.folder)
    total = tuning.budget.runs or 0
    progress(len(trail.steps), max(total, len(trail.steps)) if total else 0, _step_line(record, step, measure), 0)
    failed = tuning.failed | ({choice.place} if value is None and not refused else set())
    refused |= tuning.refused
    taken = replace(tuning, measured=measured, failed=failed, trail=trail, refused=refused)
    return _with_size(taken, [record.observed.get("file_bytes")])


def _rates_with(tuning: Tuning, place: int | None) -> tuple[Measure, dict[int, float], float | None]:
    """Returns the measure, the rates of the points by their numbers, and the rate of the run that was just made at
    `place`, if it was made well. The rates of earlier runs are read again if the new run changed the measure, as it
    does if its log lacks what the logs of the others have.
    """
    sweep, points = tuning.sweep, tuning.search.points
    places = [*tuning.measured, *([] if place is None else [place])]
    measure, rates = _rates_of(sweep, [Run(points[each], 1) for each in places])
    value = None if place is None else rates[-1]
    if measure == tuning.trail.measure or not tuning.measured:
        return measure, {**tuning.measured, **({} if place is None or value is None else {place: value})}, value
    found = zip(places, rates, strict=True)
    return measure, {each: rate for each, rate in found if rate is not None}, value


def _steps_in(measure: Measure, tuning: Tuning, rates: Mapping[int, float]) -> tuple[SearchStep, ...]:
    """Returns the earlier steps with their values by this measure; predictions of another measure are left out."""
    steps = tuning.trail.steps
    if measure == tuning.trail.measure:
        return steps
    known = {f"{tuning.search.points[i].id}/rep-1": measure.span(rate, None, None)[0] for i, rate in rates.items()}
    return tuple(replace(step, expected=None, low=None, high=None, bandwidth=known.get(step.run)) for step in steps)


def _step_line(record: RunRecord, step: SearchStep, measure: Measure) -> str:
    """Returns the line that is printed after a step of the search: its setting, its value and the expected one."""
    if step.bandwidth is None:
        return f"{record.id} ({step.why}): {step.reason}{lost_text(record)}"
    hope = ""
    if step.expected is not None and step.low is not None and step.high is not None:
        expected, low, high = map(three_digits, (step.expected, step.low, step.high))
        hope = f"; {expected} expected, {low} to {high}"
    return f"{record.id} ({step.why}): {three_digits(step.bandwidth)} {measure.unit}{hope}{lost_text(record)}"
