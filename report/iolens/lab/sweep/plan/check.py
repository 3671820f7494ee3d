"""Checks made before a sweep begins, for mistakes that can be known in advance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.io_components import LUSTRE
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.say import say
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import existing
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.targets import summary, usable
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.metrics import OF_ANY
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.plan.command import check_ranks_per_node
from iolens.lab.sweep.plan.recipes import check_recipes
from iolens.lab.workloads.workload import Workload
from iolens.lab.workloads.workloads import refusal_of, workload_of


def check(experiment: Experiment, storage: Backend, runs: Sequence[PointSpec], data: Path) -> None:
    """Raises for anything in these runs, whose data goes below `data`, that can be known to fail in advance."""
    launcher = LAUNCHERS[experiment.launcher]
    check_recipes(experiment.program, [spec.recipe for spec in runs])
    check_workload(experiment, workload_of(experiment.program), runs)
    _check_nodes(runs, launcher)
    check_ranks_per_node(runs, launcher)
    if storage.as_lustre is None and any(spec.io_component == LUSTRE for spec in runs):
        raise UsageError(f"mpi.io_component: the Lustre driver needs stripes, but {storage.name} storage has none")
    check_storage(runs, data, storage, launcher)
    check_configuration(experiment.configuration, storage)
    check_pool(experiment.pool, storage)
    if storage.make is None:
        check_targets(runs, existing(data), storage, experiment.pool)


def check_workload(experiment: Experiment, workload: Workload, runs: Sequence[PointSpec]) -> None:
    """Raises if the program does not report the metric, or cannot run with the number of ranks."""
    has = (*workload.metrics, *OF_ANY)
    if experiment.matrix and experiment.metric not in has:
        raise UsageError(f"report.metric: {workload.program} has no {experiment.metric}; it has {', '.join(has)}")
    for spec in runs:
        why = refusal_of(workload, spec.arguments, spec.ranks)
        if why:
            raise UsageError(f"workload.ranks: {spec.ranks}: {why} (run {spec.id})")


def _check_nodes(runs: Sequence[PointSpec], launcher: Launcher) -> None:
    """Raises if the matrix varies the number of nodes and the launcher cannot provide them."""
    if "nodes" not in launcher.keys and any("nodes" in spec.point for spec in runs):
        raise UsageError(
            f"matrix.nodes: the launcher {launcher.name} cannot choose nodes; leave nodes out of the matrix"
        )


def check_storage(runs: Sequence[PointSpec], data: Path, storage: Backend, launcher: Launcher) -> None:
    """Raises if stripes vary on storage that has none, or if several nodes would share storage in one node's memory."""
    nodes = max((launcher.nodes(spec.options) for spec in runs), default=1)
    if storage.one_node and nodes > 1:
        raise UsageError(f"{storage.name} storage belongs to one node, but {launcher.name} is to use {nodes} nodes")
    varied = {name for spec in runs for name in spec.point}
    if "object_size" in varied and not storage.objects:
        raise UsageError(f"matrix.object_size: {storage.name} storage has no object size; only CephFS has one")
    if storage.set_stripes is None and {"stripe_count", "stripe_size"} & varied:
        kind, mount = file_system(existing(data))
        raise UsageError(
            f"{data} is on {kind} (mounted at {mount}), which has no stripes to vary: "
            "leave stripe_count out of the matrix, or set storage.kind to emulated"
        )


def check_pool(pool: str | None, storage: Backend) -> None:
    """Raises if a pool is named for storage that has no pools."""
    if pool and not storage.pools:
        raise UsageError(f"storage.pool: {storage.name} storage has no pools")


def check_targets(runs: Sequence[PointSpec], data: Path, storage: Backend, pool: str | None) -> None:
    """Raises if a run requests more stripes than there are targets, since its files would get fewer, or if the pool
    does not exist. If the file system does not report its targets, or lets stripes share them, a note says so and the
    sweep continues.
    """
    wanted = max((spec.requested.get("stripe_count", 0) for spec in runs), default=0)
    if storage.targets is None or not wanted:
        return
    try:
        targets = storage.targets(data, pool)
    except UsageError:
        raise
    except IolensError as error:
        say(f"the number of targets that accept files is unknown: {error}")
        return
    if wanted > usable(targets):
        place = f"the pool {pool} of {data}" if pool else f"{data}"
        if storage.objects:
            say(f"matrix.stripe_count: {wanted} stripes of a file share the targets of {place}: {summary(targets)}")
            return
        raise UsageError(f"matrix.stripe_count: {wanted} stripes are too many for {place}: {summary(targets)}")


def check_configuration(configuration: Path | None, storage: Backend) -> None:
    """Raises if a configuration is given for storage that is not emulated, or if its file does not exist."""
    if configuration is None:
        return
    if storage.make is None:
        raise UsageError(
            f"storage.configuration: {storage.name} storage has no configuration file; only emulated storage has one"
        )
    if not configuration.is_file():
        raise UsageError(f"storage.configuration: {configuration} is not a file")
