"""Which runs confirm a sweep's best setting: fresh ones, of it and of the baseline, in turn."""

from __future__ import annotations

from pathlib import Path

from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.matrix import Run, point_at
from iolens.lab.sweep.results import load_results


def confirming(experiment: Experiment, folder: Path) -> list[Run]:
    """The runs to make after the matrix; none when there is no best setting besides the baseline.

    The best of many looks better than it is, because luck helped to pick it. Runs that had no part in the choice tell
    the truth. The order of the two changes with every repetition, so that drift hits both alike.
    """
    wanted = experiment.repetitions if experiment.confirm is None else experiment.confirm
    if not wanted or experiment.metric == "latency":
        return []
    from iolens.metrics.comparison import compare

    results = load_results(folder)
    found = compare(results.runs, results.settings, results.measure)
    if found.best is None or found.baseline is None or found.best == found.baseline:
        return []
    both = [point_at(experiment, dict(found.points.loc[i, list(found.settings)])) for i in (found.best, found.baseline)]
    return [Run(point, i) for i in range(1, wanted + 1) for point in (both if i % 2 else both[::-1])]
