"""Collects the results of a run for its run.json: program output, settings in effect, and validity of the storage."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iolens.errors import IolensError
from iolens.lab.io_components import LUSTRE, ROMIO, TWO_PHASE
from iolens.lab.run.execute import Outcome
from iolens.lab.run.hosts import hosts_of
from iolens.lab.run.mpi import Flavour
from iolens.lab.run.record import RunRecord
from iolens.lab.storage.backend import Health
from iolens.lab.storage.mounts import file_system
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.perform.observe import effective_hints, mpi_used, observed, page_cache
from iolens.lab.sweep.plan.prepare import Sweep
from iolens.lab.workloads.workload import RESULT
from iolens.log import read_log

_NOT_SET = "the setting did not take effect: "


def collect(sweep: Sweep, spec: PointSpec, outcome: Outcome, health: Health) -> RunRecord:
    """Returns the record of everything that the run produced."""
    folder = spec.folder
    result = sweep.workload.result(folder)
    log = outcome.logs[-1] if outcome.logs else None
    seen, logged, trouble = _look(log)
    mpi = _mpi_of(logged, result)
    hints = _hints_of(spec.build.flavour, folder, logged, result)
    effective = with_layout(_effective_settings(hints, result), health)
    driver = _driver_of(mpi, hints)
    effect = _took_effect(spec.requested, effective, seen)
    if spec.io_component == LUSTRE:
        effect |= {"io_component": None if driver is None else driver == LUSTRE}
    status, reason = judge(folder, outcome, health, effect, trouble, result)
    below = file_system(spec.mount)[0] if sweep.storage.times_by_model else None
    storage = {"file_system": health.file_system, "below": below, "valid": health.valid, "reason": health.reason}
    pages = page_cache(result, seen, sweep.storage.times_by_model)
    return RunRecord(
        id=spec.id,
        status=status,
        reason=reason,
        command=outcome.command,
        started=outcome.started,
        seconds=round(outcome.seconds, 6),
        exit_code=outcome.exit_code,
        point=spec.point,
        requested=spec.requested,
        effective=effective,
        observed=seen,
        took_effect=effect,
        storage={"kind": sweep.storage.name, **storage, "page_cache": pages, **_left_in_cache(result), **health.counts},
        launcher=sweep.launcher.name,
        build={**(result.get("build") or {}), **spec.build.made},
        mpi={**mpi, "driver": driver, **spec.placement},
        hosts=outcome.hosts or hosts_of(outcome.logs, None if sweep.launcher.elsewhere else spec.ranks),
        load_before=outcome.load_before,
        load_after=outcome.load_after,
        machine=outcome.machine,
        log=log.name if log else None,
        result=RESULT if result else None,
        key=spec.key,
        lost=spec.lost,
        failed_before=spec.failed,
        batch=outcome.batch,
    )


def _mpi_of(logged: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the library and the MPI-IO component of a run as its log names them, else as the program does: a program
    knows only the component that was requested. The bundled writer's transfers are in no log.
    """
    told = dict(result.get("mpi") or {})
    own = told.get("io_component") == TWO_PHASE
    return told | {key: logged[key] for key in ("library", "io_component") if logged.get(key) and not own}


def _hints_of(
    flavour: Flavour | None, folder: Path, logged: Mapping[str, Any], result: Mapping[str, Any]
) -> dict[str, str]:
    """Returns the hints in effect: those of MPI_File_get_info by the log and the program, else ROMIO's own print.

    Open MPI's MPI_File_get_info repeats the request, so it is not used. The bundled writer reports the settings that it
    used.
    """
    told = (result.get("hints") or {}).get("effective") or {}
    if (result.get("mpi") or {}).get("io_component") == TWO_PHASE:
        return dict(told)
    if flavour == "mpich" or logged.get("io_component") == ROMIO:
        return {**(logged.get("hints") or {}), **told}
    return effective_hints((folder / "stdout.txt").read_text(encoding="utf-8", errors="replace"))


def _effective_settings(hints: Mapping[str, str], result: Mapping[str, Any]) -> dict[str, int | None]:
    """Returns the settings in effect: stripes from the file, the others from the hints."""
    files = result.get("files") or [{}]
    numbers = {
        key: int(hints[key]) if str(hints.get(key, "")).isdigit() else None for key in ("cb_nodes", "cb_buffer_size")
    }
    return {
        "stripe_count": files[0].get("stripe_count"),
        "stripe_size": files[0].get("stripe_size"),
        **numbers,
    }


def with_layout(effective: Mapping[str, int | None], health: Health) -> dict[str, int | None]:
    """Returns the settings with the stripes from the file system's own tool, if the program could not report them."""
    layout = health.counts.get("layout") or {}
    told = {} if layout.get("components") else {key: layout.get(key) for key in ("stripe_count", "stripe_size")}
    objects = {"object_size": int(layout["object_size"])} if layout.get("object_size") else {}
    return {**{key: told.get(key) if value is None else value for key, value in effective.items()}, **objects}


def _left_in_cache(result: Mapping[str, Any]) -> dict[str, float]:
    """Returns the part of the data read back that was still in the nodes' caches, for a program that spec them to drop
    it.
    """
    part = (result.get("extra") or {}).get("cached_before_read")
    return {"cached_before_read": float(part)} if isinstance(part, int | float) else {}


def _driver_of(mpi: Mapping[str, Any], hints: Mapping[str, str]) -> str | None:
    """Returns the MPI-IO driver that moved the data: ROMIO's own name for it, such as `lustre` or `ufs`, or
    `lustre-like` for the bundled writer. Returns None if no library reports it.
    """
    if mpi.get("io_component") == TWO_PHASE:
        return "lustre-like"
    return str(hints.get("romio_filesystem_type") or "").partition(":")[0].lower() or None


def _took_effect(
    requested: Mapping[str, int], effective: Mapping[str, int | None], seen: Mapping[str, Any]
) -> dict[str, bool | None]:
    """Returns for each requested setting True (in effect), False (not in effect) or None (unknown).

    Fewer writing aggregators than requested is no failure in itself, since small files leave some aggregators idle.
    """
    effect: dict[str, bool | None] = {}
    for key, value in requested.items():
        known = effective.get(key)
        if known is None and key == "cb_nodes" and "aggregators" in seen:
            known = seen["aggregators"]
        effect[key] = None if known is None else known == value
    return effect


def _look(log: Path | None) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """Returns the writers and the MPI that the log shows, and the fault of the log, if any; empty without a log."""
    try:
        job = read_log(log) if log else None
        return (observed(job), mpi_used(job), None) if job else ({}, {}, None)
    except IolensError as error:
        return {}, {}, str(error)


def complaint(path: Path) -> str:
    """Returns the first message of standard error, and the path of the file. Launchers wrap a message over several
    lines between two rules of dashes: the lines are joined up to the empty line that ends a sentence."""
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    own = [line.strip() for line in lines]
    first = next((number for number, line in enumerate(own) if line.strip("- ")), None)
    if first is None:
        return "no message"
    said = own[first]
    if first and not own[first - 1].strip("- "):  # Follows a line of dashes.
        for line in own[first + 1 :]:
            if (line and not line.strip("- ")) or (not line and said.endswith((".", "!", "?"))):
                break
            said = f"{said} {line}".strip()
    return f"{said} (full output: {path})"


def judge(
    folder: Path,
    outcome: Outcome,
    health: Health,
    effect: Mapping[str, bool | None],
    trouble: str | None,
    result: Mapping[str, Any],
) -> tuple[str, str | None]:
    """Returns the status `ok`, `failed` or `invalid`, and the reason."""
    if outcome.reason:
        return "failed", outcome.reason
    if outcome.exit_code != 0:
        verification = result.get("verification") or {}
        if verification.get("status") == "unsuccessful":  # The launcher's message about an exit code says less.
            why = f"verification unsuccessful: {verification.get('detail') or 'the answer is wrong'}"
        else:
            why = complaint(folder / "stderr.txt")
        return "failed", f"exit code {outcome.exit_code}: {why}"
    if trouble:
        return "failed", trouble
    if health.valid is False:
        return "invalid", str(health.reason)
    ignored = [key for key, value in effect.items() if value is False]
    return ("invalid", _NOT_SET + ", ".join(ignored)) if ignored else ("ok", None)
