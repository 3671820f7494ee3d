"""Group runs into jobs. All runs of a job have the same number of nodes, and the same number of ranks on each node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from iolens.lab.launchers.launcher import RunSpec
from iolens.lab.launchers.slurm_script import nodes_of

AHEAD = 4
"""Number of jobs whose runs are searched for runs of the same shape. More would fill jobs better but change the order
of the runs, which spreads slow times of a machine over all settings.
"""


def batches(tasks: Iterable[RunSpec]) -> Iterator[list[RunSpec]]:
    """Yields the tasks in jobs of up to `runs_per_job`; the first remaining task begins each job."""
    waiting: list[RunSpec] = []
    for task in tasks:
        waiting.append(task)
        if len(waiting) >= AHEAD * _runs_per_job(task):
            yield _take_alike(waiting)
    while waiting:
        yield _take_alike(waiting)


def _take_alike(waiting: list[RunSpec]) -> list[RunSpec]:
    """Takes the first task and the next tasks of the same shape out of `waiting`, and returns them."""
    first = waiting[0]
    chosen = [task for task in waiting if _shape_of_task(task) == _shape_of_task(first)][: _runs_per_job(first)]
    waiting[:] = [task for task in waiting if not any(task is one for one in chosen)]
    return chosen


def _shape_of_task(task: RunSpec) -> tuple[int, int, int | None]:
    """Returns nodes, ranks, and ranks on each node."""
    return nodes_of(task.options), task.ranks, task.options.get("ranks_per_node")


def _runs_per_job(task: RunSpec) -> int:
    """Returns the number of runs in one job."""
    return int(task.options.get("runs_per_job", 1))
