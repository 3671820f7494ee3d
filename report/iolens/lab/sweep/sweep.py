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

from iolens.lab.files import write_aside
from iolens.lab.run.execute import interruptible
from iolens.lab.run.record import RunRecord, read_record
from iolens.lab.sweep.asked import FIRST, Asked, asked_first, asked_of
from iolens.lab.sweep.bench import Bench, key_of, set_up
from iolens.lab.sweep.check import check_space, check_stripes, check_workload
from iolens.lab.sweep.experiment import Experiment, to_yaml
from iolens.lab.sweep.matrix import schedule
from iolens.lab.sweep.perform import perform
from iolens.lab.sweep.repeat import until_kept
from iolens.lab.sweep.watch import watched

Progress = Callable[[int, int, str, float], None]
"""Called after every run with done, total, a line about it, and the seconds that are likely left."""


@dataclass(frozen=True)
class Sweep:
    """A sweep that is set up: its folder, its bench, and the runs that are still to do."""

    experiment: Experiment
    folder: Path
    bench: Bench
    own_data: bool
    todo: tuple[Asked, ...]
    first: Asked | None
    total: int


def prepare(experiment: Experiment, folder: Path, with_matrix: bool = True) -> Sweep:
    """Check everything that can be checked beforehand, make the folders and find out what is missing.

    Without the matrix the complete run alone is left.
    """
    own_data = experiment.directory is None
    data = (experiment.directory or folder / "data") / (experiment.name if not own_data else "")
    bench = set_up(experiment, data)
    runs = [asked_of(experiment, run, bench.storage) for run in schedule(experiment)] if with_matrix else []
    first = asked_first(experiment) if experiment.first is not None else None
    wanted = [*runs, *([first] if first else [])]
    check_workload(experiment, bench.workload, wanted)
    check_space(experiment, bench.workload, wanted, data)
    check_stripes(experiment, data, bench.storage)
    folder.mkdir(parents=True, exist_ok=True)
    data.mkdir(parents=True, exist_ok=True)
    if bench.storage.make:
        bench.storage.make(data)
    write_aside(folder / "experiment.yaml", to_yaml(experiment))
    todo = tuple(asked for asked in runs if not finished(folder / "points" / asked.id, key_of(bench, asked)))
    if first and finished(folder / FIRST, key_of(bench, first), good=("ok", "invalid")):
        first = None
    if with_matrix:
        drop_strangers(folder / "points", {asked.id for asked in runs})
    return Sweep(experiment, folder, bench, own_data, todo, first, len(runs))


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


def run_sweep(sweep: Sweep, progress: Progress) -> list[dict[str, Any]]:
    """Do what is missing; returns the records of the runs that did not end well.

    SIGTERM is taken like Ctrl-C: the run under way is given up, finished ones are kept.
    """
    began = time.monotonic()
    done = sweep.total - len(sweep.todo)
    bad: list[dict[str, Any]] = []
    with interruptible():
        try:
            if sweep.first:
                progress(done, sweep.total, "complete run under way", 0)
                folder, words = sweep.folder / FIRST, sweep.first.arguments
                tell = partial(progress, done, sweep.total)
                with watched(folder / "stdout.txt", sweep.bench.workload, words, tell):
                    record = perform(sweep.bench, sweep.first, folder)
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
