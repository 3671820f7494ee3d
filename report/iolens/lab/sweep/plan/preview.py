"""The plan of a sweep, made without running anything: commands or scripts, and the room and time that they need."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iolens.lab.io_components import LUSTRE
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.mpi_launch.lustre_driver import INTEL_MPI, Build
from iolens.lab.run.record import read_record
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import existing
from iolens.lab.sweep.define.experiment import ALWAYS, Experiment
from iolens.lab.sweep.define.folders import POINTS
from iolens.lab.sweep.define.matrix import Run, schedule
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.plan.builds import build_command, builds_folder, with_command
from iolens.lab.sweep.plan.specify import kept_bytes, specify

_MPIRUN = "mpirun"
"""Name that the plan prints in place of the launcher that a sweep would find."""


@dataclass(frozen=True)
class SweepPlan:
    """The plan of a sweep. `runs` are names, in order, and `texts` the commands or batch scripts that start them.
    `builds` are the commands that build the program if runs request other builds than the usual one.

    `kept` is the size in bytes of data that is kept at the end, `volume` the most that one run writes; both are None if
    the workload does not tell. `free` is the free space below `data`. `seconds` is the estimated time of the whole
    sweep from runs of the matrix that are finished; None if there is none. `confirming` is the largest number of runs
    that follow to confirm the best setting.
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

    @property
    def need(self) -> str:
        """Returns the data of one run in words."""
        if self.volume:
            return f"one run writes at most {self.volume / 1e6:,.1f} MB"
        return "the amount that one run writes is unknown"


def plan(
    experiment: Experiment, folder: Path, with_matrix: bool = True, some: Sequence[Run] | None = None
) -> SweepPlan:
    """Returns the plan of a sweep into this folder, or of only `some` of its runs; raises UsageError for storage that
    does not exist and for settings that the workload or the launcher rejects.
    """
    wanted = (schedule(experiment) if some is None else some) if with_matrix else ()
    storage, runs, first = specify(experiment, folder.absolute(), wanted, some is None)
    specs = [*first, *runs]
    data = specs[-1].mount
    known = [record.seconds for path in folder.glob(f"{POINTS}/*/*") if (record := read_record(path))]
    confirming = 2 * experiment.confirming_pairs if with_matrix and some is None else 0
    return SweepPlan(
        runs=tuple(one.id for one in specs),
        texts=tuple(LAUNCHERS[experiment.launcher].preview([_previewed(experiment, storage, one) for one in specs])),
        data=data,
        kept=kept_bytes(specs) if experiment.keep.data == ALWAYS else 0,
        volume=max((one.volume for one in specs if one.volume), default=None),
        free=shutil.disk_usage(existing(data)).free,
        seconds=sum(known) / len(known) * (len(specs) + confirming) if known else None,
        builds=tuple(
            build_command(experiment.program, built[1], builds_folder(folder.absolute(), built))
            for built in dict.fromkeys(one.built for one in specs)
            if not built[1].is_usual
        ),
        confirming=confirming,
    )


def _previewed(experiment: Experiment, storage: Backend, spec: PointSpec) -> PointSpec:
    """Returns a run as the launcher would receive it, with program and launcher by name. Options for placement depend
    on the launcher's MPI, so the launcher is searched for only if a placement is requested.
    """
    usual = spec.recipe.is_usual
    results = spec.folder.parents[len(Path(spec.place).parts) - 1]
    program = experiment.program if usual else builds_folder(results, spec.built) / "bin" / experiment.program
    starter = _MPIRUN
    if spec.placement and "start" not in spec.options:
        intel = INTEL_MPI / "bin" / "mpiexec.hydra"
        starter = str(intel) if spec.io_component == LUSTRE and intel.exists() else mpi.find_launcher(None)
    found = with_command(experiment, storage, replace(spec, build=Build(Path(program), None, starter)))
    if "start" in spec.options or not found.starter:
        return found
    return replace(found, starter=(_MPIRUN, *found.starter[1:]))
