"""The specification of one run of a sweep: arguments, variables, hints and stripes, from the experiment and the run's
point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from iolens.lab.launchers.launcher import RunSpec
from iolens.lab.run.mpi_launch.lustre_driver import Build
from iolens.lab.storage.backend import Backend
from iolens.lab.sweep.define.experiment import ALWAYS, ROMIO, Experiment, Keep
from iolens.lab.sweep.define.folders import CONFIRM, FIRST, POINTS, WARM_UP
from iolens.lab.sweep.define.matrix import Run
from iolens.lab.values import LISTED
from iolens.lab.workloads.recipe import USUAL, Recipe
from iolens.lab.workloads.workloads import volume_of

Built = tuple[str | None, Recipe]
"""The MPI-IO component that a program is built for, and the recipe of the build."""


@dataclass(frozen=True, kw_only=True)
class PointSpec(RunSpec):
    """The specification of one run of a sweep. It is filled in three steps.

    The definition gives it the name `id` and the settings of its program and of MPI-IO. `requested` holds stripes and
    hints under the names of run.json, `point` the levels and the number of the repetition; the complete run has
    neither. `options` are the options of the experiment's launcher, `recipe` says how the program is built, and
    `mapping` where its ranks are placed.

    `keep` says which of its files stay, and `volume` how many bytes it writes at most (None: unknown).

    The plan adds the folder, the `build` of the program, the command, the folder `mount` below which its data goes, the
    `key` that identifies a finished run, and the attempts so far: `number` counts those of this sweep, `lost` and
    `failed` list all discarded and failed attempts at this setting.

    The performance adds the surroundings on this machine, which a launcher needs.
    """

    id: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    requested: Mapping[str, int] = field(default_factory=dict)
    point: Mapping[str, int | str] = field(default_factory=dict)
    recipe: Recipe = USUAL
    mapping: str | None = None
    keep: Keep = field(default_factory=Keep)
    volume: int | None = None
    build: Build = field(default_factory=lambda: Build(Path(), None, ""))
    mount: Path = Path()
    key: str = ""
    number: int = 0
    lost: tuple[Mapping[str, Any], ...] = ()
    failed: tuple[Mapping[str, Any], ...] = ()

    @property
    def job(self) -> str:
        """Returns the name of the run in a form that is valid as a file name."""
        return self.id.replace("/", "_")

    @property
    def data(self) -> Path:
        """Returns the folder of the run's data."""
        return self.mount / self.job

    @property
    def place(self) -> str:
        """Returns the folder of the run's results, below those of the sweep."""
        return self.id if self.id.partition("/")[0] in (FIRST, CONFIRM, WARM_UP) else f"{POINTS}/{self.id}"

    @property
    def placement(self) -> Mapping[str, Any]:
        """Returns the requested placement of ranks under the names of run.json; empty if none was requested."""
        told = {"mapping": self.mapping, "ranks_per_node": self.options.get("ranks_per_node")}
        return {key: value for key, value in told.items() if value is not None}

    @property
    def built(self) -> Built:
        """Returns the component and recipe that select the build of the program."""
        return self.io_component, self.recipe


def spec_of(experiment: Experiment, run: Run, storage: Backend) -> PointSpec:
    """Returns the specification of one run of the matrix: the experiment's common settings, changed by the levels
    of its point.
    """
    settings = run.point.settings
    changes = [experiment.own[factor][str(level)] for factor, level in settings.items() if factor in experiment.own]
    environment, hints = dict(experiment.environment), dict(experiment.hints)
    requested = _requested_settings(experiment, run, storage)
    hints |= {key: str(requested[key]) for key in ("cb_nodes", "cb_buffer_size") if key in requested}
    component, recipe = experiment.io_component, _recipe_of(experiment)
    for change in changes:
        environment |= change.environment
        hints |= change.hints
        if change.hdf5:
            environment["IOLENS_HDF5"] = ",".join(filter(None, (environment.get("IOLENS_HDF5"), change.hdf5)))
        component = change.io_component or component
        recipe = replace(recipe, **{key: value for key in LISTED if (value := getattr(change, key))})
    arguments = (*experiment.arguments, *(word for change in changes for word in change.arguments))
    arguments += experiment.repeated if run.repetition > 1 else ()
    point = {**settings, "repetition": run.repetition}
    options = _launcher_options(experiment)
    if "nodes" in settings:
        options = {**options, "nodes": int(settings["nodes"])}
    ranks = int(settings.get("ranks", experiment.ranks))
    return PointSpec(
        id=run.id,
        ranks=ranks,
        arguments=arguments,
        environment=environment,
        io_component=component,
        options=options,
        hints=hints,
        requested=requested,
        point=point,
        recipe=recipe,
        mapping=experiment.mapping,
        keep=experiment.keep,
        volume=_volume_of(experiment, arguments, ranks),
    )


def _volume_of(experiment: Experiment, arguments: Sequence[str], ranks: int) -> int | None:
    """Returns the most bytes that a run writes, by its arguments or else by the experiment; None if neither tells."""
    return volume_of(experiment.workload, arguments, ranks) or experiment.volume


def _recipe_of(experiment: Experiment) -> Recipe:
    """Returns the recipe of the program's build for points whose levels do not change it."""
    return Recipe(experiment.compiler, experiment.flags)


def _launcher_options(experiment: Experiment) -> Mapping[str, Any]:
    """Returns the experiment's options for its launcher; the options in the launcher's own section take precedence over
    `mpi.ranks_per_node`.
    """
    everywhere = {"ranks_per_node": experiment.ranks_per_node} if experiment.ranks_per_node else {}
    return {**everywhere, **experiment.options.get(experiment.launcher, {})}


def spec_of_first(experiment: Experiment) -> PointSpec:
    """Returns the specification of the one complete run before the sweep: on storage as it is, with the usual MPI
    library and its default hints.
    """
    return PointSpec(
        id=FIRST,
        ranks=experiment.ranks,
        arguments=experiment.first or (),
        environment=experiment.environment,
        io_component=ROMIO,
        options=_launcher_options(experiment),
        recipe=_recipe_of(experiment),
        mapping=experiment.mapping,
        # The log is always kept, because the report of this run is made from it.
        keep=replace(experiment.keep, log=ALWAYS),
        volume=_volume_of(experiment, experiment.first or (), experiment.ranks),
    )


def _requested_settings(experiment: Experiment, run: Run, storage: Backend) -> dict[str, int]:
    """Returns the stripes and hints of a point; a layout is always included for storage that a sweep creates and for a
    pool.
    """
    settings = {key: value for key, value in run.point.numbers.items() if key not in ("ranks", "nodes")}
    if storage.make or experiment.pool or {"stripe_count", "stripe_size", "object_size"} & settings.keys():
        settings = {"stripe_count": 1, "stripe_size": experiment.stripe_size, **settings}
    if "aggregators" in settings:
        settings["cb_nodes"] = settings.pop("aggregators")
    return settings
