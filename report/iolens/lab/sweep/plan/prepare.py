"""Set up a sweep: check everything that can be checked, create its folders, and find out which runs are missing."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iolens.lab.files import write_aside
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.run.record import RECORD, RunRecord, read_record
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import backend_for
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.experiment_file import to_yaml
from iolens.lab.sweep.define.folders import CONFIRM, FIRST, POINTS, WARM_UP
from iolens.lab.sweep.define.matrix import Run, points, schedule
from iolens.lab.sweep.define.spec import PointSpec, spec_of, spec_of_first
from iolens.lab.sweep.plan.alone import alone
from iolens.lab.sweep.plan.bench import Bench, key_of, set_up
from iolens.lab.sweep.plan.check import (
    check_configuration,
    check_nodes,
    check_pool,
    check_storage,
    check_targets,
    check_workload,
)
from iolens.lab.sweep.plan.place import check_space, data_folder, needed_bytes, room_for
from iolens.lab.sweep.plan.repeat import ATTEMPT, first_attempt, put_aside
from iolens.lab.sweep.plan.starting import check_ranks_per_node, starter_words
from iolens.lab.workloads.workloads import workload_of


@dataclass(frozen=True)
class Sweep:
    """A sweep that is set up: its folder, its bench, the bench of the complete run (whose data may lie elsewhere), and
    the runs that are missing. Runs with a status in `kept` are not repeated; `failed` are the records of kept runs that
    failed.
    """

    experiment: Experiment
    folder: Path
    bench: Bench
    first_bench: Bench
    own_data: bool
    todo: tuple[PointSpec, ...]
    first: PointSpec | None
    total: int
    kept: tuple[str, ...] = ("ok", "failed")
    failed: tuple[RunRecord, ...] = ()

    @property
    def places(self) -> tuple[Path, ...]:
        """Returns the folders that no other sweep may use at the same time."""
        return self.folder, self.bench.data, self.first_bench.data

    @property
    def run_folders(self) -> list[Path]:
        """Returns the folder of every run that was started, without attempts that were repeated."""
        found = [*self.folder.glob(f"{POINTS}/*/rep-*"), *self.folder.glob(f"{CONFIRM}/*/rep-*")]
        found += self.folder.glob(f"{WARM_UP}/rep-*")
        return [self.folder / FIRST, *(place for place in found if not (place / ATTEMPT).exists())]


def prepare(experiment: Experiment, folder: Path, with_matrix: bool = True, retry: bool = False) -> Sweep:
    """Checks everything that can be checked in advance, creates the folders and finds out which runs are missing.

    Without the matrix only the complete run remains. Failed runs are repeated if `retry` is True.
    """
    storage = backend_for(experiment.storage, (experiment.directory or folder) / experiment.name)
    wanted = [*schedule(experiment), *_begun_before(experiment, folder)] if with_matrix else []
    runs = [spec_of(experiment, run, storage) for run in wanted]
    first = [spec_of_first(experiment)] if experiment.first is not None else []
    check_workload(experiment, workload_of(experiment.program), [*runs, *first])
    check_nodes(runs, LAUNCHERS[experiment.launcher])
    bench, first_bench = (_bench_for(experiment, folder, storage, some) for some in (runs or first, first or runs))
    _check_placement(bench, runs)
    _check_placement(first_bench, first)
    check_storage([*runs, *first], bench.data, bench.storage, bench.launcher)
    check_configuration(experiment.configuration, bench.storage)
    check_pool(experiment.pool, bench.storage)
    _make_folders(experiment, folder, bench, first_bench)
    check_targets(runs, bench.data, bench.storage, experiment.pool)
    todo = [first_attempt(spec, folder / POINTS / spec.id, key_of(bench, spec)) for spec in runs]
    before = [first_attempt(spec, folder / FIRST, key_of(first_bench, spec)) for spec in first]
    drop_stale(folder, (*todo, *before))
    if with_matrix:
        _drop_strangers(folder / POINTS, {spec.id for spec in runs})
    kept = ("ok",) if retry else ("ok", "failed")
    missing = tuple(one for one in todo if not finished(one, kept))
    complete = next((one for one in before if not finished(one, (*kept, "invalid"))), None)
    failed = tuple(record for one in (*before, *todo) if "failed" in kept and (record := _failure(one)))
    own_data = experiment.directory is None
    return Sweep(experiment, folder, bench, first_bench, own_data, missing, complete, len(runs), kept, failed)


def _check_placement(bench: Bench, runs: Sequence[PointSpec]) -> None:
    """Raises if the launcher cannot place the ranks of a run as requested."""
    check_ranks_per_node(runs, bench.launcher)
    for spec in runs:
        starter_words(spec, bench.builds[spec.built].starter, bench.launcher)


def _make_folders(experiment: Experiment, folder: Path, *benches: Bench) -> None:
    """Creates the folders of results and data, and writes the experiment beside the results; raises if another sweep
    uses them.
    """
    places = {bench.data: bench.storage for bench in benches}
    with alone(folder, *places):
        for place, storage in places.items():
            if storage.make:
                storage.make(place, experiment.configuration)
        for settings in benches[0].storage.settings(benches[0].data):
            write_aside(folder / settings.name, settings.read_text(encoding="utf-8"))
        write_aside(folder / "experiment.yaml", to_yaml(experiment))


def _bench_for(experiment: Experiment, folder: Path, storage: Backend, runs: Sequence[PointSpec]) -> Bench:
    """Returns the bench of some runs, after a check that their data has room."""
    workload = workload_of(experiment.program)
    data = data_folder(experiment, folder, storage, needed_bytes(experiment, workload, runs))
    check_space(room_for(experiment, workload, runs, data), data)
    return set_up(experiment, folder, data, {spec.built for spec in runs})


def finished(spec: PointSpec, kept: Sequence[str]) -> bool:
    """Returns True if the folder holds a run of exactly this setting with one of these statuses; any other run is
    repeated.

    A run whose timing must not be compared is still valid as the complete run, which is never compared.
    """
    record = read_record(spec.folder)
    return record is not None and record.key == spec.key and record.status in kept


def _failure(spec: PointSpec) -> RunRecord | None:
    """Returns the record of a failed run of exactly this setting in its folder; None if there is none."""
    return read_record(spec.folder) if finished(spec, ("failed",)) else None


def drop_stale(folder: Path, attempts: Sequence[PointSpec]) -> None:
    """Moves runs whose command, program or settings have changed since out of the comparison, and the confirming runs
    with them, because a comparison must not mix them with new runs.
    """
    known = {one.folder: read_record(one.folder) for one in attempts}
    stale = [one.folder for one in attempts if (record := known[one.folder]) and record.key != one.key]
    fresh = [path.parent for path in folder.glob(f"{CONFIRM}/*/*/{RECORD}")]
    for place in [*stale, *(fresh if any(one.name != FIRST for one in stale) else [])]:
        put_aside(place)


def _drop_strangers(folder: Path, known: set[str]) -> None:
    """Moves runs that this experiment no longer contains into `set-aside`; nothing is deleted."""
    for record in sorted(folder.glob("*/rep-*/run.json")):
        if str(record.parent.relative_to(folder)) not in known:
            aside = folder.parent / "set-aside" / record.parent.relative_to(folder)
            aside.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(aside, ignore_errors=True)
            record.replace(record.with_name("run-set-aside.json"))
            record.parent.replace(aside)


def _begun_before(experiment: Experiment, folder: Path) -> list[Run]:
    """Returns the repetitions that an earlier sweep added beyond those of the experiment."""
    return [
        Run(point, number)
        for point in points(experiment)
        for number in range(experiment.repetitions + 1, experiment.most_repetitions + 1)
        if (folder / "points" / Run(point, number).id / "run.json").exists()
    ]
