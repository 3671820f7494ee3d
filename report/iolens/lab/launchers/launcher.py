"""The interface that every launcher provides to sweeps."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.lab.run.execute import Outcome
from iolens.lab.run.mpi import Flavour
from iolens.lab.run.preload import Setup
from iolens.lab.values import Kind


@dataclass(frozen=True)
class RunSpec:
    """The request to a launcher: `starter` (such as an mpirun, or srun with options) starts this number of `ranks`
    of a program with its arguments, `words`, under the conditions of `setup`.

    Output goes to `stdout.txt` and `stderr.txt` in `folder`, which no other run has. `flavour` is the program's MPI,
    `io_component` the requested MPI-IO of Open MPI. `options` are the launcher's own, by its `keys`.
    """

    folder: Path = Path()
    starter: tuple[str, ...] = ()
    ranks: int = 1
    words: tuple[str, ...] = ()
    setup: Setup = field(default_factory=Setup)
    flavour: Flavour | None = None
    io_component: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def _command_lines(tasks: Sequence[RunSpec]) -> list[str]:
    """Returns each task as the command line that starts its ranks."""
    return [shlex.join([*task.starter, "-n", str(task.ranks), *task.words]) for task in tasks]


@dataclass(frozen=True)
class Launcher:
    """A way to run tasks. A launcher is one file with one of these, and a row in `launchers.py`.

    `name` is how `launcher` of experiment.yaml and run.json call it. `starter(flavour)` is what starts ranks of that
    MPI; raises IolensError when there is none.

    `run(tasks)` runs them and yields each with its outcome as it ends, in any order. It takes a task from the iterator
    only when it is about to start it, since the files of a task are made when it is taken; one at a time where runs
    would disturb each other's timing. When the iteration is given up, so are the tasks under way, unless `holds` says
    otherwise.

    `holds(folder)`: the task of this folder was handed over, now or by a sweep that has gone, and goes on by itself (a
    batch job, known by what `run` left in the folder). Given it again, `run` waits for it instead of starting it.

    `elsewhere`: ranks run on other machines than the sweep, which share files with it and no memory.

    `keys` are those of the launcher's own section in experiment.yaml, each with the kind of its value and what it says.
    `nodes(options)` is how many nodes the ranks of a task are spread over. `preview(tasks)` is what would be started,
    as text: by itself a command line for each task.
    """

    name: str
    starter: Callable[[Flavour | None], str]
    run: Callable[[Iterable[RunSpec]], Generator[tuple[RunSpec, Outcome], None, None]]
    holds: Callable[[Path], bool] = lambda folder: False
    elsewhere: bool = False
    keys: Mapping[str, tuple[Kind[Any], str]] = field(default_factory=dict)
    nodes: Callable[[Mapping[str, Any]], int] = lambda options: 1
    preview: Callable[[Sequence[RunSpec]], list[str]] = _command_lines
