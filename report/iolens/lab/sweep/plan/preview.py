"""The plan of a sweep, made without running anything: commands or scripts, and the room and time that they need."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iolens.lab.io_components import LUSTRE
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.run import mpi
from iolens.lab.run.lustre_driver import INTEL_MPI
from iolens.lab.run.record import read_record
from iolens.lab.storage.backends import backend_for, existing
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.folders import FIRST, POINTS
from iolens.lab.sweep.define.keep import ALWAYS, NEVER
from iolens.lab.sweep.define.matrix import Run, schedule
from iolens.lab.sweep.define.spec import PointSpec, spec_of, spec_of_first
from iolens.lab.sweep.plan.check import check_nodes, check_pool, check_targets, check_workload
from iolens.lab.sweep.plan.place import data_folder, kept_bytes, needed_bytes
from iolens.lab.sweep.plan.recipes import build_command, builds_folder, check_recipes
from iolens.lab.sweep.plan.starting import check_ranks_per_node, placement_of, starter_words
from iolens.lab.workloads.workloads import volume_of, workload_of

_MPIRUN = "mpirun"
"""Name that stands in the plan for the launcher that a sweep would find."""


@dataclass(frozen=True)
class Plan:
    """The plan of a sweep. `runs` are names, in order, and `texts` the commands or batch scripts that start them.
    `builds` are the commands that build the program if runs request other builds than the usual one.

    `kept` is the size in bytes of data that is kept at the end, `volume` the most that one run writes; both are None if
    the workload does not tell. `free` is the free space below `data`. `seconds` is the estimated time of the whole
    sweep from runs of the matrix that are finished; None without any. `confirming` is the largest number of runs that
    follow to confirm the best setting.
    """

    runs: tuple[str, ...]
    texts: tuple[str, ...]
    data: Path
    volume: int | None
    free: int
    seconds: float | None
    builds: tuple[str, ...] = ()
    kept: int | None = None
    confirming: int = 0


def plan(experiment: Experiment, folder: Path, with_matrix: bool = True, some: Sequence[Run] | None = None) -> Plan:
    """Returns the plan of a sweep into this folder, or of only `some` of its runs; raises UsageError for storage that
    does not exist and for settings that the workload or the launcher rejects.
    """
    storage = backend_for(experiment.storage, (experiment.directory or folder) / experiment.name)
    specs = [spec_of_first(experiment)] if experiment.first is not None and some is None else []
    if with_matrix:
        specs += [spec_of(experiment, run, storage) for run in (schedule(experiment) if some is None else some)]
    check_recipes(experiment.program, [one.recipe for one in specs])
    workload = workload_of(experiment.program)
    check_workload(experiment, workload, specs)
    check_nodes(specs, LAUNCHERS[experiment.launcher])
    check_ranks_per_node(specs, LAUNCHERS[experiment.launcher])
    data = data_folder(experiment, folder, storage, needed_bytes(experiment, workload, specs)).absolute()
    check_pool(experiment.pool, storage)
    if storage.make is None:
        check_targets(specs, existing(data), storage, experiment.pool)
    previewed = [_previewed(experiment, one, folder.absolute(), data) for one in specs]
    volumes = [experiment.volume, *(volume_of(workload, one.arguments, one.ranks) for one in specs)]
    known = [record.seconds for path in folder.glob(f"{POINTS}/*/*") if (record := read_record(path))]
    confirming = 2 * experiment.confirming_pairs if with_matrix and some is None else 0
    return Plan(
        runs=tuple(one.id for one in specs),
        texts=tuple(LAUNCHERS[experiment.launcher].preview(previewed)),
        data=data,
        kept=kept_bytes(experiment, workload, specs) if experiment.keep.data == ALWAYS else 0,
        volume=max((volume for volume in volumes if volume), default=None),
        free=shutil.disk_usage(existing(data)).free,
        seconds=sum(known) / len(known) * (len(specs) + confirming) if known else None,
        builds=tuple(
            build_command(experiment.program, built[1], builds_folder(folder.absolute(), built))
            for built in dict.fromkeys(one.built for one in specs)
            if not built[1].is_usual
        ),
        confirming=confirming,
    )


def _previewed(experiment: Experiment, spec: PointSpec, folder: Path, data: Path) -> PointSpec:
    """Returns a run as the launcher would receive it, with program and launcher by name."""
    place = folder / (FIRST if spec.id == FIRST else f"{POINTS}/{spec.id}")
    words = workload_of(experiment.program).words(
        spec.arguments, place, data / spec.job, dict(spec.hints), experiment.keep.data != NEVER
    )
    usual = spec.recipe.is_usual
    program = experiment.program if usual else str(builds_folder(folder, spec.built) / "bin" / experiment.program)
    return replace(
        spec,
        folder=place,
        starter=_starter_of(spec, LAUNCHERS[experiment.launcher]),
        words=(program, *words),
    )


def _starter_of(spec: PointSpec, launcher: Launcher) -> tuple[str, ...]:
    """Returns the command that starts the ranks, by name. Options for placement depend on the launcher's MPI, so the
    launcher is searched for only if a placement is requested.
    """
    if not placement_of(spec) or "start" in spec.options:
        return starter_words(spec, _MPIRUN, launcher)
    intel = INTEL_MPI / "bin" / "mpiexec.hydra"
    found = str(intel) if spec.io_component == LUSTRE and intel.exists() else mpi.find_launcher(None)
    return (_MPIRUN, *starter_words(spec, found, launcher)[1:])
