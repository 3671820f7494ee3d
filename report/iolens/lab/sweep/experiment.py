"""The contents of an experiment.yaml: the experiment, and the table of its keys, one row each
(report/EXPERIMENT.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.launchers.local import LOCAL
from iolens.lab.launchers.placement import MAPPINGS
from iolens.lab.storage.backends import BACKENDS, DIRECTORY
from iolens.lab.storage.emulated import EMULATED
from iolens.lab.sweep.expression import parse
from iolens.lab.sweep.keep import WHEN, Keep
from iolens.lab.sweep.results import METRICS
from iolens.lab.values import (
    CHANGES,
    TEXT,
    Change,
    Kind,
    count,
    duration,
    folder,
    groups,
    hint_table,
    kind,
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
"""The ROMIO component of the usual MPI library, under Open MPI's name for it."""


@dataclass(frozen=True)
class Experiment:
    """A study: a workload, the place of its files, and the matrix of settings. Sizes are in bytes.

    A point that may be the best gets more runs than `repetitions` while the interval of its ratio to the best is wider
    than `until_interval`, up to `until_repetitions` runs and `until_minutes`. Each call begins with `warm_up` runs that
    are not counted. `confirm` is the number of new runs of the best setting and of the baseline; None stands for the
    number of repetitions.

    `matrix` has the levels of every factor. The levels of the experiment's own factors are names, and `own` says what
    each level changes. Factors of a group in `together` change side by side, and points that meet a condition of
    `exclude` are left out. `compiler` and `flags` rebuild a bundled workload. `options` has the section of each
    launcher. `repeated` are arguments for every repetition of a point except the first. `volume` is the most that a run
    writes, if the workload's arguments do not tell. A run that takes longer than `timeout` seconds is ended.
    `configuration` has the parameters of the emulated targets; None stands for the default ones. `mapping` is a word of
    `launchers.placement`; None, as for `ranks_per_node`, leaves the placement to the launcher.
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
    compiler: str | None = None
    flags: str | None = None
    repeated: tuple[str, ...] = ()
    volume: int | None = None
    timeout: int | None = None
    repetitions: int = 3
    warm_up: int = 0
    until_interval: float | None = None
    until_repetitions: int | None = None
    until_minutes: int | None = None
    confirm: int | None = None
    storage: str = EMULATED.name
    directory: Path | None = None
    configuration: Path | None = None
    stripe_size: int = 2**20
    pool: str | None = None
    io_component: str | None = ROMIO
    mapping: str | None = None
    keep_data: str = Keep.data
    keep_log: str = Keep.log
    keep_output: str = Keep.output
    ranks_per_node: int | None = None
    hints: Mapping[str, str] = field(default_factory=lambda: {"romio_cb_write": "enable", "cb_config_list": "*:*"})
    launcher: str = LOCAL.name
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    first: tuple[str, ...] | None = None
    metric: str = "write_bandwidth"

    @property
    def keep(self) -> Keep:
        """Returns the parts of its runs that are kept."""
        return Keep(self.keep_data, self.keep_log, self.keep_output)


@kind(type="array", items=TEXT)
def _conditions(value: Any) -> tuple[str, ...]:
    """Returns the conditions in a list of texts on the settings of a point."""
    texts = words(value)
    for condition in texts:
        parse(condition)
    return texts


@dataclass(frozen=True)
class Key:
    """A key of the file: the field of `Experiment` that it sets, its kind, and its description, which editors show."""

    field: str
    kind: Kind[Any]
    about: str


FACTORS: Mapping[str, tuple[Kind[tuple[int, ...]], str]] = {
    "stripe_count": (levels(positive), "Targets that each file is spread over"),
    "stripe_size": (levels(size), "Bytes of a file on a target before the next one's turn"),
    "aggregators": (levels(positive), "Ranks that write for the others in collective buffering: cb_nodes"),
    "cb_buffer_size": (levels(size), "Bytes that an aggregator gathers before it writes"),
    "ranks": (levels(positive), "MPI ranks"),
    "nodes": (levels(positive), "Nodes that the ranks are spread over, where the launcher has any"),
}
"""Factors that every matrix can vary. Any other factor is the experiment's own: a table of levels and their changes."""

KEYS: Mapping[str, Key] = {
    "name": Key("name", name, "The folder of the results"),
    "title": Key("title", text, "What the report is called"),
    "workload.program": Key("program", text, "A bundled workload, or a path, from the file's own folder or here"),
    "workload.arguments": Key("arguments", words, "Its arguments; {directory} and {json} stand for the run's own"),
    "workload.repeated": Key("repeated", words, "Arguments added in every repetition of a point but the first"),
    "workload.ranks": Key("ranks", positive, "MPI ranks"),
    "workload.environment": Key("environment", variables, "Variables of every run"),
    "workload.compiler": Key("compiler", CHANGES["compiler"], "Build the bundled workload with this C compiler"),
    "workload.flags": Key("flags", CHANGES["flags"], "Build it with these flags, in the place of the usual ones"),
    "workload.volume": Key("volume", size, "Bytes that one run writes at most, where the arguments do not tell"),
    "workload.timeout": Key("timeout", duration, "Seconds or hours:minutes:seconds after which a run is ended"),
    "storage.kind": Key("storage", name_in(BACKENDS, DIRECTORY), "Where the data goes; directory: whatever it is on"),
    "storage.directory": Key("directory", folder, "The folder of the data files"),
    "storage.configuration": Key("configuration", folder, "Emulated: a file with the targets and their speeds"),
    "storage.stripe_size": Key("stripe_size", size, "The stripe size where the matrix does not vary it"),
    "storage.pool": Key("pool", text, "The pool of targets that files are laid out on, where the storage has pools"),
    "mpi.io_component": Key("io_component", CHANGES["io_component"], "What moves the data: an MPI-IO implementation"),
    "mpi.hints": Key("hints", hint_table, "MPI-IO hints of every run"),
    "mpi.ranks_per_node": Key("ranks_per_node", positive, "Ranks on each node, whatever the launcher"),
    "mpi.mapping": Key("mapping", one_of(*MAPPINGS), "What gets one rank after the other"),
    "together": Key("together", groups, "Factors that change side by side: first with first, second with second"),
    "exclude": Key("exclude", _conditions, "Points for which one of these conditions holds are left out"),
    "launcher": Key("launcher", name_in(LAUNCHERS), "What starts the ranks"),
    "repetitions": Key("repetitions", positive, "Runs of every point"),
    "warm_up": Key("warm_up", count, "Runs before the first one of every call; they count for nothing"),
    "until.interval": Key("until_interval", portion, "More runs of the best points until their ratio is known so well"),
    "until.ci": Key("until_interval", portion, "Another word for until.interval"),
    "until.repetitions": Key("until_repetitions", positive, "But at most so many of each"),
    "until.minutes": Key("until_minutes", positive, "And for so long"),
    "confirm": Key("confirm", count, "Fresh runs of the best setting and of the baseline"),
    "keep.data": Key("keep_data", one_of(*WHEN), "Whose data files stay"),
    "keep.log": Key("keep_log", one_of(*WHEN), "Whose logs stay, with the traces in them"),
    "keep.output": Key("keep_output", one_of(*WHEN), "Whose standard output and error stay"),
    "first.arguments": Key("first", words, "Arguments of one complete run before the sweep"),
    "report.metric": Key("metric", one_of(*METRICS), "What the settings are compared by"),
    **{f"matrix.{factor}": Key(f"matrix.{factor}", *row) for factor, row in FACTORS.items()},
    **{
        f"{launcher.name}.{key}": Key(f"{launcher.name}.{key}", *row)
        for launcher in LAUNCHERS.values()
        for key, row in launcher.keys.items()
    },
}
"""The keys of the file, one row each."""


REQUIRED = ("name", "workload.program", "workload.ranks")
