"""The builds of the program that the runs of a sweep request, and the key that identifies a finished run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from iolens.lab.installation import find_library, find_program, need_library
from iolens.lab.io_components import LUSTRE
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.run import mpi
from iolens.lab.run.lustre_driver import Build, build_with_driver
from iolens.lab.run.record import run_key
from iolens.lab.storage.backend import Backend
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.spec import Built, PointSpec
from iolens.lab.sweep.plan.recipes import built_anew


def builds_of(
    experiment: Experiment, storage: Backend, folder: Path, specs: Iterable[PointSpec]
) -> Mapping[Built, Build]:
    """Finds the program and an MPI for each component that the runs request, and makes the requested builds below the
    folder of the results; raises before any run has started if one of them is missing.
    """
    for library in ("libiolens.so", *storage.libraries):
        need_library(library)
    wanted = dict.fromkeys(spec.built for spec in specs)
    launcher = LAUNCHERS[experiment.launcher]
    usual = {component: _build_for(component, experiment.program, launcher) for component, _ in wanted}
    return {
        built: usual[built[0]] if built[1].is_usual else built_anew(usual[built[0]], built, folder)
        for built in sorted(wanted, key=str)
    }


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


def key_of(experiment: Experiment, storage: Backend, spec: PointSpec) -> str:
    """Returns a key of everything that decides the outcome of a run, which excludes paths."""
    build = spec.build
    names = ("libiolens.so", f"libiolens-{build.flavour}.so", *storage.libraries)
    libraries = [path for path in map(find_library, names) if path]
    parts: dict[str, Any] = {
        "arguments": spec.arguments,
        "ranks": spec.ranks,
        "launcher": build.starter,
        "environment": spec.environment,
        "requested": spec.requested,
        "hints": spec.hints,
        "io": spec.io_component,
        "storage": experiment.storage,
        **({"build": build.made} if build.made else {}),
        **({"mapping": spec.mapping} if spec.mapping else {}),
        **({"options": spec.options} if spec.options else {}),
        **({"pool": experiment.pool} if experiment.pool else {}),
    }
    return run_key(parts, [build.program, *libraries, *storage.settings(spec.mount)])
