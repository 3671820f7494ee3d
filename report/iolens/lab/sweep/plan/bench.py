"""The parts that all runs of a sweep share, and the key that identifies a finished run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iolens.errors import UsageError
from iolens.lab.installation import find_library, find_program, need_library
from iolens.lab.io_components import LUSTRE
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.run import mpi
from iolens.lab.run.lustre_driver import Build, build_with_driver
from iolens.lab.run.record import run_key
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import backend_for
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.spec import Built, PointSpec
from iolens.lab.sweep.plan.recipes import built_anew, check_recipes
from iolens.lab.workloads.workload import Workload
from iolens.lab.workloads.workloads import workload_of


@dataclass(frozen=True)
class Bench:
    """The program, the launcher, and the storage below `data`. `builds` holds one build of the program for each MPI-IO
    component and recipe that the runs request.
    """

    experiment: Experiment
    builds: Mapping[Built, Build]
    launcher: Launcher
    data: Path
    storage: Backend
    workload: Workload


def set_up(experiment: Experiment, folder: Path, data: Path, wanted: Collection[Built]) -> Bench:
    """Finds the program, an MPI for each requested component, and the launcher, and makes the requested builds below
    the folder of the results; raises before any run has started if one of them is missing.
    """
    storage = backend_for(experiment.storage, data)
    for library in ("libiolens.so", *storage.libraries):
        need_library(library)
    launcher = LAUNCHERS[experiment.launcher]
    components = list(dict.fromkeys(component for component, _ in wanted))
    check_recipes(experiment.program, [recipe for _, recipe in wanted])
    if LUSTRE in components and storage.as_lustre is None:
        raise UsageError(f"mpi.io_component: the Lustre driver needs stripes, but {storage.name} storage has none")
    usual = {component: _build_for(component, experiment.program, launcher) for component in components}
    builds = {
        built: usual[built[0]] if built[1].is_usual else built_anew(usual[built[0]], built, folder)
        for built in sorted(wanted, key=str)
    }
    return Bench(experiment, builds, launcher, data.resolve(), storage, workload_of(experiment.program))


def _build_for(component: str | None, name: str, launcher: Launcher) -> Build:
    """Returns the program built for an MPI that has the component; facts that the program does not report come from the
    launcher.
    """
    if component == LUSTRE:
        return build_with_driver(name, launcher.starter)
    program = find_program(name)
    linked = mpi.flavour_of_program(program)
    starter = launcher.starter(linked)
    return Build(program, linked or mpi.flavour_of_launcher(starter), starter)


def key_of(bench: Bench, spec: PointSpec) -> str:
    """Returns a key of everything that decides the outcome of a run, which excludes paths."""
    build = bench.builds[spec.built]
    names = ("libiolens.so", f"libiolens-{build.flavour}.so", *bench.storage.libraries)
    libraries = [path for path in map(find_library, names) if path]
    parts: dict[str, Any] = {
        "arguments": spec.arguments,
        "ranks": spec.ranks,
        "launcher": build.starter,
        "environment": spec.environment,
        "requested": spec.requested,
        "hints": spec.hints,
        "io": spec.io_component,
        "storage": bench.experiment.storage,
        **({"build": build.made} if build.made else {}),
        **({"mapping": spec.mapping} if spec.mapping else {}),
        **({"options": spec.options} if spec.options else {}),
        **({"pool": bench.experiment.pool} if bench.experiment.pool else {}),
    }
    return run_key(parts, [build.program, *libraries, *bench.storage.settings(bench.data)])
