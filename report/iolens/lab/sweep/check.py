"""What can be known to go wrong before a sweep begins."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from iolens.errors import IolensError, UsageError
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.say import say
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import existing
from iolens.lab.storage.mounts import file_system
from iolens.lab.storage.targets import summary, usable
from iolens.lab.sweep.asked import Asked
from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.keep import ALWAYS
from iolens.lab.sweep.results import OF_ANY
from iolens.lab.workloads.workload import Workload
from iolens.lab.workloads.workloads import refusal_of, volume_of

MARGIN = 1.05
"""Free space wanted, relative to the data of one run."""


def check_workload(experiment: Experiment, workload: Workload, runs: Sequence[Asked]) -> None:
    """Raise when the program has no such metric, or would not run with so many ranks."""
    has = (*workload.metrics, *OF_ANY)
    if experiment.matrix and experiment.metric not in has:
        raise UsageError(f"report.metric: {workload.program} has no {experiment.metric}; it has {', '.join(has)}")
    for asked in runs:
        why = refusal_of(workload, asked.arguments, asked.ranks)
        if why:
            raise UsageError(f"workload.ranks: {asked.ranks}: {why} (run {asked.id})")


def check_nodes(runs: Sequence[Asked], launcher: Launcher) -> None:
    """Raise where the matrix varies nodes that the launcher has not."""
    if "nodes" not in launcher.keys and any("nodes" in asked.point for asked in runs):
        raise UsageError(f"matrix.nodes: the launcher {launcher.name} has no nodes to choose")


def check_storage(runs: Sequence[Asked], data: Path, storage: Backend, launcher: Launcher) -> None:
    """Storage without stripes cannot vary them, and what one node's memory holds cannot be shared by several."""
    nodes = max((launcher.nodes(asked.options) for asked in runs), default=1)
    if storage.one_node and nodes > 1:
        raise UsageError(f"{storage.name} storage is one node's own, and {launcher.name} shall use {nodes} nodes")
    varied = {name for asked in runs for name in asked.point}
    if storage.set_stripes is None and {"stripe_count", "stripe_size"} & varied:
        kind, mount = file_system(existing(data))
        raise UsageError(
            f"{data} is on {kind} (mounted at {mount}), which has no stripes to vary: "
            "leave stripe_count out of the matrix, or set storage.kind to emulated"
        )


def check_pool(pool: str | None, storage: Backend) -> None:
    """Raise where a pool is named on storage without any."""
    if pool and not storage.pools:
        raise UsageError(f"storage.pool: {storage.name} storage has no pools")


def check_targets(runs: Sequence[Asked], data: Path, storage: Backend, pool: str | None) -> None:
    """Raise where a run wants more stripes than there are targets to take them: its files would have fewer, and the run
    be of no use. Where the file system does not say what it has, that is said and the sweep goes on."""
    wanted = max((asked.requested.get("stripe_count", 0) for asked in runs), default=0)
    if storage.targets is None or not wanted:
        return
    try:
        targets = storage.targets(data, pool)
    except IolensError as error:
        say(f"how many targets take files is not known: {error}")
        return
    if wanted > usable(targets):
        place = f"the pool {pool} of {data}" if pool else f"{data}"
        raise UsageError(f"matrix.stripe_count: {wanted} stripes are too many for {place}: {summary(targets)}")


def check_configuration(configuration: Path | None, storage: Backend) -> None:
    """Raise where numbers are given for storage that is not emulated, or in a file that is not there."""
    if configuration is None:
        return
    if storage.make is None:
        raise UsageError(f"storage.configuration: {storage.name} storage takes no numbers; emulated storage does")
    if not configuration.is_file():
        raise UsageError(f"storage.configuration: {configuration} is not a file")


def needed_bytes(experiment: Experiment, workload: Workload, runs: Sequence[Asked]) -> int:
    """Space that the largest of these runs needs; 0 where nothing tells."""
    volumes = [experiment.volume, *(volume_of(workload, asked.arguments, asked.ranks) for asked in runs)]
    return int(max((volume for volume in volumes if volume), default=0) * MARGIN)


def kept_bytes(experiment: Experiment, workload: Workload, runs: Sequence[Asked]) -> int | None:
    """Space that the data of all these runs takes together; None where nothing tells."""
    volumes = [experiment.volume or volume_of(workload, asked.arguments, asked.ranks) for asked in runs]
    return None if None in volumes else sum(volume or 0 for volume in volumes)


def room_for(experiment: Experiment, workload: Workload, runs: Sequence[Asked], data: Path) -> int:
    """Space that these runs need below `data`: of the largest, or of all that have none there yet where it stays."""
    if experiment.keep.data != ALWAYS:
        return needed_bytes(experiment, workload, runs)
    due = [asked for asked in runs if not (data / asked.job).is_dir()]
    return max(int((kept_bytes(experiment, workload, due) or 0) * MARGIN), needed_bytes(experiment, workload, due))


def volume(amount: int) -> str:
    """Bytes for people."""
    return f"{amount / 1e9:.2f} GB" if amount >= 1e8 else f"{amount / 1e6:.2f} MB"


def check_space(needed: int, data: Path) -> None:
    """Raise when the data of a run does not fit; says how much is needed, and where."""
    place = existing(data)
    free = shutil.disk_usage(place).free
    if needed > free:
        raise IolensError(
            f"data needs {volume(needed)} below {place}, where {volume(free)} are free; "
            "make room, or choose another folder with DIR= (storage.directory)"
        )
