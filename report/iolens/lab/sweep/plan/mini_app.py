"""The mini-app of a log as the workload of a sweep: it is made and built once, in the folder of the results."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import iolens
from iolens.errors import IolensError, UsageError
from iolens.lab.files import write_aside
from iolens.lab.say import say
from iolens.lab.sweep.define.experiment import Experiment
from iolens.lab.sweep.define.experiment_file import load_experiment
from iolens.lab.sweep.plan.alone import alone
from iolens.lab.values import slug
from iolens.lab.workloads.build import build_complaint

if TYPE_CHECKING:
    from iolens.lab.mimic.mimic import MiniApp

_FOLDER, _STAMP, _MPICC = "mini-app", "log.sha256", "mpicc"


def with_mini_app(experiment: Experiment, results: Path) -> Experiment:
    """Returns the experiment with the program, arguments and ranks of its log's mini-app; unchanged without a log."""
    if experiment.log is None:
        return experiment
    own = _mini_app_experiment(Path(experiment.log), results / experiment.name)
    return replace(
        experiment, log=None, program=own.program, arguments=own.arguments, ranks=own.ranks, volume=own.volume
    )


def experiment_of_log(log: Path, results: Path) -> Experiment:
    """Returns an experiment named after the log, with the matrix that suits its mini-app."""
    name = slug(log.stem)
    if not name:
        raise UsageError(f"{log} is not the path of a log; name a file that ends in .darshan")
    return replace(_mini_app_experiment(log, results / name), name=name)


def _mini_app_experiment(log: Path, folder: Path) -> Experiment:
    """Returns the experiment of a log's mini-app, which is made below `folder` unless it is there already."""
    place = folder / _FOLDER
    try:
        stamp = f"{hashlib.sha256(log.read_bytes()).hexdigest()} {iolens.__version__}\n"
    except OSError as error:
        raise UsageError(f"{log}: {error.strerror}; give a log that was recorded with iolens run --dxt") from error
    if not (place / _STAMP).exists() or (place / _STAMP).read_text(encoding="utf-8") != stamp:
        _make_mini_app(log, place)
        write_aside(place / _STAMP, stamp)
    return load_experiment(place / "experiment.yaml")


def _make_mini_app(log: Path, place: Path) -> None:
    """Makes the mini-app; raises IolensError if the log does not hold its calls, or if there is no compiler."""
    from iolens.lab.mimic.mimic import mimic
    from iolens.log import read_log

    if shutil.which(_MPICC) is None:
        raise IolensError(f"{_MPICC} was not found, which compiles the mini-app of {log}; load your MPI's module")
    app = mimic(read_log(log))
    with alone(place.parent):
        _build(app, log, place)


def _build(app: MiniApp, log: Path, place: Path) -> None:
    """Writes the files of a mini-app and compiles it; raises IolensError with the compiler's first complaint."""
    from iolens.lab.mimic.mimic import write_program

    say(f"building the mini-app of {log} in {place}: {app.steps} steps for {app.calls} calls")
    write_program(app, place)
    words = [_MPICC, "-O2", "-o", "mimic.new", "mimic.c", "-ldl"]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise IolensError(f"{_MPICC} could not build {place / 'mimic.c'}: {build_complaint(done.stderr)}")
    os.replace(place / "mimic.new", place / "mimic")
