"""Runs that confirm a sweep's best setting: new runs of the best setting and of the baseline, alternately."""

from __future__ import annotations

from pathlib import Path

from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.matrix import Run, point_at
from iolens.lab.sweep.results import load_results


def pairs(experiment: Experiment) -> int:
    """Returns how often the best setting and the baseline are run again, if a setting is better than the baseline."""
    if experiment.metric == "latency":
        return 0
    return experiment.repetitions if experiment.confirm is None else experiment.confirm


def confirming(experiment: Experiment, folder: Path) -> list[Run]:
    """Returns the runs that follow the matrix; empty if no setting is better than the baseline.

    The best of many measured settings looks better than it is, because luck helped to select it. Runs that took no part
    in the selection are unbiased. The order of the two settings alternates with every repetition, so that drift affects
    both equally.
    """
    wanted = pairs(experiment)
    if not wanted:
        return []
    from iolens.metrics.comparison.results import compare

    results = load_results(folder)
    found = compare(results.runs, results.settings, results.measure)
    if found.best is None or found.baseline is None or found.best == found.baseline:
        return []
    both = [point_at(experiment, dict(found.points.loc[i, list(found.settings)])) for i in (found.best, found.baseline)]
    return [Run(point, i) for i in range(1, wanted + 1) for point in (both if i % 2 else both[::-1])]
