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
from iolens.lab.run import mpi
from iolens.lab.run.execute import Outcome, Setup
from iolens.lab.run.record import RunRecord, write_record
from iolens.lab.storage.layout import Layout
from iolens.lab.sweep.define.classes import LUSTRE_LIKE
from iolens.lab.sweep.define.experiment import ROMIO
from iolens.lab.sweep.define.folders import FIRST, WARM_UP
from iolens.lab.sweep.define.keep import ALWAYS, NEVER, Keep, stays
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.perform.collect import collect
from iolens.lab.sweep.plan.bench import Bench
from iolens.lab.sweep.plan.repeat import next_attempt, put_aside
from iolens.lab.sweep.plan.starting import starter_words


def perform(
    bench: Bench, specs: Iterable[PointSpec], begun: Callable[[str], None] = lambda run: None
) -> Generator[RunRecord, None, None]:
    """Performs runs in the order in which the launcher ends them; yields the record of each after it was written. Calls
    `begun` with the name of each run that the launcher starts.

    A run whose timing must not be used is repeated at once, a few times. If the caller stops halfway, the files of runs
    under way are removed, unless the launcher continues with them.
    """
    waiting = deque(specs)
    under_way: dict[Path, PointSpec] = {}

    def prepared() -> Iterator[PointSpec]:
        while waiting:
            spec = waiting.popleft()
            under_way[spec.folder] = spec
            begun(spec.id)
            yield _prepare(bench, spec)

    try:
        while waiting:
            with closing(bench.launcher.run(prepared())) as ended:
                for started, outcome in ended:
                    record = _finish(bench, under_way[started.folder], outcome)
                    again = next_attempt(under_way.pop(started.folder), record)
                    if again:
                        waiting.appendleft(again)
                    else:
                        yield record
    finally:
        for folder, spec in under_way.items():
            if not bench.launcher.holds(folder):
                _clear(bench, spec)


def _prepare(bench: Bench, spec: PointSpec) -> PointSpec:
    """Returns the specification with its command for this machine.

    Creates the run's folders, empty and striped, and the files that the launcher needs, unless the launcher continues
    with the run. An earlier complete attempt is kept beside the run; an interrupted attempt is removed.
    """
    data, folder = bench.data / spec.job, spec.folder
    if not bench.launcher.holds(folder):
        put_aside(folder)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _clear(bench, spec)
        data.mkdir(parents=True)
        if bench.storage.set_stripes and "stripe_count" in spec.requested:
            count, size = spec.requested["stripe_count"], spec.requested["stripe_size"]
            layout = Layout(count, size, pool=bench.experiment.pool, object_size=spec.requested.get("object_size"))
            bench.storage.set_stripes(data, layout)
    build = bench.builds[spec.built]
    hints = {} if _hints_by_file_alone(bench, spec) else spec.hints
    asked_later = bench.storage.get_stripes is not None and bench.storage.make is None
    keep = _keep_of(bench, spec).data != NEVER or asked_later  # where the stripes lie is asked before the sweep clears
    words = bench.workload.words(spec.arguments, folder, data, hints, keep)
    return replace(
        spec,
        starter=starter_words(spec, build.starter, bench.launcher),
        words=(str(build.program), *words),
        setup=_surroundings(bench, spec),
        flavour=build.flavour,
    )


def _hints_by_file_alone(bench: Bench, spec: PointSpec) -> bool:
    """Returns True if ROMIO is Open MPI 5's. It loses every hint that a program passes, and then ignores the hint of
    that name in the file of hints.
    """
    if spec.io_component != ROMIO or LUSTRE_LIKE in spec.arguments:
        return False
    build = bench.builds[spec.built]
    return build.flavour == "openmpi" and mpi.has_romio_of_5(build.starter)


def _surroundings(bench: Bench, spec: PointSpec) -> Setup:
    """Returns the environment of launcher and application; Open MPI's ROMIO reads hints from a file and prints those in
    effect.
    """
    build = bench.builds[spec.built]
    application = {**spec.environment, **bench.storage.environment(bench.data, spec.job)}
    if spec.io_component == LUSTRE:
        application |= bench.storage.as_lustre or {}
    if build.flavour == "openmpi":
        hint_file = spec.folder / "hints.txt"
        hint_file.write_text("".join(f"{key} {value}\n" for key, value in spec.hints.items()), encoding="utf-8")
        application |= {"ROMIO_HINTS": str(hint_file), "ROMIO_PRINT_HINTS": "1"}
    return Setup(
        logs=spec.folder,
        storage=bench.storage,
        application=application,
        launcher={**build.settings, **spec.environment},
        timeout=bench.experiment.timeout,
    )


def _finish(bench: Bench, spec: PointSpec, outcome: Outcome) -> RunRecord:
    """Writes the run's record, and removes its data and all other files that are not kept."""
    keep, data = _keep_of(bench, spec), bench.data / spec.job
    record = collect(bench, spec, outcome, bench.storage.health(bench.data, spec.job))
    keeps_data = stays(keep.data, record.status)
    record = replace(
        record,
        storage={**record.storage, **({"data": str(data)} if keeps_data else {})},
        log=record.log if stays(keep.log, record.status) else None,
    )
    write_record(spec.folder, record)
    for pattern in _patterns_to_remove(keep, record.status):
        for path in list(spec.folder.glob(pattern)):
            path.unlink(missing_ok=True)
    if keeps_data:
        bench.storage.end(bench.data, spec.job)
    else:
        _clear(bench, spec)
    return record


def _keep_of(bench: Bench, spec: PointSpec) -> Keep:
    """Returns which parts of a run are kept; the complete run's log is always kept for its report, and the data of a
    warm-up never.
    """
    keep = bench.experiment.keep
    if spec.id == FIRST:
        return replace(keep, log=ALWAYS)
    return replace(keep, data=NEVER) if spec.id.startswith(f"{WARM_UP}/") else keep


def _clear(bench: Bench, spec: PointSpec) -> None:
    """Removes the run's data, and the storage's state of the job."""
    shutil.rmtree(bench.data / spec.job, ignore_errors=True)
    bench.storage.end(bench.data, spec.job)


_FILES: Mapping[str, Sequence[str]] = {"log": ("*.darshan",), "output": ("stdout.txt", "stderr.txt")}
"""The files of each part in a run's folder; data lies elsewhere."""


def _patterns_to_remove(keep: Keep, status: str) -> list[str]:
    """Returns the names of files in a run's folder that are not kept for a run with this status."""
    parts = [part for part in _FILES if not stays(getattr(keep, part), status)]
    return [pattern for part in parts for pattern in _FILES[part]]
