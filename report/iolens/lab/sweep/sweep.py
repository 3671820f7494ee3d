"""Run an experiment's matrix on this machine: validated first, resumed where it stopped, one run at a time."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from iolens.errors import IolensError, UsageError
from iolens.lab.files import write_aside
from iolens.lab.run.execute import interruptible
from iolens.lab.run.record import RunRecord, read_record
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import existing
from iolens.lab.storage.mounts import file_system
from iolens.lab.sweep.classes import data_bytes, time_steps
from iolens.lab.sweep.experiment import Experiment, to_yaml
from iolens.lab.sweep.matrix import Run, schedule
from iolens.lab.sweep.perform import Bench, arguments_of, key_of, perform, perform_first, set_up
from iolens.lab.sweep.repeat import until_kept
from iolens.lab.sweep.watch import watched

MARGIN = 1.05
"""Free space wanted, relative to the data of one run."""

Progress = Callable[[int, int, str, float], None]
"""Called after every run with done, total, a line about it, and the seconds that are likely left."""


@dataclass(frozen=True)
class Sweep:
    """A sweep that is set up: its folder, its bench, and the runs that are still to do."""

    experiment: Experiment
    folder: Path
    bench: Bench
    own_data: bool
    todo: tuple[Run, ...]
    first_todo: bool
    total: int


def prepare(experiment: Experiment, folder: Path, with_matrix: bool = True) -> Sweep:
    """Check everything that can be checked beforehand, make the folders and find out what is missing.

    Without the matrix the complete run alone is left.
    """
    own_data = experiment.directory is None
    data = (experiment.directory or folder / "data") / (experiment.name if not own_data else "")
    check_space(experiment, data)
    bench = set_up(experiment, data)
    check_stripes(experiment, data, bench.storage)
    folder.mkdir(parents=True, exist_ok=True)
    data.mkdir(parents=True, exist_ok=True)
    if bench.storage.make:
        bench.storage.make(data)
    write_aside(folder / "experiment.yaml", to_yaml(experiment))
    runs = schedule(experiment) if with_matrix else []
    todo = tuple(
        run for run in runs if not finished(folder / "points" / run.id, key_of(bench, run, arguments_of(bench, run)))
    )
    first_todo = experiment.first is not None and not finished(
        folder / "first", key_of(bench, None, experiment.first), good=("ok", "invalid")
    )
    if with_matrix:
        drop_strangers(folder / "points", {run.id for run in runs})
    return Sweep(experiment, folder, bench, own_data, todo, first_todo, len(runs))


def finished(folder: Path, key: str, good: Sequence[str] = ("ok",)) -> bool:
    """True when this folder holds a good run of exactly this setting; other runs are run again.

    A run whose timing must not be compared is still good as a complete run, which is compared with nothing.
    """
    record = read_record(folder)
    return record is not None and record.get("key") == key and record.get("status") in good


def drop_strangers(folder: Path, known: set[str]) -> None:
    """Move runs that this experiment no longer has out of the comparison, into `set-aside`; nothing is deleted."""
    for record in sorted(folder.glob("*/rep-*/run.json")):
        if str(record.parent.relative_to(folder)) not in known:
            aside = folder.parent / "set-aside" / record.parent.relative_to(folder)
            aside.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(aside, ignore_errors=True)
            record.replace(record.with_name("run-set-aside.json"))
            record.parent.replace(aside)


def check_stripes(experiment: Experiment, data: Path, storage: Backend) -> None:
    """Storage without stripes cannot vary them."""
    if storage.set_stripes is None and {"stripe_count", "stripe_size"} & set(experiment.matrix):
        kind, mount = file_system(existing(data))
        raise UsageError(
            f"{data} is on {kind} (mounted at {mount}), which has no stripes to vary: "
            "leave stripe_count out of the matrix, or set storage.kind to emulated"
        )


def check_space(experiment: Experiment, data: Path) -> None:
    """Raise when the largest run's data does not fit; says how much is needed, and where."""
    volumes = [experiment.volume, *(data_bytes(words) for words in (experiment.arguments, experiment.first or ()))]
    needed = int(max((volume for volume in volumes if volume), default=0) * MARGIN)
    place = existing(data)
    free = shutil.disk_usage(place).free
    if needed > free:
        raise IolensError(
            f"one run writes {needed / 1e9:.2f} GB below {place}, where {free / 1e9:.2f} GB are free; "
            "make room, or choose another folder with DIR= (storage.directory)"
        )


def run_sweep(sweep: Sweep, progress: Progress) -> list[dict[str, Any]]:
    """Do what is missing; returns the records of the runs that did not end well.

    SIGTERM is taken like Ctrl-C: the run under way is given up, finished ones are kept.
    """
    began = time.monotonic()
    done = sweep.total - len(sweep.todo)
    bad: list[dict[str, Any]] = []
    with interruptible():
        try:
            if sweep.first_todo:
                progress(done, sweep.total, "complete run under way", 0)
                folder, steps = sweep.folder / "first", time_steps(sweep.experiment.first or ())
                with watched(folder / "stdout.txt", steps, partial(progress, done, sweep.total)):
                    record = perform_first(sweep.bench, folder)
                progress(done, sweep.total, f"complete run: {record.status}", 0)
                bad += [vars(record)] if record.status != "ok" else []
                began = time.monotonic()
            for count, run in enumerate(sweep.todo, 1):
                place = sweep.folder / "points" / run.id
                record = until_kept(partial(perform, sweep.bench, run, place), place)
                bad += [vars(record)] if record.status != "ok" else []
                left = (time.monotonic() - began) / count * (len(sweep.todo) - count)
                progress(done + count, sweep.total, f"{run.id}: {record.reason or 'ok'}{lost_text(record)}", left)
        finally:
            if sweep.own_data:
                shutil.rmtree(sweep.bench.data, ignore_errors=True)
    return bad


def lost_text(record: RunRecord) -> str:
    """How often a run was repeated because its timing could not be used."""
    return f" ({len(record.lost)} lost before)" if record.lost else ""


def plain_progress(done: int, total: int, line: str, left: float) -> None:
    """One line per run, for logs and pipes."""
    print((f"[{done}/{total}] " if total else "") + line + (f" (about {left:.0f} s left)" if left else ""), flush=True)


@contextmanager
def progress_bar(total: int, done: int) -> Iterator[Progress]:
    """A progress bar with an estimate of the time left on a terminal, else one line per run."""
    if not sys.stdout.isatty():
        yield plain_progress
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}"),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("", total=total, completed=done, left="")

        def show(count: int, _: int, line: str, left: float) -> None:
            bar.update(task, completed=count, description=line, left=f"{left:.0f} s left" if left else "")

        yield show
