"""Specifies the runs of a sweep: the work of each, the place of its data, and checks that it can run."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.io_components import LUSTRE
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.run.mpi_launch.allocation import allocation
from iolens.lab.say import say
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import backend_for, existing
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.targets import targets_summary, usable
from iolens.lab.sweep.define.experiment import ALWAYS, NEVER, Experiment
from iolens.lab.sweep.define.matrix import Run
from iolens.lab.sweep.define.metrics import OF_ANY, OF_LOG
from iolens.lab.sweep.define.spec import PointSpec, spec_of, spec_of_first
from iolens.lab.sweep.plan.builds import check_ranks_per_node, check_recipes
from iolens.lab.workloads.workload import Workload
from iolens.lab.workloads.workloads import refusal_of
from iolens.memory import free_memory


def specify(
    experiment: Experiment, folder: Path, wanted: Sequence[Run], with_first: bool = True
) -> tuple[Backend, list[PointSpec], list[PointSpec]]:
    """Returns the storage, and the checked specifications of the matrix's runs and of the complete run, with the places
    of their results and data; raises UsageError for runs that cannot be made.
    """
    storage = backend_for(experiment.storage, (experiment.directory or folder) / experiment.name)
    runs = [spec_of(experiment, run, storage) for run in wanted]
    first = [spec_of_first(experiment)] if with_first and experiment.first is not None else []
    if not runs and not first:
        raise UsageError(
            "first.arguments: this experiment has no complete run, so there is nothing to do; leave --no-sweep out"
        )
    mounts = [data_folder(experiment, folder, storage, needed_bytes(some)).resolve() for some in (runs, first)]
    _check(experiment, storage, [*first, *runs], mounts[0])
    runs, first = (
        [replace(spec, folder=folder / spec.place, mount=mount) for spec in some]
        for some, mount in zip((runs, first), mounts, strict=True)
    )
    return storage, runs, first


def _check(experiment: Experiment, storage: Backend, runs: Sequence[PointSpec], data: Path) -> None:
    """Raises an error if something in these runs is known in advance to fail; `data` is the folder for their data."""
    launcher = LAUNCHERS[experiment.launcher]
    check_recipes(experiment.program, [spec.recipe for spec in runs])
    check_workload(experiment, experiment.workload, runs)
    _check_nodes(runs, launcher)
    check_ranks_per_node(runs, launcher)
    _check_crowding(runs, launcher)
    _check_buffers(runs)
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
    if experiment.matrix and experiment.metric not in has and not experiment.metric.startswith(OF_LOG):
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
    """Raises if the matrix varies stripes or object sizes on storage without them, or if several nodes would share
    storage in one node's memory.
    """
    nodes = max((launcher.nodes(spec.options) for spec in runs), default=1)
    if storage.one_node and nodes > 1:
        raise UsageError(f"{storage.name} storage belongs to one node, but {launcher.name} would use {nodes} nodes")
    varied = {name for spec in runs for name in spec.point}
    if "object_size" in varied and not storage.objects:
        raise UsageError(f"matrix.object_size: {storage.name} storage has no object size; only CephFS has one")
    stripes = sorted({"stripe_count", "stripe_size"} & varied)
    if storage.set_stripes is None and stripes:
        kind, mount = file_system(existing(data))
        raise UsageError(
            f"{data} is on {kind} (mounted at {mount}), which has no stripes to vary: "
            f"leave {' and '.join(stripes)} out of the matrix, or set storage.kind to emulated"
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
            say(
                f"matrix.stripe_count: {wanted} stripes of a file share the targets of {place}: "
                f"{targets_summary(targets)}"
            )
            return
        raise UsageError(f"matrix.stripe_count: {wanted} stripes are too many for {place}: {targets_summary(targets)}")


def check_configuration(configuration: Path | None, storage: Backend) -> None:
    """Raises if a configuration is given for storage that is not emulated, or if its file does not exist."""
    if configuration is None:
        return
    if storage.make is None:
        raise UsageError(
            f"storage.configuration: {storage.name} storage has no configuration file; only emulated storage has one"
        )
    if not configuration.is_file():
        raise UsageError(f"storage.configuration: {configuration} is not a file; name a file such as storage/ost.yaml")


MEMORY = Path("/dev/shm")
"""The file system in memory that Linux provides."""

_SHARE = 0.5
"""Maximum share of the free memory that data may take."""


def data_folder(experiment: Experiment, folder: Path, storage: Backend, needed: int) -> Path:
    """Returns the folder for runs that write `needed` bytes each, for a sweep whose results go to `folder`.

    Storage that only models time needs no disk, and a busy disk would disturb its runs. Its data therefore lies in
    memory if there is room, unless the runs use other machines or data is kept. The folder belongs to this user and
    this sweep alone.
    """
    if experiment.directory is not None:
        return experiment.directory / experiment.name
    here = not LAUNCHERS[experiment.launcher].elsewhere
    if storage.times_by_model and here and experiment.keep.data == NEVER and needed <= room_in_memory():
        mark = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:8]
        return MEMORY / f"iolens-data-{os.geteuid()}" / f"{experiment.name}-{mark}"
    return folder / "data"


def room_in_memory() -> int:
    """Returns the bytes that files in memory may take; 0 if this machine has no file system in memory."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return 0
    return min(shutil.disk_usage(MEMORY).free, int(_SHARE * (free_memory() or 0)))


_MARGIN = 1.05
"""Free space required, relative to the data of one run."""


def needed_bytes(runs: Sequence[PointSpec]) -> int:
    """Returns the bytes that the largest of these runs needs; 0 if unknown."""
    return int(max((spec.volume or 0 for spec in runs), default=0) * _MARGIN)


def kept_bytes(runs: Sequence[PointSpec]) -> int | None:
    """Returns the bytes that the data of all these runs takes together; None if unknown."""
    volumes = [spec.volume for spec in runs]
    return None if None in volumes else sum(volume or 0 for volume in volumes)


def room_for(runs: Sequence[PointSpec]) -> int:
    """Returns the bytes that these runs need: those of the largest run or, if data is kept, of all runs that have no
    data yet.
    """
    if not any(spec.keep.data == ALWAYS for spec in runs):
        return needed_bytes(runs)
    due = [spec for spec in runs if not spec.data.is_dir()]
    return max(int((kept_bytes(due) or 0) * _MARGIN), needed_bytes(due))


def _volume_words(amount: int) -> str:
    """Formats a number of bytes for people."""
    return f"{amount / 1e9:.2f} GB" if amount >= 1e8 else f"{amount / 1e6:.2f} MB"


_RANKS_PER_CORE = 64
"""Maximum number of ranks per core in an experiment on one machine. More are a mistake, and could stop the machine."""

_LEAST_BUFFER = 4096
"""Minimum `cb_buffer_size` in bytes. Collective buffering in pieces below a page would run for hours."""


def _check_crowding(runs: Sequence[PointSpec], launcher: Launcher) -> None:
    """Raises if a run would start far more ranks than this machine has cores."""
    if launcher.elsewhere or len(allocation().nodes) > 1:
        return
    cores = len(os.sched_getaffinity(0))
    for spec in runs:
        if spec.ranks > _RANKS_PER_CORE * cores:
            raise UsageError(
                f"ranks: run {spec.id} has {spec.ranks} ranks for {cores} cores of this machine; choose at most "
                f"{_RANKS_PER_CORE * cores} (NP=, workload.ranks), or another launcher"
            )


def _check_buffers(runs: Sequence[PointSpec]) -> None:
    """Raises if a run requests a collective buffer that is too small to be meant."""
    for spec in runs:
        requested = spec.requested.get("cb_buffer_size", _LEAST_BUFFER)
        if requested < _LEAST_BUFFER:
            raise UsageError(
                f"cb_buffer_size: {requested} bytes are less than {_LEAST_BUFFER}; write sizes such as 1M or 16M "
                "(CB_BUFFER=, matrix.cb_buffer_size)"
            )


def check_space(needed: int, data: Path) -> None:
    """Raises if the data of a run does not fit; the message says how much is needed, and where."""
    place = existing(data)
    free = shutil.disk_usage(place).free
    if needed > free:
        raise IolensError(
            f"data needs {_volume_words(needed)} below {place}, where {_volume_words(free)} are free; "
            "make room, or choose another folder with DIR= (storage.directory)"
        )
