"""Perform one run of a sweep: a fresh striped directory, the program under the profiler, and its record."""

from __future__ import annotations

import shutil
from pathlib import Path

from iolens.lab.run import mpi
from iolens.lab.run.execute import Setup, execute
from iolens.lab.run.record import RunRecord, write_record
from iolens.lab.storage.layout import Layout
from iolens.lab.sweep.asked import Asked
from iolens.lab.sweep.bench import Bench, key_of
from iolens.lab.sweep.collect import collect


def perform(bench: Bench, asked: Asked, folder: Path) -> RunRecord:
    """Perform one run into `folder` and write its run.json."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    job = asked.id.replace("/", "_")
    data = bench.data / job
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    try:
        if bench.storage.set_stripes and "stripe_count" in asked.requested:
            bench.storage.set_stripes(data, Layout(asked.requested["stripe_count"], asked.requested["stripe_size"]))
        key = key_of(bench, asked)
        setup = surroundings(bench, asked, job, folder)
        words = bench.workload.words(asked.arguments, folder, data, asked.hints)
        command = [bench.launcher, "-np", str(bench.experiment.ranks), str(bench.program), *words]
        outcome = execute(command, setup, folder / "stdout.txt", folder / "stderr.txt")
        health = bench.storage.health(bench.data, job)
    finally:
        shutil.rmtree(data, ignore_errors=True)
        bench.storage.end(bench.data, job)
    record = collect(bench, asked, folder, outcome, health, key)
    write_record(folder, record)
    return record


def surroundings(bench: Bench, asked: Asked, job: str, folder: Path) -> Setup:
    """Environment of launcher and application, without what an interrupted run of that name left in the storage."""
    bench.storage.end(bench.data, job)
    application = {**asked.environment, **bench.storage.environment(bench.data, job)}
    if bench.flavour == "openmpi":
        hint_file = folder / "hints.txt"
        hint_file.write_text("".join(f"{key} {value}\n" for key, value in asked.hints.items()), encoding="utf-8")
        application |= {"ROMIO_HINTS": str(hint_file), "ROMIO_PRINT_HINTS": "1"}
    component = mpi.component_of(bench.launcher, bench.experiment.io_component)
    return Setup(
        logs=folder,
        storage=bench.storage,
        application=application,
        launcher={**mpi.environment(bench.flavour, bench.experiment.ranks, component), **asked.environment},
    )
