"""Perform one run of a sweep: a fresh striped directory, the program under the profiler, and its record."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iolens.errors import IolensError
from iolens.lab.files import write_aside
from iolens.lab.installation import find_library, find_workload, need_library
from iolens.lab.run import mpi
from iolens.lab.run.execute import Outcome, Setup, execute
from iolens.lab.run.record import RunRecord, run_key, write_record
from iolens.lab.storage.backend import Backend
from iolens.lab.storage.backends import backend_for
from iolens.lab.storage.layout import Layout
from iolens.lab.sweep.experiment import Experiment
from iolens.lab.sweep.ior_output import result_of_ior
from iolens.lab.sweep.matrix import Run
from iolens.lab.sweep.observe import observed
from iolens.lab.sweep.romio import effective_hints
from iolens.lab.sweep.values import Change

BUNDLED = {"btio", "ior", "checkpoint_simulator", "restart_simulator", "collectives", "alignment", "metadata"}
"""Workloads that take --directory, --hint and --json (workloads/RESULT.md)."""

WITHOUT_FILES, WITHOUT_HINTS = {"collectives"}, {"collectives", "metadata"}
"""Those of them that take no --directory, and no --hint."""

NOT_SET = "the setting did not take effect: "


@dataclass(frozen=True)
class Bench:
    """What stays the same for all runs of a sweep."""

    experiment: Experiment
    program: Path
    flavour: mpi.Flavour | None
    launcher: str
    data: Path
    storage: Backend


def set_up(experiment: Experiment, data: Path) -> Bench:
    """Find the program, its MPI and its launcher; raises before anything has run when one is missing."""
    program = find_workload(experiment.program)
    storage = backend_for(experiment.storage, data)
    for library in ("libiolens.so", *storage.libraries):
        need_library(library)
    linked = mpi.flavour_of_program(program)
    launcher = mpi.find_launcher(linked)
    flavour = linked or mpi.flavour_of_launcher(launcher)
    return Bench(experiment, program, flavour, launcher, data.resolve(), storage)


def requested_settings(bench: Bench, run: Run) -> dict[str, int]:
    """Stripes and hints that this run asks for, in the names of run.json."""
    settings = run.point.numbers
    if bench.storage.make or {"stripe_count", "stripe_size"} & settings.keys():
        settings = {"stripe_count": 1, "stripe_size": bench.experiment.stripe_size, **settings}
    if "aggregators" in settings:
        settings["cb_nodes"] = settings.pop("aggregators")
    return settings


def changes_of(bench: Bench, run: Run | None) -> list[Change]:
    """What the levels of the experiment's own factors change in this run."""
    own = bench.experiment.own
    return [own[factor][str(level)] for factor, level in run.point.settings.items() if factor in own] if run else []


def environment_of(bench: Bench, run: Run | None) -> dict[str, str]:
    """The variables that the experiment and the point's own levels set."""
    merged = dict(bench.experiment.environment)
    for change in changes_of(bench, run):
        merged |= change.environment
    return merged


def arguments_of(bench: Bench, run: Run) -> tuple[str, ...]:
    """The workload's arguments: the experiment's, then those of the point's own levels."""
    return (*bench.experiment.arguments, *(word for change in changes_of(bench, run) for word in change.arguments))


def hints_of(bench: Bench, requested: Mapping[str, int], run: Run | None) -> dict[str, str]:
    """All MPI-IO hints of a run: the experiment's, then the point's."""
    own = {key: value for change in changes_of(bench, run) for key, value in change.hints.items()}
    varied = {key: str(requested[key]) for key in ("cb_nodes", "cb_buffer_size") if key in requested}
    return {**bench.experiment.hints, **varied, **own}


def command_of(
    bench: Bench, arguments: tuple[str, ...], hints: Mapping[str, str], data: Path, folder: Path
) -> list[str]:
    """The launcher's command line for one run."""
    words = [bench.launcher, "-np", str(bench.experiment.ranks), str(bench.program), *arguments]
    if bench.program.name in BUNDLED:
        words += ["--json", str(folder / "result.json")]
        if bench.program.name not in WITHOUT_FILES:
            words += ["--directory", str(data)]
        if bench.program.name not in WITHOUT_HINTS:
            words += [word for key, value in hints.items() for word in ("--hint", f"{key}={value}")]
        return words
    return [word.replace("{directory}", str(data)).replace("{json}", str(folder / "result.json")) for word in words]


def key_of(bench: Bench, run: Run | None, arguments: tuple[str, ...]) -> str:
    """What decides the outcome of a run; paths do not."""
    libraries = [
        find_library(name) for name in ("libiolens.so", f"libiolens-{bench.flavour}.so", *bench.storage.libraries)
    ]
    parts: dict[str, Any] = {
        "arguments": arguments,
        "ranks": bench.experiment.ranks,
        "launcher": bench.launcher,
        "environment": environment_of(bench, run),
    }
    if run:
        requested = requested_settings(bench, run)
        parts |= {"requested": requested, "hints": hints_of(bench, requested, run)}
        parts |= {"io": bench.experiment.io_component, "storage": bench.experiment.storage}
    files = [bench.program, *(path for path in libraries if path)]
    return run_key(parts, [*files, *bench.storage.settings(bench.data)])


def perform(bench: Bench, run: Run, folder: Path) -> RunRecord:
    """Perform one repetition of a point into `folder` and write its run.json."""
    requested = requested_settings(bench, run)
    hints = hints_of(bench, requested, run)
    return carry_out(bench, folder, run.id, arguments_of(bench, run), requested, hints, run)


def perform_first(bench: Bench, folder: Path) -> RunRecord:
    """Perform the complete run that goes before a sweep."""
    arguments = bench.experiment.first or ()
    return carry_out(bench, folder, "first", arguments, {}, {}, None)


def carry_out(
    bench: Bench,
    folder: Path,
    name: str,
    arguments: tuple[str, ...],
    requested: Mapping[str, int],
    hints: Mapping[str, str],
    run: Run | None,
) -> RunRecord:
    """Prepare, execute, collect, clean up."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    data = bench.data / name.replace("/", "_")
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    job = name.replace("/", "_")
    try:
        if bench.storage.set_stripes and "stripe_count" in requested:
            bench.storage.set_stripes(data, Layout(requested["stripe_count"], requested["stripe_size"]))
        key = key_of(bench, run, arguments)
        command = command_of(bench, arguments, hints, data, folder)
        setup = surroundings(bench, folder, hints, job, environment_of(bench, run))
        outcome = execute(command, setup, folder / "stdout.txt", folder / "stderr.txt")
        storage = storage_status(bench, job)
    finally:
        shutil.rmtree(data, ignore_errors=True)
        bench.storage.end(bench.data, job)
    record = collect(bench, folder, name, run, requested, outcome, storage, key)
    write_record(folder, record)
    return record


def surroundings(
    bench: Bench, folder: Path, hints: Mapping[str, str], job: str, environment: Mapping[str, str]
) -> Setup:
    """Environment of launcher and application, without what an interrupted run of that name left in the storage."""
    bench.storage.end(bench.data, job)
    application: dict[str, str] = {**environment, **bench.storage.environment(bench.data, job)}
    if bench.flavour == "openmpi":
        hint_file = folder / "hints.txt"
        hint_file.write_text("".join(f"{key} {value}\n" for key, value in hints.items()), encoding="utf-8")
        application |= {"ROMIO_HINTS": str(hint_file), "ROMIO_PRINT_HINTS": "1"}
    component = mpi.component_of(bench.launcher, bench.experiment.io_component)
    return Setup(
        logs=folder,
        storage=bench.storage,
        application=application,
        launcher={**mpi.environment(bench.flavour, bench.experiment.ranks, component), **environment},
    )


def storage_status(bench: Bench, job: str) -> dict[str, Any]:
    """The `storage` part of run.json."""
    found = bench.storage.health(bench.data, job)
    judged = {"file_system": found.file_system, "valid": found.valid, "reason": found.reason}
    return {"kind": bench.storage.name, **judged, **found.counts}


def collect(
    bench: Bench,
    folder: Path,
    name: str,
    run: Run | None,
    requested: Mapping[str, int],
    outcome: Outcome,
    storage: Mapping[str, Any],
    key: str,
) -> RunRecord:
    """Everything that the run left behind, as its record."""
    result = read_result(folder) or adopt_ior(folder)
    log = outcome.logs[-1] if outcome.logs else None
    seen, trouble = look(log)
    effective = effective_settings(bench, folder, result)
    effect = took_effect(requested, effective, seen) if run else {}
    status, reason = judge(folder, outcome, storage, effect, trouble)
    return RunRecord(
        id=name,
        status=status,
        reason=reason,
        command=outcome.command,
        started=outcome.started,
        seconds=round(outcome.seconds, 6),
        exit_code=outcome.exit_code,
        point={**run.point.settings, "repetition": run.repetition} if run else {},
        requested=dict(requested),
        effective=effective,
        observed=seen,
        took_effect=effect,
        storage=storage,
        launcher=bench.experiment.launcher,
        mpi=result.get("mpi") or {},
        hosts=[platform.node()],
        load_before=outcome.load_before,
        log=log.name if log else None,
        result="result.json" if result else None,
        key=key,
    )


def read_result(folder: Path) -> dict[str, Any]:
    """The workload's result.json; empty when it left none."""
    try:
        content = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def adopt_ior(folder: Path) -> dict[str, Any]:
    """A result made from what a user's own IOR printed; empty when nothing of IOR's stands there."""
    result = result_of_ior((folder / "stdout.txt").read_text(encoding="utf-8", errors="replace"))
    if result:
        write_aside(folder / "result.json", json.dumps(result) + "\n")
    return result


def effective_settings(bench: Bench, folder: Path, result: Mapping[str, Any]) -> dict[str, int | None]:
    """What was in force: stripes from the file, hints from ROMIO's own print, or from MPICH's MPI_File_get_info.

    Open MPI's MPI_File_get_info echoes the request, so it is no source; the toolkit's own transfers know themselves.
    """
    files = result.get("files") or [{}]
    if bench.flavour == "mpich" or (result.get("mpi") or {}).get("io_component") == "two-phase":
        hints = (result.get("hints") or {}).get("effective") or {}
    else:
        hints = effective_hints((folder / "stdout.txt").read_text(encoding="utf-8", errors="replace"))
    numbers = {
        key: int(hints[key]) if str(hints.get(key, "")).isdigit() else None for key in ("cb_nodes", "cb_buffer_size")
    }
    return {
        "stripe_count": files[0].get("stripe_count"),
        "stripe_size": files[0].get("stripe_size"),
        **numbers,
    }


def took_effect(
    requested: Mapping[str, int], effective: Mapping[str, int | None], seen: Mapping[str, Any]
) -> dict[str, bool | None]:
    """Per requested setting: in force (True), not (False), or nobody says (None).

    A wish for more aggregators than were seen writing is no failure as such: small files leave some idle.
    """
    effect: dict[str, bool | None] = {}
    for key, value in requested.items():
        known = effective.get(key)
        if known is None and key == "cb_nodes" and "aggregators" in seen:
            known = seen["aggregators"]
        effect[key] = None if known is None else known == value
    return effect


def look(log: Path | None) -> tuple[dict[str, Any], str | None]:
    """Who wrote what, and what is wrong with the log, if anything; a run without a log is its own affair."""
    try:
        return (observed(log) if log else {}), None
    except IolensError as error:
        return {}, str(error)


def judge(
    folder: Path,
    outcome: Outcome,
    storage: Mapping[str, Any],
    effect: Mapping[str, bool | None],
    trouble: str | None,
) -> tuple[str, str | None]:
    """`ok`, `failed` or `invalid`, and why."""
    if outcome.exit_code != 0:
        lines = (folder / "stderr.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        own = [line for line in lines if line.strip("- ")]
        return "failed", f"exit code {outcome.exit_code}: {(own or ['no message'])[0]}"
    if trouble:
        return "failed", trouble
    if storage.get("valid") is False:
        return "invalid", str(storage.get("reason"))
    ignored = [key for key, value in effect.items() if value is False]
    return ("invalid", NOT_SET + ", ".join(ignored)) if ignored else ("ok", None)
