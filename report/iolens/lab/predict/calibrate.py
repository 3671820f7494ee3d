"""Fits the model of storage to a file system by a few IOR runs, each of which shows one property of the file system."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iolens.errors import IolensError
from iolens.lab.installation import find_program
from iolens.lab.predict.fit import Fit, FitRun, fit
from iolens.lab.predict.model import StorageModel
from iolens.lab.predict.predict import recorded_times, values_for_run
from iolens.lab.predict.recorded import Recorded, read_recorded
from iolens.lab.predict.replay import ReplayPlan, steps_of
from iolens.lab.predict.settings import ChangedSettings, predicted_layouts
from iolens.lab.run.execute import execute
from iolens.lab.run.mpi_launch import mpi
from iolens.lab.run.preload import Setup
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import backend_at
from iolens.lab.storage.layout import Layout
from iolens.log import read_log

_SMALL = 4096
"""Size in bytes of a request whose transfer time is negligible."""

_OPERATIONS = 200
"""Number of small requests in a run."""

_MIB = 2**20

_OBJECT = 128 * _MIB
"""Largest object in bytes of a storage that divides files into objects: Ceph's default limit, osd_max_object_size."""


@dataclass(frozen=True)
class CalibrationRun:
    """An IOR run: the property that it shows, its ranks and stripes (0: every target), its arguments, and True if the
    model is fitted to it. The other runs are predicted, to check the model.
    """

    shows: str
    ranks: int
    stripes: int
    arguments: tuple[str, ...]
    fitted: bool = True


def runs(size: int, stripe: int) -> tuple[CalibrationRun, ...]:
    """Returns the runs; large ones write `size` bytes, stripes have `stripe` bytes. All runs flush before they end, so
    that data in a client's memory does not count as stored.
    """
    block, small = str(size), str(_SMALL)
    many = str(_SMALL * _OPERATIONS)
    shared = max(1, size // 4 // stripe)
    return (
        CalibrationRun("bandwidth of a target", 1, 1, ("-b", block, "-t", str(4 * stripe), "-e")),
        CalibrationRun("bandwidth of a client's link", 1, 0, ("-b", block, "-t", str(4 * stripe), "-e")),
        CalibrationRun("time of a request", 1, 1, ("-b", many, "-t", small, "-z", "-Y")),
        CalibrationRun("requests in flight", 1, 1, ("-b", many, "-t", small, "-z", "-e")),
        CalibrationRun(
            "locks that change hands", 2, 1, ("-b", str(stripe // 4), "-t", str(stripe // 4), "-s", "32", "-e")
        ),
        CalibrationRun(
            "shared file, 4 ranks", 4, 4, ("-b", str(stripe), "-t", str(stripe), "-s", str(shared), "-e"), fitted=False
        ),
        CalibrationRun(
            "file per process", 4, 1, ("-F", "-b", str(stripe * shared), "-t", str(stripe), "-e"), fitted=False
        ),
    )


@dataclass(frozen=True)
class Calibration:
    """The fitted model, and its error on runs to which it was not fitted: predicted over measured, minus 1."""

    fit: Fit
    held_out: dict[str, float]

    @property
    def errors(self) -> list[float]:
        """Returns the model's errors in all runs, fitted or not, in order of size."""
        return sorted(abs(error) for error in {**self.fit.errors, **self.held_out}.values())

    @property
    def largest(self) -> float:
        """Returns the largest error of the fitted runs."""
        return self.errors[-1]


def calibrate(
    directory: Path, start: StorageModel, size: int, repeat: int, folder: Path, say: Callable[[str], None]
) -> Calibration:
    """Runs IOR and fits the model. The fastest of `repeat` runs counts, since other users only add time; logs
    are kept in `folder`. Storage without stripes is treated as one target. Raises if a run fails.

    If files are divided into objects, a stripe of a large run is one object, so that it stays on one target.
    """
    backend = backend_at(directory)
    if backend.set_stripes is None:
        start = replace(start, values={**start.values, "targets": 1})
    targets, stripe = int(start.values["targets"]), int(start.values["stripe_size"])
    whole = _OBJECT // stripe * stripe if backend.objects else None
    fitted: list[FitRun] = []
    others: list[FitRun] = []
    for run in runs(min(size, whole or size), stripe):
        layout = Layout(min(run.stripes or targets, targets), stripe, object_size=whole)
        tries = [one_run(run, layout, directory, backend, folder) for _ in range(repeat)]
        best = min(tries, key=lambda recorded: recorded_times(recorded).io)
        trial = _trial_of(run.shows, best, start)
        (fitted if run.fitted else others).append(trial)
        say(f"{run.shows}: {trial.measured:.3f} s in I/O")
    found = fit(fitted, start)
    return Calibration(found, _errors_of(others, found.model))


def _trial_of(name: str, recorded: Recorded, model: StorageModel) -> FitRun:
    """Returns a recorded run as input of the fit, at its own settings."""
    plan = ReplayPlan(
        ChangedSettings(), predicted_layouts(recorded, ChangedSettings(), int(model.values["targets"])), None
    )
    own = values_for_run(model, recorded)["ranks_per_client"]
    ranks = None if recorded.emulated else int(own)
    return FitRun(name, steps_of(recorded, plan), recorded_times(recorded).io, ranks)


def _errors_of(trials: Sequence[FitRun], model: StorageModel) -> dict[str, float]:
    """Returns predicted over measured, minus 1, for each run."""
    import tempfile

    from iolens.lab.predict.fit import seconds

    with tempfile.TemporaryDirectory() as name:
        return {trial.name: seconds(trial, model.values, Path(name)) / trial.measured - 1 for trial in trials}


def one_run(run: CalibrationRun, layout: Layout, directory: Path, backend: Backend, folder: Path) -> Recorded:
    """Runs IOR, traced, on new files with this layout; raises if the run failed or must not be compared."""
    place = directory / f"iolens-calibrate-{uuid.uuid4().hex[:8]}"
    place.mkdir()
    try:
        if backend.set_stripes is not None:
            backend.set_stripes(place, layout)
        if backend.spread is not None:
            names = [f"data.{rank:08d}" for rank in range(run.ranks)] if "-F" in run.arguments else ["data"]
            backend.spread(place, names, layout)
        job = f"job-{uuid.uuid4().hex[:12]}"
        program = find_program("ior")
        flavour = mpi.flavour_of_program(program)
        starter = mpi.find_launcher(flavour)
        words = [starter, "-np", str(run.ranks), str(program), "-a", "POSIX", "-w", "-E", *run.arguments]
        words += ["-o", str(place / "data")]
        application = {"DXT_ENABLE_IO_TRACE": "1", **backend.environment(directory, job)}
        launcher = mpi.environment(flavour, ranks=run.ranks, io_component=None, launcher=starter)
        logs = folder / job
        logs.mkdir(parents=True)
        setup = Setup("iolens", logs, backend, application, launcher)
        outcome = execute(words, setup, logs / "stdout.txt", logs / "stderr.txt")
        health = backend.health(directory, job)
        backend.end(directory, job)
        if outcome.exit_code != 0 or not outcome.logs:
            raise IolensError(f"the run for {run.shows} failed; its output is in {logs}")
        if health.valid is False:
            raise IolensError(f"the run for {run.shows} cannot be used: {health.reason}")
        return read_recorded(read_log(outcome.logs[0]), layout)
    finally:
        shutil.rmtree(place, ignore_errors=True)
