"""The command of a run: the launcher with the options that place the ranks as requested, the program, its arguments."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from iolens.errors import UsageError
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.launchers.placement import options_for
from iolens.lab.run import mpi
from iolens.lab.run.allocation import allocation
from iolens.lab.storage.backend import Backend
from iolens.lab.sweep.define.classes import LUSTRE_LIKE
from iolens.lab.sweep.define.experiment import NEVER, ROMIO, Experiment
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.workloads.workloads import workload_of


def with_command(experiment: Experiment, storage: Backend, spec: PointSpec) -> PointSpec:
    """Returns the specification with the command of its build. Raises UsageError for a mapping that the starter of the
    ranks cannot do.
    """
    hints = {} if _hints_by_file_alone(spec) else spec.hints
    asked_later = storage.get_stripes is not None and storage.make is None
    keep = spec.keep.data != NEVER or asked_later  # where the stripes lie is asked before the sweep clears
    words = workload_of(experiment.program).words(spec.arguments, spec.folder, spec.data, hints, keep)
    starter = _starter_words(spec, LAUNCHERS[experiment.launcher])
    return replace(spec, starter=starter, words=(str(spec.build.program), *words), flavour=spec.build.flavour)


def _hints_by_file_alone(spec: PointSpec) -> bool:
    """Returns True if ROMIO is Open MPI 5's. It loses every hint that a program passes, and then ignores the hint of
    that name in the file of hints.
    """
    if spec.io_component != ROMIO or LUSTRE_LIKE in spec.arguments:
        return False
    return spec.build.flavour == "openmpi" and mpi.has_romio_of_5(spec.build.starter)


def _starter_words(spec: PointSpec, launcher: Launcher) -> tuple[str, ...]:
    """Returns the words before the number of ranks: the experiment's own, or the build's starter with options."""
    start = spec.options.get("start")
    words = shlex.split(start) if start else [spec.build.starter]
    per_node = spec.options.get("ranks_per_node") if _places_by_itself(launcher) else None
    return (*words, *options_for(words[0], spec.mapping, per_node))


def _places_by_itself(launcher: Launcher) -> bool:
    """Returns True if the command must give the number of ranks per node: on several nodes that were not requested from
    a batch system.
    """
    return not launcher.elsewhere and len(allocation().nodes) > 1


def check_ranks_per_node(runs: Sequence[PointSpec], launcher: Launcher) -> None:
    """Raises if the nodes of a run, with this number of ranks on each, cannot hold its ranks."""
    for spec in runs:
        per_node = spec.options.get("ranks_per_node")
        nodes = launcher.nodes(spec.options) if launcher.elsewhere else len(allocation().nodes)
        if per_node and spec.ranks > nodes * per_node:
            where = "one node" if nodes == 1 else f"each of {nodes} nodes"
            more = "" if launcher.elsewhere else f"; the launcher {launcher.name} has no more nodes"
            raise UsageError(
                f"ranks_per_node: {per_node} on {where} are fewer than the {spec.ranks} ranks of run {spec.id}{more}"
            )
