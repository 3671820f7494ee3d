"""Collects the results of a run for its run.json: program output, settings in effect, and validity of the storage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iolens.errors import IolensError
from iolens.lab.io_components import LUSTRE, ROMIO, TWO_PHASE
from iolens.lab.run.complaint import complaint
from iolens.lab.run.execute import Outcome
from iolens.lab.run.hosts import hosts_of
from iolens.lab.run.mpi_launch.mpi import Flavour
from iolens.lab.run.record import RunRecord, record_fields
from iolens.lab.storage.backend import Health
from iolens.lab.storage.mounts import file_system
from iolens.lab.sweep.define.spec import PointSpec
from iolens.lab.sweep.plan.prepare import Sweep
from iolens.lab.workloads.workload import RESULT
from iolens.log import read_log
from iolens.log.job import Job
from iolens.metrics.job.cost import SHORTEST, moved_once, performance
from iolens.metrics.job.interfaces.mpiio import file_ranks
from iolens.metrics.job.interfaces.operations import syncs
from iolens.metrics.job.share import io_mean_seconds

_NOT_SET = "the setting did not take effect: "


def collect_results(sweep: Sweep, spec: PointSpec, outcome: Outcome, health: Health) -> RunRecord:
    """Returns the record of a finished run, for its run.json."""
    folder = spec.folder
    result = sweep.workload.result(folder)
    log = outcome.logs[-1] if outcome.logs else None
    seen, logged, trouble = _seen_in_log(log)
    mpi = _mpi_of(logged, result)
    hints = _hints_of(spec.build.flavour, folder, logged, result)
    effective = with_layout(_effective_settings(hints, result), health)
    driver = _observed_driver(mpi, hints)
    effect = _took_effect(spec.requested, effective, seen)
    if spec.io_component == LUSTRE:
        effect |= {"io_component": None if driver is None else driver == LUSTRE}
    status, reason = judge_run(folder, outcome, health, effect, trouble, result)
    below = file_system(spec.mount)[0] if sweep.storage.times_by_model else None
    storage = {"file_system": health.file_system, "below": below, "valid": health.valid, "reason": health.reason}
    pages = page_cache(result, seen, sweep.storage.times_by_model)
    hosts = outcome.hosts or hosts_of(outcome.logs, None if sweep.launcher.elsewhere else spec.ranks)
    return RunRecord(
        id=spec.id,
        status=status,
        reason=reason,
        point=spec.point,
        requested=spec.requested,
        effective=effective,
        observed=seen,
        took_effect=effect,
        storage={"kind": sweep.storage.name, **storage, "page_cache": pages, **_left_in_cache(result), **health.counts},
        launcher=sweep.launcher.name,
        build={**(result.get("build") or {}), **spec.build.made},
        mpi={**mpi, "driver": driver, **spec.placement},
        result=RESULT if result else None,
        key=spec.key,
        lost=spec.lost,
        failed_before=spec.failed,
        **record_fields(outcome._replace(hosts=tuple(hosts))),
    )


def _mpi_of(logged: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the MPI library and the MPI-IO component of a run. The log's values come first, because a program knows
    only the component that was requested. The bundled writer's transfers are in no log, so for it the program's values
    are taken.
    """
    told = dict(result.get("mpi") or {})
    own = told.get("io_component") == TWO_PHASE
    return told | {key: logged[key] for key in ("library", "io_component") if logged.get(key) and not own}


def _hints_of(
    flavour: Flavour | None, folder: Path, logged: Mapping[str, Any], result: Mapping[str, Any]
) -> dict[str, str]:
    """Returns the hints in effect: those of MPI_File_get_info by the log and the program, otherwise the hints that
    ROMIO prints.

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
    """Returns the part of the data read back that was still in the nodes' caches, for a program that asked them to drop
    it.
    """
    part = (result.get("extra") or {}).get("cached_before_read")
    return {"cached_before_read": float(part)} if isinstance(part, int | float) else {}


def _observed_driver(mpi: Mapping[str, Any], hints: Mapping[str, str]) -> str | None:
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

    Fewer writing aggregators than requested are no failure in themselves, since small files leave some aggregators
    idle.
    """
    effect: dict[str, bool | None] = {}
    for key, value in requested.items():
        known = effective.get(key)
        if known is None and key == "cb_nodes" and "aggregators" in seen:
            known = seen["aggregators"]
        effect[key] = None if known is None else known == value
    return effect


def _seen_in_log(log: Path | None) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """Returns the writers and the MPI that the log shows, and the fault of the log, if it has one; empty without a
    log.
    """
    try:
        job = read_log(log) if log else None
        return (observed(job), _mpi_used(job), None) if job else ({}, {}, None)
    except IolensError as error:
        return {}, {}, str(error)


def judge_run(
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
        # The launcher's message only gives an exit code, so the program's own result says more.
        if verification.get("status") == "unsuccessful":
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


def _mpi_used(job: Job) -> dict[str, Any]:
    """Returns the MPI that the log names: its `library`, the `io_component` that opened files, and the `hints` that the
    file with most bytes had at its close. Keys that the log does not know are left out.
    """
    named = {"library": job.info.get("mpi"), "io_component": job.info.get("io_component")}
    named["hints"] = _hints_at_close(job)
    return {key: value for key, value in named.items() if value}


def _hints_at_close(job: Job) -> dict[str, str]:
    """Returns the hints that MPI_File_get_info reported for the file that moved most bytes through MPI-IO."""
    rows, frame = job.tables.get("mpiio_hints"), job.frames.get("MPI-IO")
    if rows is None or not len(rows) or frame is None or frame.empty:
        return {}
    volume = (frame["MPIIO_BYTES_READ"] + frame["MPIIO_BYTES_WRITTEN"]).groupby(frame["id"]).sum()
    largest = int(volume.idxmax())
    return {key: value for file, key, value in rows.rows("file", "key", "effective") if file == largest and value}


def observed(job: Job) -> dict[str, Any]:
    """Returns the aggregators of the file that got most bytes through MPI-IO: the ranks that wrote it at the POSIX
    level.

    The keys are those of run.json: `aggregators`, `aggregator_ranks`, `largest_write` and `common_write` (bytes), those
    of `write_distribution`, and `syncs`, the number of calls that flushed data to the storage. Only `mpi_io`,
    `compute_seconds`, `file_bytes` and the keys of `_io_bandwidth` are returned if the log has no such table for all
    ranks (another profiler, or one rank).
    """
    ranks = file_ranks(job)
    moved = {**_through_mpiio(job), **_compute_seconds(job), **_largest_file_bytes(job), **_io_bandwidth(job)}
    if ranks is None or (ranks["rank"] < 0).any():
        return moved
    totals = ranks.groupby("file")["bytes_written"].sum()
    shared = set(job.frames["MPI-IO"]["id"]) if "MPI-IO" in job.frames else set()
    totals = totals[totals.index.isin(shared)] if shared else totals
    if totals.empty or totals.max() == 0:
        return moved
    rows = ranks[(ranks["file"] == totals.idxmax()) & (ranks["writes"] > 0)]
    commonest = rows.loc[rows["common_write_count"].idxmax(), "common_write"]
    return moved | {
        "aggregators": len(rows),
        "aggregator_ranks": sorted(int(rank) for rank in rows["rank"]),
        "largest_write": int(rows["largest_write"].max()),
        "common_write": int(commonest),
        **write_distribution(job, shared),
        "syncs": syncs(job),
    }


def write_distribution(job: Job, shared: set[int]) -> dict[str, Any]:
    """Returns how the written bytes are distributed: `file_share`, the part (0 to 1) in the file that has most, and
    `writers`, the number of ranks that wrote any file. Only the files `shared` count, or all files if it is empty;
    returns nothing if POSIX recorded no write.
    """
    posix, ranks = job.frames.get("POSIX"), file_ranks(job)
    if posix is None:
        return {}
    wrote = posix[(posix["POSIX_BYTES_WRITTEN"] > 0) & (posix["id"].isin(shared) if shared else True)]
    files = wrote.groupby("id")["POSIX_BYTES_WRITTEN"].sum()
    if files.empty:
        return {}
    known = () if ranks is None else ranks[ranks["file"].isin(files.index) & (ranks["writes"] > 0)]["rank"]
    return {
        "file_share": float(files.max() / files.sum()),
        "writers": len({*wrote["rank"][wrote["rank"] >= 0], *known}),
    }


def _compute_seconds(job: Job) -> dict[str, float]:
    """Returns `compute_seconds`: the run time minus the I/O time of an average process, which includes computing,
    messages and waiting for them; empty if no time is left.
    """
    spent = job.run_time - (io_mean_seconds(job) or 0.0)
    return {"compute_seconds": round(spent, 6)} if spent > 0 else {}


def _io_bandwidth(job: Job) -> dict[str, Any]:
    """Returns `io_bandwidth` in MiB/s, `io_bytes` and `io_layer`: the row of the table `performance` of the layer
    through which the program moved most bytes; empty if the I/O was too short to measure its speed.
    """
    for layer in list(moved_once(job))[:1]:
        found = performance(job, layer)
        if found.mib_per_second is not None and found.seconds >= SHORTEST:
            moved = found.bytes_read + found.bytes_written
            return {"io_bandwidth": found.mib_per_second, "io_bytes": moved, "io_layer": layer}
    return {}


def _largest_file_bytes(job: Job) -> dict[str, int]:
    """Returns `file_bytes`: the size of the largest file that was written; empty if POSIX recorded no write."""
    posix = job.frames.get("POSIX")
    last = [] if posix is None else posix.loc[posix["POSIX_BYTES_WRITTEN"] > 0, "POSIX_MAX_BYTE_WRITTEN"]
    return {"file_bytes": int(max(last)) + 1} if len(last) else {}


def _through_mpiio(job: Job) -> dict[str, bool]:
    """Returns `mpi_io`: True if any bytes went through MPI-IO. Returns nothing if POSIX recorded no bytes, since their
    path is then unknown.
    """
    moved = {
        name: name in job.frames
        and bool((job.frames[name][[f"{prefix}_BYTES_READ", f"{prefix}_BYTES_WRITTEN"]] > 0).to_numpy().any())
        for name, prefix in (("MPI-IO", "MPIIO"), ("POSIX", "POSIX"))
    }
    return {"mpi_io": moved["MPI-IO"]} if any(moved.values()) else {}


_LINE = re.compile(r"^key = (\S+)\s+value = (.*?)\s*$")


def _printed_hints(output: str) -> list[dict[str, str]]:
    """Returns one table of hints per open file, in the order of the opens.

    If a key appears a second time, it belongs to the next open.
    """
    opens: list[dict[str, str]] = []
    fresh = True
    for line in output.splitlines():
        match = _LINE.match(line)
        if not match:
            fresh = True
            continue
        if fresh or match[1] in opens[-1]:
            opens.append({})
            fresh = False
        opens[-1][match[1]] = match[2]
    return opens


def effective_hints(output: str) -> dict[str, str]:
    """Returns the hints of the job's data file: the open with the most aggregators.

    Rank 0 also opens files alone, and then `cb_nodes` is always 1; those prints do not describe the job.
    """
    opens = _printed_hints(output)
    return max(opens, key=lambda hints: int(hints.get("cb_nodes", "0") or 0), default={})


_SYNCED = ("fsync", "fsyncPerWrite", "sync")
"""Parameters of the bundled workloads that flush written data before the clock stops."""

_FORGOTTEN = ("cold_read", "coldRead")
"""Parameters with which programs drop the data from the nodes' memory before they read it."""

_DIRECT = "useO_DIRECT"


def page_cache(result: Mapping[str, Any], seen: Mapping[str, Any], modelled: bool) -> dict[str, str]:
    """Returns the state of the page cache for each operation of the program (`written`, `read`; both if the result
    names none): a word of report/RUN.md, or 'n/a: ' and the reason. `seen` is what the log shows, `modelled` is True
    for storage with modelled speed.
    """
    parameters = result.get("parameters") or {}
    did = {str(phase.get("operation")) for phase in result.get("phases") or ()}
    told = {
        "write": ("written", _flush_state(parameters, seen.get("syncs"))),
        "read": ("read", page_cache_state(parameters, result)),
    }
    found = dict(word for operation, word in told.items() if not did or operation in did)
    whole = "modelled" if modelled else "bypassed" if parameters.get(_DIRECT) is True else None
    return dict.fromkeys(found, whole) if whole else found


def _flush_state(parameters: Mapping[str, Any], syncs: int | None) -> str:
    """Returns the state of the page cache for writes: whether written data was flushed inside the timed part."""
    asked = [parameters[key] is True for key in _SYNCED if key in parameters]
    if any(asked):
        return "n/a: a flush was requested, but the log has no such call" if syncs == 0 else "synced"
    if syncs == 0 or (asked and syncs is None):
        return "not synced"
    if syncs is None:
        return "n/a: no log shows if the data was synced"
    return "n/a: the data was synced, but it is unknown if inside the timed part"


def page_cache_state(parameters: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Returns the state of the page cache for reads: whether the nodes had dropped the data before it was read."""
    asked = [parameters[key] is True for key in _FORGOTTEN if key in parameters]
    if any(asked):
        known = isinstance((result.get("extra") or {}).get("cached_before_read"), int | float)
        return (
            "dropped"
            if known
            else ("n/a: the program was told to drop pages, but it is unknown how many stayed in memory")
        )
    return "not dropped" if asked else "n/a: the program does not report if pages were dropped before it read"
