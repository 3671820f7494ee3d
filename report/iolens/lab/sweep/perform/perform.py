"""Perform the runs of a sweep: each in a new striped directory, with the program under the profiler, and write
its record.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from iolens.lab.io_components import LUSTRE
from iolens.lab.launchers.launcher import Task
from iolens.lab.run import mpi
from iolens.lab.run.execute import Outcome, Setup
from iolens.lab.run.record import RunRecord, write_record
from iolens.lab.storage.layout import Layout
from iolens.lab.sweep.define.asked import Asked
from iolens.lab.sweep.define.classes import LUSTRE_LIKE
from iolens.lab.sweep.define.experiment import ROMIO
from iolens.lab.sweep.define.folders import FIRST, WARM_UP
from iolens.lab.sweep.define.keep import ALWAYS, NEVER, Keep, stays
from iolens.lab.sweep.perform.collect import collect
from iolens.lab.sweep.plan.bench import Bench
from iolens.lab.sweep.plan.repeat import Attempt, next_attempt, put_aside, with_history
from iolens.lab.sweep.plan.starting import starter_words


def perform(
    bench: Bench, attempts: Iterable[Attempt], begun: Callable[[str], None] = lambda run: None
) -> Generator[RunRecord, None, None]:
    """Performs runs in the order in which the launcher ends them; yields the record of each after it was written. Calls
    `begun` with the name of each run that the launcher starts.

    A run whose timing must not be used is repeated at once, a few times. If the caller stops halfway, the files of runs
    under way are removed, unless the launcher continues with them.
    """
    waiting = deque(attempts)
    under_way: dict[Path, Attempt] = {}

    def tasks() -> Iterator[Task]:
        while waiting:
            attempt = waiting.popleft()
            under_way[attempt.folder] = attempt
            begun(attempt.asked.id)
            yield _prepare(bench, attempt.asked, attempt.folder)

    try:
        while waiting:
            with closing(bench.launcher.run(tasks())) as ended:
                for task, outcome in ended:
                    record = _finish(bench, under_way[task.folder], outcome)
                    again = next_attempt(under_way.pop(task.folder), record)
                    if again:
                        waiting.appendleft(again)
                    else:
                        yield record
    finally:
        for folder, attempt in under_way.items():
            if not bench.launcher.holds(folder):
                _clear(bench, attempt.asked)


def _prepare(bench: Bench, asked: Asked, folder: Path) -> Task:
    """Creates the run's folders, empty and striped, and the files that the launcher needs, unless the launcher
    continues with the run. An earlier complete attempt is kept beside the run; an interrupted attempt is removed.
    """
    data = bench.data / asked.job
    if not bench.launcher.holds(folder):
        put_aside(folder)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _clear(bench, asked)
        data.mkdir(parents=True)
        if bench.storage.set_stripes and "stripe_count" in asked.requested:
            count, size = asked.requested["stripe_count"], asked.requested["stripe_size"]
            bench.storage.set_stripes(data, Layout(count, size, pool=bench.experiment.pool))
    build = bench.builds[asked.built]
    hints = {} if _hints_by_file_alone(bench, asked) else asked.hints
    words = bench.workload.words(asked.arguments, folder, data, hints, _keep_of(bench, asked).data != NEVER)
    return Task(
        folder=folder,
        starter=starter_words(asked, build.starter, bench.launcher),
        ranks=asked.ranks,
        words=(str(build.program), *words),
        setup=_surroundings(bench, asked, folder),
        flavour=build.flavour,
        io_component=asked.io_component,
        options=asked.options,
    )


def _hints_by_file_alone(bench: Bench, asked: Asked) -> bool:
    """Returns True if ROMIO is Open MPI 5's. It loses every hint that a program passes, and then ignores the hint of
    that name in the file of hints.
    """
    if asked.io_component != ROMIO or LUSTRE_LIKE in asked.arguments:
        return False
    build = bench.builds[asked.built]
    return build.flavour == "openmpi" and mpi.has_romio_of_5(build.starter)


def _surroundings(bench: Bench, asked: Asked, folder: Path) -> Setup:
    """Returns the environment of launcher and application; Open MPI's ROMIO reads hints from a file and prints those in
    effect.
    """
    build = bench.builds[asked.built]
    application = {**asked.environment, **bench.storage.environment(bench.data, asked.job)}
    if asked.io_component == LUSTRE:
        application |= bench.storage.as_lustre or {}
    if build.flavour == "openmpi":
        hint_file = folder / "hints.txt"
        hint_file.write_text("".join(f"{key} {value}\n" for key, value in asked.hints.items()), encoding="utf-8")
        application |= {"ROMIO_HINTS": str(hint_file), "ROMIO_PRINT_HINTS": "1"}
    return Setup(
        logs=folder,
        storage=bench.storage,
        application=application,
        launcher={**build.settings, **asked.environment},
        timeout=bench.experiment.timeout,
    )


def _finish(bench: Bench, attempt: Attempt, outcome: Outcome) -> RunRecord:
    """Writes the run's record, and removes its data and all other files that are not kept."""
    keep = _keep_of(bench, attempt.asked)
    health = bench.storage.health(bench.data, attempt.asked.job)
    record = with_history(collect(bench, attempt.asked, attempt.folder, outcome, health, attempt.key), attempt)
    record = recorded(record, keep, bench.data / attempt.asked.job)
    write_record(attempt.folder, record)
    remove_rest(attempt.folder, keep, record.status)
    if stays(keep.data, record.status):
        bench.storage.end(bench.data, attempt.asked.job)
    else:
        _clear(bench, attempt.asked)
    return record


def _keep_of(bench: Bench, asked: Asked) -> Keep:
    """Returns which parts of a run are kept; the complete run's log is always kept for its report, and the data of a
    warm-up never.
    """
    keep = bench.experiment.keep
    if asked.id == FIRST:
        return replace(keep, log=ALWAYS)
    return replace(keep, data=NEVER) if asked.id.startswith(f"{WARM_UP}/") else keep


def _clear(bench: Bench, asked: Asked) -> None:
    """Removes the run's data, and the storage's state of the job."""
    shutil.rmtree(bench.data / asked.job, ignore_errors=True)
    bench.storage.end(bench.data, asked.job)


_FILES: Mapping[str, Sequence[str]] = {"log": ("*.darshan",), "output": ("stdout.txt", "stderr.txt")}
"""The files of each part in a run's folder; data lies elsewhere."""


def recorded(record: RunRecord, keep: Keep, data: Path) -> RunRecord:
    """Returns the record with the place of kept `data`, and without a log that is removed."""
    kept = {"data": str(data)} if stays(keep.data, record.status) else {}
    log = record.log if stays(keep.log, record.status) else None
    return replace(record, storage={**record.storage, **kept}, log=log)


def remove_rest(folder: Path, keep: Keep, status: str) -> None:
    """Removes the files of a run's folder that are not kept."""
    for part, patterns in _FILES.items():
        if not stays(getattr(keep, part), status):
            for path in [path for pattern in patterns for path in folder.glob(pattern)]:
                path.unlink(missing_ok=True)
