"""What an experiment.yaml says: the experiment, and the table of its keys, one row each (report/EXPERIMENT.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.launchers.local import LOCAL
from iolens.lab.storage.backends import BACKENDS, DIRECTORY
from iolens.lab.storage.emulated import EMULATED
from iolens.lab.sweep.expression import parse
from iolens.lab.sweep.results import METRICS
from iolens.lab.values import (
    CHANGES,
    Change,
    count,
    duration,
    folder,
    groups,
    hint_table,
    levels,
    name,
    name_in,
    one_of,
    portion,
    positive,
    size,
    text,
    variables,
    words,
)

ROMIO = "romio321"
"""ROMIO in the usual MPI library; Open MPI's own name for it."""


@dataclass(frozen=True)
class Experiment:
    """One study: a workload, where its files go, and the matrix of settings. Sizes in bytes.

    Points get more runs than `repetitions` while their interval is wider than `until_interval` (a ratio to the typical
    value), up to `until_repetitions` of each and for `until_minutes`. `confirm` is the number of fresh runs of the best
    setting and of the baseline, as many as repetitions when None.

    `matrix` has the levels of every factor; of the experiment's own factors they are names, and `own` says what each
    changes. Factors of a group in `together` change side by side, and points for which a condition of `exclude` holds
    are left out. `options` has the section of each launcher. `repeated` are arguments added in every repetition of a
    point but the first. `volume` is what one run writes at most, where the workload's arguments do not tell. A run that
    takes longer than `timeout` seconds is ended.
    """

    name: str
    title: str
    program: str
    arguments: tuple[str, ...]
    ranks: int
    matrix: Mapping[str, tuple[int | str, ...]]
    own: Mapping[str, Mapping[str, Change]] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()
    exclude: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    repeated: tuple[str, ...] = ()
    volume: int | None = None
    timeout: int | None = None
    repetitions: int = 3
    until_interval: float | None = None
    until_repetitions: int | None = None
    until_minutes: int | None = None
    confirm: int | None = None
    storage: str = EMULATED.name
    directory: Path | None = None
    stripe_size: int = 2**20
    io_component: str | None = ROMIO
    hints: Mapping[str, str] = field(default_factory=lambda: {"romio_cb_write": "enable", "cb_config_list": "*:*"})
    launcher: str = LOCAL.name
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    first: tuple[str, ...] | None = None
    metric: str = "write_bandwidth"


def conditions(value: Any) -> tuple[str, ...]:
    """A list of conditions on the settings of a point."""
    texts = words(value)
    for condition in texts:
        parse(condition)
    return texts


FACTORS: Mapping[str, Callable[[Any], tuple[int, ...]]] = {
    "stripe_count": levels(positive),
    "stripe_size": levels(size),
    "aggregators": levels(positive),
    "cb_buffer_size": levels(size),
    "ranks": levels(positive),
    "nodes": levels(positive),
}
"""What a matrix can vary by itself; any other factor is an own one, a table of levels and what each changes."""

KEYS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ("name", name),
    "title": ("title", text),
    "workload.program": ("program", text),
    "workload.arguments": ("arguments", words),
    "workload.repeated": ("repeated", words),
    "workload.ranks": ("ranks", positive),
    "workload.environment": ("environment", variables),
    "workload.volume": ("volume", size),
    "workload.timeout": ("timeout", duration),
    "storage.kind": ("storage", name_in(BACKENDS, DIRECTORY)),
    "storage.directory": ("directory", folder),
    "storage.stripe_size": ("stripe_size", size),
    "mpi.io_component": ("io_component", CHANGES["io_component"]),
    "mpi.hints": ("hints", hint_table),
    "together": ("together", groups),
    "exclude": ("exclude", conditions),
    "launcher": ("launcher", name_in(LAUNCHERS)),
    "repetitions": ("repetitions", positive),
    "until.interval": ("until_interval", portion),
    "until.repetitions": ("until_repetitions", positive),
    "until.minutes": ("until_minutes", positive),
    "confirm": ("confirm", count),
    "first.arguments": ("first", words),
    "report.metric": ("metric", one_of(*METRICS)),
    **{f"matrix.{factor}": (f"matrix.{factor}", kind) for factor, kind in FACTORS.items()},
    **{
        f"{launcher.name}.{key}": (f"{launcher.name}.{key}", kind)
        for launcher in LAUNCHERS.values()
        for key, kind in launcher.keys.items()
    },
}
"""Key in the file to the field of `Experiment` and the conversion of its value."""


REQUIRED = ("name", "workload.program", "workload.ranks")
