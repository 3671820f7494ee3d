"""Sets up a sweep: checks everything that can be checked, creates its folders, and finds out which runs are missing."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iolens.lab.files import write_aside
from iolens.lab.launchers.launcher import Launcher
from iolens.lab.launchers.launchers import LAUNCHERS
from iolens.lab.run.mpi_launch.lustre_driver import Build
from iolens.lab.run.record import RECORD, RunRecord, read_record
from iolens.lab.storage.backend import Backend
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.experiment_file import to_yaml
from iolens.lab.sweep.define.folders import CONFIRM, FIRST, POINTS, WARM_UP
from iolens.lab.sweep.define.matrix import Run, matrix_points, schedule
from iolens.lab.sweep.define.spec import Built, PointSpec, spec_of
from iolens.lab.sweep.plan.alone import alone
from iolens.lab.sweep.plan.builds import builds_of, key_of, with_command
from iolens.lab.sweep.plan.repeat import ATTEMPT, first_attempt, put_aside
from iolens.lab.sweep.plan.specify import (
    check_space,
    check_targets,
    room_for,
    specify,
)
from iolens.lab.workloads.workload import Workload


@dataclass(frozen=True)
class Sweep:
    """A sweep that is set up: the folder of its results, its storage, the folders `mounts` below which the data of the
    matrix and of the complete run goes, the builds of its program, and the runs that are missing. Runs with a status in
    `kept` are not repeated; `failed` are the records of kept runs that failed.
    """

    experiment: Experiment
    folder: Path
    storage: Backend
    mounts: tuple[Path, ...]
    builds: Mapping[Built, Build]
    kept: tuple[str, ...]
    total: int
    todo: tuple[PointSpec, ...] = ()
    first: PointSpec | None = None
    failed: tuple[RunRecord, ...] = ()

    @property
    def launcher(self) -> Launcher:
        """Returns the launcher of all runs."""
        return LAUNCHERS[self.experiment.launcher]

    @property
    def workload(self) -> Workload:
        """Returns the description of the program."""
        return self.experiment.workload

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
    wanted = [*schedule(experiment), *_begun_before(experiment, folder)] if with_matrix else []
    storage, runs, first = specify(experiment, folder, wanted)
    for some in (runs, first):
        check_space(room_for(some), some[0].mount if some else folder)
    builds = builds_of(experiment, storage, folder, [*runs, *first])
    kept = ("ok",) if retry else ("ok", "failed")
    mounts = tuple(dict.fromkeys(spec.mount for spec in (*runs, *first)))
    sweep = Sweep(experiment, folder, storage, mounts, builds, kept, len(runs))
    runs, first = ([_with_build(sweep, spec) for spec in some] for some in (runs, first))
    _make_folders(sweep)
    if storage.make:
        check_targets(runs, mounts[0], storage, experiment.pool)
    todo, before = ([first_attempt(spec, _key(sweep, spec)) for spec in some] for some in (runs, first))
    drop_stale(folder, (*todo, *before))
    if with_matrix:
        _drop_strangers(folder / POINTS, {spec.id for spec in runs})
    return replace(
        sweep,
        todo=tuple(one for one in todo if not finished(one, kept)),
        first=next((one for one in before if not finished(one, (*kept, "invalid"))), None),
        failed=tuple(record for one in (*before, *todo) if "failed" in kept and (record := _failure(one))),
    )


def attempt_at(sweep: Sweep, run: Run, part: str = "") -> PointSpec:
    """Returns the first attempt at one more run of the matrix, or of another `part` of the sweep, such as the
    confirmation of the best setting.
    """
    spec = spec_of(sweep.experiment, run, sweep.storage)
    return placed(sweep, replace(spec, id=f"{part}/{spec.id}" if part else spec.id))


def placed(sweep: Sweep, spec: PointSpec) -> PointSpec:
    """Returns the first attempt at a further run, in the folder that its name gives it."""
    spec = _with_build(sweep, replace(spec, folder=sweep.folder / spec.place, mount=sweep.mounts[0]))
    return first_attempt(spec, _key(sweep, spec))


def _with_build(sweep: Sweep, spec: PointSpec) -> PointSpec:
    """Returns the specification with its build and its command."""
    return with_command(sweep.experiment, sweep.storage, replace(spec, build=sweep.builds[spec.built]))


def _key(sweep: Sweep, spec: PointSpec) -> str:
    """Returns the key of everything that decides the outcome of a run."""
    return key_of(sweep.experiment, sweep.storage, spec)


def _make_folders(sweep: Sweep) -> None:
    """Creates the folders of results and data, and writes the experiment beside the results; raises if another sweep
    uses them.
    """
    with alone(sweep.folder, *sweep.mounts):
        for place in sweep.mounts:
            if sweep.storage.make:
                sweep.storage.make(place, sweep.experiment.configuration)
        for settings in sweep.storage.settings(sweep.mounts[0]):
            write_aside(sweep.folder / settings.name, settings.read_text(encoding="utf-8"))
        write_aside(sweep.folder / "experiment.yaml", to_yaml(sweep.experiment))


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
    """Moves runs out of the comparison if their command, program or settings have changed since, because a comparison
    must not mix old and new runs. The confirming runs move with them.
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
        for point in matrix_points(experiment)
        for number in range(experiment.repetitions + 1, experiment.most_repetitions + 1)
        if (folder / "points" / Run(point, number).id / "run.json").exists()
    ]
