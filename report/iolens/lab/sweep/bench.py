"""What stays the same for all runs of a sweep, and the key by which a finished run is recognised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iolens.lab.installation import find_library, find_program, need_library
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.run import mpi
from iolens.lab.run.record import run_key
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import backend_for
from iolens.lab.sweep.asked import Asked
from iolens.lab.sweep.experiment import Experiment
from iolens.lab.workloads.workload import Workload
from iolens.lab.workloads.workloads import workload_of


@dataclass(frozen=True)
class Bench:
    """The program with its MPI, the launcher with what starts its ranks, and the storage below `data`."""

    experiment: Experiment
    program: Path
    flavour: mpi.Flavour | None
    launcher: Launcher
    starter: str
    data: Path
    storage: Backend
    workload: Workload

    @property
    def options(self) -> Mapping[str, Any]:
        """What the experiment says to its launcher."""
        return self.experiment.options.get(self.launcher.name, {})


def set_up(experiment: Experiment, data: Path) -> Bench:
    """Find the program, its MPI and its launcher; raises before anything has run when one is missing."""
    program = find_program(experiment.program)
    storage = backend_for(experiment.storage, data)
    for library in ("libiolens.so", *storage.libraries):
        need_library(library)
    linked = mpi.flavour_of_program(program)
    launcher = LAUNCHERS[experiment.launcher]
    starter = launcher.starter(linked)
    flavour = linked or mpi.flavour_of_launcher(starter)
    workload = workload_of(experiment.program)
    return Bench(experiment, program, flavour, launcher, starter, data.resolve(), storage, workload)


def key_of(bench: Bench, asked: Asked) -> str:
    """What decides the outcome of a run; paths do not."""
    names = ("libiolens.so", f"libiolens-{bench.flavour}.so", *bench.storage.libraries)
    libraries = [path for path in map(find_library, names) if path]
    parts: dict[str, Any] = {
        "arguments": asked.arguments,
        "ranks": bench.experiment.ranks,
        "launcher": bench.starter,
        "environment": asked.environment,
        "requested": asked.requested,
        "hints": asked.hints,
        "io": bench.experiment.io_component,
        "storage": bench.experiment.storage,
        **({"options": bench.options} if bench.options else {}),
    }
    return run_key(parts, [bench.program, *libraries, *bench.storage.settings(bench.data)])
