"""What one run of a sweep asks for: arguments, variables, hints and stripes, by the experiment and the run's point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from iolens.lab.storage.backend import Backend
from iolens.lab.sweep.experiment import ROMIO, Experiment
from iolens.lab.sweep.matrix import Run
from iolens.lab.values import LISTED
from iolens.lab.workloads.recipe import USUAL, Recipe

FIRST = "first"
"""The name, and the folder, of the complete run that goes before the matrix."""


Built = tuple[str | None, Recipe]
"""The MPI-IO component that a program is built for, and how."""


@dataclass(frozen=True)
class Asked:
    """One run: its name, and what its program and MPI-IO are given. `requested` are stripes and hints as run.json names
    them, `point` the levels with the number of the repetition; the complete run has neither. `options` are those of the
    experiment's launcher. `recipe` is how the program is built for it, and `mapping` where its ranks go."""

    id: str
    ranks: int
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    io_component: str | None
    options: Mapping[str, Any] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    requested: Mapping[str, int] = field(default_factory=dict)
    point: Mapping[str, int | str] = field(default_factory=dict)
    recipe: Recipe = USUAL
    mapping: str | None = None

    @property
    def job(self) -> str:
        """Its name as a file's."""
        return self.id.replace("/", "_")

    @property
    def built(self) -> Built:
        """What decides which build of the program it runs."""
        return self.io_component, self.recipe


def asked_of(experiment: Experiment, run: Run, storage: Backend) -> Asked:
    """A run of the matrix: what the experiment gives to all, then what the point's own levels change."""
    settings = run.point.settings
    changes = [experiment.own[factor][str(level)] for factor, level in settings.items() if factor in experiment.own]
    environment, hints = dict(experiment.environment), dict(experiment.hints)
    requested = requested_settings(experiment, run, storage)
    hints |= {key: str(requested[key]) for key in ("cb_nodes", "cb_buffer_size") if key in requested}
    component, recipe = experiment.io_component, recipe_of(experiment)
    for change in changes:
        environment |= change.environment
        hints |= change.hints
        component = change.io_component or component
        recipe = replace(recipe, **{key: value for key in LISTED if (value := getattr(change, key))})
    arguments = (*experiment.arguments, *(word for change in changes for word in change.arguments))
    arguments += experiment.repeated if run.repetition > 1 else ()
    point = {**settings, "repetition": run.repetition}
    options = options_of(experiment)
    if "nodes" in settings:
        options = {**options, "nodes": int(settings["nodes"])}
    ranks = int(settings.get("ranks", experiment.ranks))
    return Asked(
        run.id, ranks, arguments, environment, component, options, hints, requested, point, recipe, experiment.mapping
    )


def recipe_of(experiment: Experiment) -> Recipe:
    """How the program is built where no level says otherwise."""
    return Recipe(experiment.compiler, experiment.flags)


def options_of(experiment: Experiment) -> Mapping[str, Any]:
    """What the experiment says to its launcher; what the launcher's own section says goes before what `mpi` does."""
    everywhere = {"ranks_per_node": experiment.ranks_per_node} if experiment.ranks_per_node else {}
    return {**everywhere, **experiment.options.get(experiment.launcher, {})}


def asked_first(experiment: Experiment) -> Asked:
    """The complete run: on the storage as it is, with the usual MPI library and its own hints."""
    first = experiment.first or ()
    options, recipe = options_of(experiment), recipe_of(experiment)
    return Asked(
        FIRST,
        experiment.ranks,
        first,
        experiment.environment,
        ROMIO,
        options,
        recipe=recipe,
        mapping=experiment.mapping,
    )


def requested_settings(experiment: Experiment, run: Run, storage: Backend) -> dict[str, int]:
    """Stripes and hints of a point; in storage that a sweep makes itself, and in a pool, every run has a layout."""
    settings = {key: value for key, value in run.point.numbers.items() if key not in ("ranks", "nodes")}
    if storage.make or experiment.pool or {"stripe_count", "stripe_size"} & settings.keys():
        settings = {"stripe_count": 1, "stripe_size": experiment.stripe_size, **settings}
    if "aggregators" in settings:
        settings["cb_nodes"] = settings.pop("aggregators")
    return settings
