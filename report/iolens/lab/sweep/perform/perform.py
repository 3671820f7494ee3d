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

from iolens.lab.files import State
from iolens.lab.given_hints import hints_for_all_files
from iolens.lab.io_components import LUSTRE
from iolens.lab.run.execute import Outcome
from iolens.lab.run.preload import Setup
from iolens.lab.run.record import RunRecord, write_record
from iolens.lab.storage.layout import Layout
from iolens.lab.sweep.define.experiment import APART, Experiment
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.perform.collect import collect_results
from iolens.lab.sweep.perform.inputs import lay_out, states, touched
from iolens.lab.sweep.plan.prepare import Sweep
from iolens.lab.sweep.plan.repeat import next_attempt, put_aside
from iolens.lab.workloads.foreign import FOREIGN


def perform(
    sweep: Sweep, specs: Iterable[PointSpec], begun: Callable[[str], None] = lambda run: None
) -> Generator[RunRecord, None, None]:
    """Performs runs in the order in which the launcher ends them; yields the record of each after it was written. Calls
    `begun` with the name of each run that the launcher starts.

    A run whose timing must not be used is repeated at once, a few times. If the caller stops halfway, the files of runs
    under way are removed, unless the launcher continues with them.
    """
    waiting = deque(specs)
    under_way: dict[Path, PointSpec] = {}
    before: dict[Path, State] = {}

    def prepared() -> Iterator[PointSpec]:
        while waiting:
            spec = waiting.popleft()
            under_way[spec.folder] = spec
            before[spec.folder] = _own_files(sweep)
            begun(spec.id)
            yield _prepare(sweep, spec)

    try:
        while waiting:
            with closing(sweep.launcher.run(prepared())) as ended:
                for started, outcome in ended:
                    outcome = _unless_touched(sweep, outcome, before.pop(started.folder))
                    record = _finish_run(sweep, under_way[started.folder], outcome)
                    again = next_attempt(under_way.pop(started.folder), record)
                    if again:
                        waiting.appendleft(again)
                    else:
                        yield record
    finally:
        for folder, spec in under_way.items():
            if not sweep.launcher.holds(folder):
                _clear(sweep, spec)


def _prepare(sweep: Sweep, spec: PointSpec) -> PointSpec:
    """Returns the specification with its surroundings on this machine.

    Creates the run's folders, empty and striped, and the files that the launcher needs, unless the launcher continues
    with the run. An earlier complete attempt is kept beside the run; an interrupted attempt is removed.
    """
    data, folder = spec.data, spec.folder
    if not sweep.launcher.holds(folder):
        put_aside(folder)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _clear(sweep, spec)
        data.mkdir(parents=True)
        if sweep.storage.set_stripes and "stripe_count" in spec.requested:
            count, size = spec.requested["stripe_count"], spec.requested["stripe_size"]
            layout = Layout(count, size, pool=sweep.experiment.pool, object_size=spec.requested.get("object_size"))
            sweep.storage.set_stripes(data, layout)
        _lay_out_inputs(sweep, spec)
    return replace(spec, setup=_surroundings(sweep, spec))


def _lay_out_inputs(sweep: Sweep, spec: PointSpec) -> None:
    """Makes the program's files available in a working folder of the run's own, after its stripes were set."""
    experiment = sweep.experiment
    if experiment.working_folder == APART and experiment.inputs is not None:
        own = [folder.absolute() for folder in (sweep.folder, *sweep.mounts)]
        without = [place for folder in own for place in (folder, folder.parent)]
        lay_out(experiment.inputs, spec.data, experiment.outputs, experiment.copy, without)


def _special(experiment: Experiment) -> tuple[str, ...]:
    return (*experiment.outputs, *experiment.copy) if experiment.working_folder == APART else ()


def _own_files(sweep: Sweep) -> State:
    """Returns the state of the user's own files, for which each run has its own."""
    inputs = sweep.experiment.inputs
    return states(inputs, _special(sweep.experiment)) if inputs else {}


def _unless_touched(sweep: Sweep, outcome: Outcome, before: State) -> Outcome:
    """Returns the outcome of a run, with a reason if the run changed the user's own files."""
    inputs = sweep.experiment.inputs
    reason = touched(inputs, _special(sweep.experiment), before) if inputs else None
    return outcome._replace(reason=outcome.reason or reason)


def _surroundings(sweep: Sweep, spec: PointSpec) -> Setup:
    """Returns the environment of launcher and application; Open MPI's ROMIO reads hints from a file and prints the
    hints in effect.
    """
    application = {**spec.environment, **sweep.storage.environment(spec.mount, spec.job)}
    if spec.io_component == LUSTRE:
        application |= sweep.storage.as_lustre or {}
    if spec.flavour == "openmpi":
        hint_file = spec.folder.absolute() / "hints.txt"
        hint_file.write_text("".join(f"{key} {value}\n" for key, value in spec.hints.items()), encoding="utf-8")
        application |= {"ROMIO_HINTS": str(hint_file), "ROMIO_PRINT_HINTS": "1"}
    elif sweep.workload is FOREIGN and (hints := hints_for_all_files(spec.hints)):
        application |= {"IOLENS_HINTS": hints}
    return Setup(
        logs=spec.folder.absolute(),
        storage=sweep.storage,
        application=application,
        launcher={**spec.build.settings, **spec.environment},
        timeout=sweep.experiment.timeout,
    )


def _finish_run(sweep: Sweep, spec: PointSpec, outcome: Outcome) -> RunRecord:
    """Writes the run's record, and removes its data and all other files that are not kept."""
    record = collect_results(sweep, spec, outcome, sweep.storage.health(spec.mount, spec.job))
    keeps = {part: spec.keep.stays(part, record.status) for part in ("data", *_FILES)}
    record = replace(
        record,
        storage={**record.storage, **({"data": str(spec.data)} if keeps["data"] else {})},
        log=record.log if keeps["log"] else None,
    )
    write_record(spec.folder, record)
    for pattern in (pattern for part in _FILES if not keeps[part] for pattern in _FILES[part]):
        for path in list(spec.folder.glob(pattern)):
            path.unlink(missing_ok=True)
    if keeps["data"]:
        sweep.storage.end(spec.mount, spec.job)
    else:
        _clear(sweep, spec)
    return record


def _clear(sweep: Sweep, spec: PointSpec) -> None:
    """Removes the run's data, and the storage's state of the job."""
    shutil.rmtree(spec.data, ignore_errors=True)
    sweep.storage.end(spec.mount, spec.job)


_FILES: Mapping[str, Sequence[str]] = {"log": ("*.darshan",), "output": ("stdout.txt", "stderr.txt")}
"""The files of each part in a run's folder; data lies elsewhere."""
