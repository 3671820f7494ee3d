"""Set up a sweep: everything checked that can be, its folders made, and what is missing found out."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.lab.files import write_aside
from iolens.lab.run.record import read_record
from iolens.lab.storage.backends import backend_for
from iolens.lab.sweep.asked import FIRST, asked_first, asked_of
from iolens.lab.sweep.bench import Bench, key_of, set_up
from iolens.lab.sweep.check import check_space, check_storage, check_workload
from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.experiment_file import to_yaml
from iolens.lab.sweep.matrix import schedule
from iolens.lab.sweep.repeat import Attempt, first_attempt
from iolens.lab.sweep.results import CONFIRM
from iolens.lab.sweep.until import begun_before

POINTS = "points"
"""The folder of the matrix's runs below that of the sweep."""


@dataclass(frozen=True)
class Sweep:
    """A sweep that is set up: its folder, its bench, and the runs that are still to do."""

    experiment: Experiment
    folder: Path
    bench: Bench
    own_data: bool
    todo: tuple[Attempt, ...]
    first: Attempt | None
    total: int

    @property
    def run_folders(self) -> list[Path]:
        """The folder of every run that was begun."""
        return [self.folder / FIRST, *self.folder.glob(f"{POINTS}/*/*"), *self.folder.glob(f"{CONFIRM}/*/*")]


def prepare(experiment: Experiment, folder: Path, with_matrix: bool = True) -> Sweep:
    """Check everything that can be checked beforehand, make the folders and find out what is missing.

    Without the matrix the complete run alone is left.
    """
    own_data = experiment.directory is None
    data = data_folder(experiment, folder)
    storage = backend_for(experiment.storage, data)
    wanted = [*schedule(experiment), *begun_before(experiment, folder)] if with_matrix else []
    runs = [asked_of(experiment, run, storage) for run in wanted]
    first = [asked_first(experiment)] if experiment.first is not None else []
    bench = set_up(experiment, data, {asked.io_component for asked in (*runs, *first)})
    check_workload(experiment, bench.workload, [*runs, *first])
    check_space(experiment, bench.workload, [*runs, *first], data)
    check_storage(experiment, data, bench.storage, bench.launcher)
    for place in (folder, data):
        place.mkdir(parents=True, exist_ok=True)
    if bench.storage.make:
        bench.storage.make(data)
    write_aside(folder / "experiment.yaml", to_yaml(experiment))
    todo = [first_attempt(asked, folder / POINTS / asked.id, key_of(bench, asked)) for asked in runs]
    before = [first_attempt(asked, folder / FIRST, key_of(bench, asked)) for asked in first]
    if with_matrix:
        drop_strangers(folder / POINTS, {asked.id for asked in runs})
    missing = tuple(one for one in todo if not finished(one))
    complete = next((one for one in before if not finished(one, good=("ok", "invalid"))), None)
    return Sweep(experiment, folder, bench, own_data, missing, complete, len(runs))


def data_folder(experiment: Experiment, folder: Path) -> Path:
    """Where the data of a sweep's runs goes: below the experiment's own directory, else below the results."""
    return experiment.directory / experiment.name if experiment.directory else folder / "data"


def finished(attempt: Attempt, good: Sequence[str] = ("ok",)) -> bool:
    """True when its folder holds a good run of exactly this setting; other runs are run again.

    A run whose timing must not be compared is still good as a complete run, which is compared with nothing.
    """
    record = read_record(attempt.folder)
    return record is not None and record.get("key") == attempt.key and record.get("status") in good


def drop_strangers(folder: Path, known: set[str]) -> None:
    """Move runs that this experiment no longer has out of the comparison, into `set-aside`; nothing is deleted."""
    for record in sorted(folder.glob("*/rep-*/run.json")):
        if str(record.parent.relative_to(folder)) not in known:
            aside = folder.parent / "set-aside" / record.parent.relative_to(folder)
            aside.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(aside, ignore_errors=True)
            record.replace(record.with_name("run-set-aside.json"))
            record.parent.replace(aside)
