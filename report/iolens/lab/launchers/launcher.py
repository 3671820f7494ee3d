"""The interface that every launcher provides to sweeps."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.lab.launchers.around import Around
from iolens.lab.run.execute import Outcome
from iolens.lab.run.mpi_launch.mpi import Flavour
from iolens.lab.run.preload import Setup
from iolens.lab.values import ValueKind


@dataclass(frozen=True)
class RunSpec:
    """The request to a launcher: `starter` (such as an mpirun, or srun with options) starts `ranks` ranks of a program
    with its arguments, `words`, under the conditions of `setup`.

    Without a starter, `words` are the whole command. `around` has the working folder, and the steps before and after.
    Output goes to `stdout.txt` and `stderr.txt` in `folder`, which belongs to this run alone. `flavour` is the
    program's MPI, `io_component` the requested MPI-IO of Open MPI. `options` has the launcher's own options by the
    names in its `keys`.
    """

    folder: Path = Path()
    starter: tuple[str, ...] = ()
    ranks: int = 1
    words: tuple[str, ...] = ()
    setup: Setup = field(default_factory=Setup)
    flavour: Flavour | None = None
    io_component: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    around: Around = field(default_factory=Around)

    @property
    def command(self) -> tuple[str, ...]:
        """Returns the command line that starts the ranks."""
        return (*self.starter, "-n", str(self.ranks), *self.words) if self.starter else self.words


def _command_lines(tasks: Sequence[RunSpec]) -> list[str]:
    """Returns each task as the command line that starts its ranks."""
    return [shlex.join(task.command) for task in tasks]


@dataclass(frozen=True)
class Launcher:
    """A way to run tasks.

    A launcher is one file with one of these, and a row in `launchers.py`. `name` is its name in `launcher` of
    experiment.yaml and run.json. `starter(flavour)` returns the command that starts ranks of that MPI; it raises
    IolensError if there is none. `run(tasks)` runs them and yields each with its outcome as it ends, in any order. It
    takes a task from the iterator only just before starting it, because the files of a task are made when it is taken.
    If runs would disturb each other's timing, it takes one task at a time. If the caller abandons the iteration, tasks
    under way are ended, unless `holds` says otherwise. `holds(folder)` returns True if this sweep or an earlier one
    submitted the task of this folder to a batch system, where it continues by itself (`run` left a file in the folder
    that says so). If `run` is given this task again, it waits for it instead of starting it. `elsewhere`: ranks run on
    other machines than the sweep; these machines share files with it, but no memory. `keys` are the keys of the
    launcher's own section in experiment.yaml, each with the kind of its value and a description. `nodes(options)`
    returns the number of nodes over which the ranks of a task are spread. `preview(tasks)` returns the commands that
    would be started, as text; by default one command line per task.
    """

    name: str
    starter: Callable[[Flavour | None], str]
    run: Callable[[Iterable[RunSpec]], Generator[tuple[RunSpec, Outcome], None, None]]
    holds: Callable[[Path], bool] = lambda folder: False
    elsewhere: bool = False
    keys: Mapping[str, tuple[ValueKind[Any], str]] = field(default_factory=dict)
    nodes: Callable[[Mapping[str, Any]], int] = lambda options: 1
    preview: Callable[[Sequence[RunSpec]], list[str]] = _command_lines
