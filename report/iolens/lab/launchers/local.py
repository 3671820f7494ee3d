"""Starts runs on this machine or in this allocation, one after the other, by the MPI's own launcher."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from iolens.lab.launchers.launcher import Launcher, RunSpec
from iolens.lab.run.execute import Outcome, execute
from iolens.lab.run.mpi_launch import mpi


def run(tasks: Iterable[RunSpec]) -> Generator[tuple[RunSpec, Outcome], None, None]:
    """Runs the tasks one after the other, each to its end."""
    for task in tasks:
        words = [*task.starter, "-n", str(task.ranks), *task.words]
        settings = mpi.environment(task.flavour, task.ranks, task.io_component, launcher=task.starter[0])
        setup = task.setup._replace(launcher={**settings, **task.setup.launcher})
        yield task, execute(words, setup, task.folder / "stdout.txt", task.folder / "stderr.txt")


LOCAL = Launcher(name="local", starter=mpi.find_launcher, run=run)
