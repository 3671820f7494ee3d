"""Starts runs on this machine or in this allocation, one after the other, by the MPI's own launcher."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from functools import partial

from iolens.lab.launchers.launcher import Launcher, RunSpec
from iolens.lab.run.command_line import launcher_name
from iolens.lab.run.execute import Outcome, execute
from iolens.lab.run.mpi_launch import mpi


def run(tasks: Iterable[RunSpec]) -> Generator[tuple[RunSpec, Outcome], None, None]:
    """Runs the tasks one after the other, each to its end."""
    for task in tasks:
        # A program that is no launcher must not be asked for its version: it would run.
        launcher = task.command[0] if task.starter or launcher_name(task.command[0]) else None
        settings = mpi.environment(task.flavour, task.ranks, task.io_component, launcher=launcher)
        setup = task.setup._replace(launcher={**settings, **task.setup.launcher})
        stdout, stderr = task.folder / "stdout.txt", task.folder / "stderr.txt"
        start = partial(execute, task.command, setup, stdout, stderr, task.around.folder)
        yield task, task.around.perform(start, task.folder / "around.txt")


LOCAL = Launcher(name="local", starter=mpi.find_launcher, run=run)
