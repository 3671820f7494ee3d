"""The contents of an experiment.yaml: the experiment, and the table of its keys, one row each
(report/EXPERIMENT.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iolens.lab.installation import MACHINES
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.launchers.local import LOCAL
from iolens.lab.launchers.placement import MAPPINGS
from iolens.lab.storage.backends import BACKENDS, DIRECTORY
from iolens.lab.storage.emulated import EMULATED
from iolens.lab.sweep.define.expression import parse_expression
from iolens.lab.sweep.define.metrics import AUTOMATIC, METRICS, OF_LOG, PATTERN
from iolens.lab.values import (
    CHANGES,
    TEXT,
    Change,
    ValueKind,
    command_words,
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
    pattern,
    portion,
    positive,
    size,
    text,
    variables,
    words,
)
from iolens.lab.workloads.foreign import FOREIGN
from iolens.lab.workloads.workload import Workload
from iolens.lab.workloads.workloads import workload_of

NEVER, _FAILED, ALWAYS = "never", "failed", "always"

_WHEN = (NEVER, _FAILED, ALWAYS)
"""Choices of the runs for which a part is kept: no run, those that failed or must not be compared, or all."""

APART, OWN = "apart", "own"

_PLACES = (APART, OWN)
"""Working folders of a run: a new one for each run, or that of the input files for all runs."""

ROMIO = "romio321"
"""The ROMIO component of the usual MPI library, under Open MPI's name for it."""

_MOST_REPETITIONS = 20
"""Default maximum number of repetitions per point."""


@dataclass(frozen=True)
class Keep:
    """Says for data files, for logs with their traces, and for standard output and error, after which runs they are
    kept (a word of _WHEN).
    """

    data: str = NEVER
    log: str = ALWAYS
    output: str = ALWAYS

    def stays(self, part: str, status: str) -> bool:
        """Returns True if this part (data, logs or output) of a run with this status is kept."""
        when = getattr(self, part)
        return when == ALWAYS or (when == _FAILED and status != "ok")


@dataclass(frozen=True)
class Experiment:
    """A study: a workload, the place of its files, and the matrix of settings. Sizes are in bytes.

    A point that may be the best gets more runs than `repetitions` while the interval of its ratio to the best is wider
    than `until_interval`, up to `until_repetitions` runs and `until_minutes`. Each call begins with `warm_up` runs that
    are not counted. `confirm` is the number of new runs of the best setting and of the baseline; None stands for the
    number of repetitions.

    `log` names a recorded run whose mini-app takes the place of program, arguments and ranks (plan/mini_app.py).

    `command` is a whole command line with its launcher, which takes the place of program and arguments. `place` is a
    word of _PLACES for the working folder of a run; APART is a new folder, in which the entries of `inputs` are
    linked except `outputs`, and copied if they are in `copy`; runs are made anew if a file of `reads` has changed.
    `before`, `after` and `check` are shell commands around
    each run, and `exit_code` is the program's exit code for success.

    `matrix` has the levels of every factor. The levels of user-defined factors are names, and `own` says what each
    level changes. Factors of a group in `together` change side by side, and points that meet a condition of `exclude`
    are left out. `compiler` and `flags` rebuild a bundled workload. `options` has the section of each launcher.
    `repeated` are arguments for every repetition of a point except the first. `volume` is the most that a run writes,
    if the workload's arguments do not tell. A run that takes longer than `timeout` seconds is ended. `configuration`
    has the parameters of the emulated targets; None stands for the default ones. `mapping` is a word of
    `launchers.placement`; None, as for `ranks_per_node`, leaves the placement to the launcher.
    """

    name: str
    title: str
    program: str
    arguments: tuple[str, ...]
    ranks: int
    matrix: Mapping[str, tuple[int | str, ...]]
    log: str | None = None
    command: tuple[str, ...] = ()
    place: str | None = None
    inputs: Path | None = None
    outputs: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    before: str | None = None
    after: str | None = None
    check: str | None = None
    exit_code: int = 0
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
    pattern: str | None = None
    unit: str | None = None
    better: str | None = None

    @property
    def keep(self) -> Keep:
        """Returns which files of the experiment's runs are kept."""
        return Keep(self.keep_data, self.keep_log, self.keep_output)

    @property
    def workload(self) -> Workload:
        """Returns the description of the program; any command is a foreign program."""
        return FOREIGN if self.command else workload_of(self.program)

    @property
    def working_folder(self) -> str | None:
        """Returns the kind of the working folder; None if runs stay in the folder in which the sweep was started."""
        return self.place or (APART if self.command else None)

    @property
    def report(self) -> Mapping[str, Any]:
        """Returns the section `report` of the file; keys that it leaves out are None."""
        return {key: getattr(self, key) for key in ("metric", "pattern", "unit", "better")}

    @property
    def most_repetitions(self) -> int:
        """Returns the maximum number of runs of a point."""
        if self.until_interval is None:
            return self.repetitions
        return max(self.repetitions, self.until_repetitions or _MOST_REPETITIONS)

    @property
    def confirming_pairs(self) -> int:
        """Returns how often the best setting and the baseline are run again if a setting is better than the
        baseline.
        """
        if self.metric == "latency":
            return 0
        return self.repetitions if self.confirm is None else self.confirm


@kind(type="array", items=TEXT)
def _conditions(value: Any) -> tuple[str, ...]:
    """Returns the conditions in a list of texts on the settings of a point."""
    texts = words(value)
    for condition in texts:
        parse_expression(condition)
    return texts


@kind(type="string", anyOf=[{"enum": [*METRICS, AUTOMATIC, PATTERN]}, {"pattern": r"^log\.[a-z0-9_]+$"}])
def _metric(value: Any) -> str:
    """Accepts the name of a metric, or `log.` and the name of a number of the log."""
    if isinstance(value, str) and value.startswith(OF_LOG) and value != OF_LOG:
        return value
    return one_of(*METRICS, AUTOMATIC, PATTERN)(value)


@dataclass(frozen=True)
class Key:
    """A key of the file: the field of `Experiment` that it sets, its kind, and its description, which editors show."""

    field: str
    kind: ValueKind[Any]
    about: str


FACTORS: Mapping[str, tuple[ValueKind[tuple[int, ...]], str]] = {
    "stripe_count": (levels(positive), "Number of targets of each file"),
    "stripe_size": (levels(size), "Bytes of a file on one target before the next target follows"),
    "object_size": (levels(size), "Bytes of one object of a file on CephFS, a multiple of the stripe size"),
    "aggregators": (levels(positive), "Ranks that write for all others in collective buffering: cb_nodes"),
    "cb_buffer_size": (levels(size), "Bytes that an aggregator gathers before it writes"),
    "ranks": (levels(positive), "MPI ranks"),
    "nodes": (levels(positive), "Number of nodes of the ranks, if the launcher can choose it"),
}
"""Factors that every matrix can vary. Any other factor is user-defined: a table of levels and their changes."""

KEYS: Mapping[str, Key] = {
    "name": Key("name", name, "The folder of the results"),
    "title": Key("title", text, "Title of the report"),
    "workload.program": Key(
        "program", text, "A bundled workload, or the path of a program, relative to this file or to the current folder"
    ),
    "workload.command": Key(
        "command",
        command_words,
        "A whole command with its launcher, in place of program and arguments; {directory}, {ranks} and {json} stand "
        "for the run's folder of data, its ranks and the file of its result",
    ),
    "workload.folder": Key(
        "place",
        one_of(*_PLACES),
        "Working folder: apart, a new one with links to the inputs; own, that of the inputs",
    ),
    "workload.inputs": Key("inputs", folder, "Folder with the program's files; default: the folder of this file"),
    "workload.outputs": Key("outputs", words, "Files of that folder that the program makes, which get no link"),
    "workload.copy": Key("copy", words, "Files of that folder that the program changes, copied for each run"),
    "workload.reads": Key(
        "reads", words, "Files of that folder that the program reads; a change of one makes new runs"
    ),
    "workload.before": Key("before", text, "Shell command in the working folder before each run"),
    "workload.after": Key("after", text, "Shell command in the working folder after each run"),
    "workload.check": Key("check", text, "Shell command after each run that fails if the run's result is wrong"),
    "workload.exit_code": Key("exit_code", count, "Exit code of the program for success"),
    "workload.log": Key(
        "log",
        text,
        "A log with traces; the mini-app made from it runs in place of a program, with its own arguments and ranks",
    ),
    "workload.arguments": Key(
        "arguments", words, "Arguments of the program; {directory} and {json} stand for paths of the run"
    ),
    "workload.repeated": Key("repeated", words, "Arguments added in every repetition of a point except the first"),
    "workload.ranks": Key("ranks", positive, "MPI ranks"),
    "workload.environment": Key("environment", variables, "Variables of every run"),
    "workload.compiler": Key("compiler", CHANGES["compiler"], "Build the bundled workload with this C compiler"),
    "workload.flags": Key("flags", CHANGES["flags"], "Build the workload with these flags instead of the usual ones"),
    "workload.volume": Key("volume", size, "Largest number of bytes that one run writes, if the arguments do not say"),
    "workload.timeout": Key(
        "timeout", duration, "Time after which a run is stopped, in seconds or hours:minutes:seconds"
    ),
    "storage.kind": Key(
        "storage",
        name_in(BACKENDS, DIRECTORY),
        "Kind of storage for the data; directory: the file system of the folder",
    ),
    "storage.directory": Key("directory", folder, "Folder of the data files"),
    "storage.configuration": Key(
        "configuration",
        folder,
        f"For emulated storage: a file with the targets and their speeds, or {', '.join(MACHINES)}",
    ),
    "storage.stripe_size": Key("stripe_size", size, "Stripe size, if the matrix does not vary it"),
    "storage.pool": Key("pool", text, "Pool of targets for the files, if the storage has pools"),
    "mpi.io_component": Key("io_component", CHANGES["io_component"], "The MPI-IO implementation that moves the data"),
    "mpi.hints": Key("hints", hint_table, "MPI-IO hints of every run"),
    "mpi.ranks_per_node": Key("ranks_per_node", positive, "Ranks on each node, with every launcher"),
    "mpi.mapping": Key("mapping", one_of(*MAPPINGS), "Unit that receives consecutive ranks, such as core or node"),
    "together": Key(
        "together", groups, "Factors that change together: first level with first level, second with second"
    ),
    "exclude": Key("exclude", _conditions, "Conditions; points that meet one of them are left out"),
    "launcher": Key("launcher", name_in(LAUNCHERS), "Launcher that starts the ranks"),
    "repetitions": Key("repetitions", positive, "Runs of every point"),
    "warm_up": Key("warm_up", count, "Number of runs before the first run of every call; their results are not used"),
    "until.interval": Key(
        "until_interval", portion, "The best points are run again until the interval of their ratio is this narrow"
    ),
    "until.ci": Key("until_interval", portion, "Another name of until.interval"),
    "until.repetitions": Key("until_repetitions", positive, "Largest number of runs of each point"),
    "until.minutes": Key("until_minutes", positive, "Largest number of minutes for these runs"),
    "confirm": Key("confirm", count, "Number of new runs each of the best setting and of the baseline"),
    "keep.data": Key("keep_data", one_of(*_WHEN), "Runs whose data files are kept"),
    "keep.log": Key("keep_log", one_of(*_WHEN), "Runs whose logs are kept, with their traces"),
    "keep.output": Key("keep_output", one_of(*_WHEN), "Runs whose standard output and error are kept"),
    "first.arguments": Key("first", words, "Arguments of one complete run before the sweep"),
    "report.metric": Key(
        "metric",
        _metric,
        "Result by which settings are compared; automatic: the program's own bandwidth, or that of its log, or its run "
        "time; log.NAME: a number of the log that `iolens check LOG --list` names",
    ),
    "report.pattern": Key(
        "pattern", pattern, "Regular expression whose only group is the number by which settings are compared"
    ),
    "report.unit": Key("unit", text, "Unit of the number of report.pattern, if the pattern does not end with it"),
    "report.better": Key("better", one_of("more", "less"), "Direction in which the number of report.pattern is better"),
    **{f"matrix.{factor}": Key(f"matrix.{factor}", *row) for factor, row in FACTORS.items()},
    **{
        f"{launcher.name}.{key}": Key(f"{launcher.name}.{key}", *row)
        for launcher in LAUNCHERS.values()
        for key, row in launcher.keys.items()
    },
}
"""The keys of the file, one row each."""

REQUIRED = ("name", "workload.program", "workload.ranks")
"""Keys that a file must have; `workload.log` or `workload.command` stands for the last two."""
