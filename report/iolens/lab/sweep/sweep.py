"""Run what is missing of a sweep; finished runs are kept, and an interrupted sweep goes on where it stopped."""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from iolens.lab.run.execute import interruptible
from iolens.lab.run.record import RunRecord
from iolens.lab.sweep.asked import asked_of
from iolens.lab.sweep.bench import key_of
from iolens.lab.sweep.confirm import confirming
from iolens.lab.sweep.perform import perform
from iolens.lab.sweep.prepare import Sweep, finished
from iolens.lab.sweep.progress import Progress
from iolens.lab.sweep.repeat import first_attempt
from iolens.lab.sweep.results import CONFIRM
from iolens.lab.sweep.running_table import write_runs
from iolens.lab.sweep.watch import watched


def run_sweep(sweep: Sweep, progress: Progress) -> list[dict[str, Any]]:
    """Do what is missing; returns the records of the runs that did not end well.

    SIGTERM is taken like Ctrl-C: the run under way is given up, finished ones are kept.
    """
    records: list[RunRecord] = []
    with interruptible():
        try:
            records += run_first(sweep, progress)
            records += run_matrix(sweep, progress)
            records += run_fresh(sweep, progress)
        finally:
            if sweep.own_data and not any(map(sweep.bench.launcher.holds, sweep.run_folders)):
                shutil.rmtree(sweep.bench.data, ignore_errors=True)
    return [vars(record) for record in records if record.status != "ok"]


def run_first(sweep: Sweep, progress: Progress) -> list[RunRecord]:
    """The complete run, if it is still to do, with its steps shown."""
    if sweep.first is None:
        return []
    tell = partial(progress, sweep.total - len(sweep.todo), sweep.total)
    tell("complete run under way", 0)
    with watched(sweep.first.folder / "stdout.txt", sweep.bench.workload, sweep.first.asked.arguments, tell):
        records = list(perform(sweep.bench, [sweep.first]))
    tell(f"complete run: {records[0].status}", 0)
    return records


def run_matrix(sweep: Sweep, progress: Progress) -> list[RunRecord]:
    """What is missing of the matrix."""
    began, done = time.monotonic(), sweep.total - len(sweep.todo)
    records: list[RunRecord] = []
    with closing(perform(sweep.bench, sweep.todo)) as performed:
        for record in performed:
            records.append(record)
            write_runs(sweep.folder)
            left = (time.monotonic() - began) / len(records) * (len(sweep.todo) - len(records))
            line = f"{record.id}: {record.reason or 'ok'}{lost_text(record)}"
            progress(done + len(records), sweep.total, line, left)
    return records


def run_fresh(sweep: Sweep, progress: Progress) -> list[RunRecord]:
    """The fresh runs that are missing; they go through every room that those of the matrix go through."""
    attempts = []
    for run in confirming(sweep.experiment, sweep.folder) if sweep.total else []:
        asked = asked_of(sweep.experiment, run, sweep.bench.storage)
        key, folder = key_of(sweep.bench, asked), sweep.folder / CONFIRM / asked.id
        attempts.append(first_attempt(replace(asked, id=f"{CONFIRM}/{asked.id}"), folder, key))
    records: list[RunRecord] = []
    with closing(perform(sweep.bench, [one for one in attempts if not finished(one)])) as performed:
        for record in performed:
            records.append(record)
            write_runs(sweep.folder)
            progress(sweep.total, sweep.total, f"{record.id}: {record.reason or 'ok'}{lost_text(record)}", 0)
    return records


def lost_text(record: RunRecord) -> str:
    """How often a run was repeated because its timing could not be used."""
    return f" ({len(record.lost)} lost before)" if record.lost else ""
