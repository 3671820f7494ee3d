"""Read a sweep's folder back: every run.json below it becomes one row of a frame.

Units: bandwidth MiB/s (2^20 bytes), times seconds, sizes bytes. A value that was not measured is missing, never 0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from iolens.errors import IolensError, UsageError
from iolens.lab.io_components import TWO_PHASE
from iolens.lab.run.record import record_at
from iolens.lab.sweep.define.folders import CONFIRM, FIRST, WARM_UP
from iolens.lab.sweep.define.metrics import FACTS, METRICS
from iolens.lab.sweep.read.answers import answer_in, with_answers
from iolens.lab.sweep.read.measured import Chosen, chosen_metric, printed_bandwidth
from iolens.lazy import pd
from iolens.metrics.comparison.settings import Measure, NamedLevel, level_order

_MIB = 2**20


@dataclass(frozen=True)
class Skipped:
    """A run.json that could not be read, and the reason."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Results:
    """The results of one sweep.

    `runs` has one row per run: a column per setting (`settings` names them), the columns of `read_run`, and those of
    the answers (`answers.with_answers`). `first` is the row of the complete run before the sweep, if there was one;
    `fresh` has the later runs that confirm the best setting, with the columns of `runs`. `limits` are the parameters of
    the storage's model (`storage/ost.yaml`) for a sweep on emulated targets. `metric` is a key of METRICS, or describes
    a number that the experiment names itself; `chosen` has its measure and its source.
    """

    directory: Path
    name: str
    title: str
    metric: str
    experiment: Mapping[str, Any]
    settings: tuple[str, ...]
    runs: pd.DataFrame
    fresh: pd.DataFrame
    first: Mapping[str, Any] | None
    skipped: tuple[Skipped, ...]
    limits: Mapping[str, float] = field(default_factory=dict)
    chosen: Chosen | None = None

    @property
    def measure(self) -> Measure:
        """Returns the measure by which settings are compared."""
        return self.chosen.measure if self.chosen else METRICS[self.metric]

    @property
    def program(self) -> str:
        """Returns the program's name without its folder, or the sweep's name if the experiment does not tell."""
        return Path(str((self.experiment.get("workload") or {}).get("program") or self.name)).name


def load_results(directory: Path) -> Results:
    """Reads all runs below `directory`; raises if there is none."""
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a folder; give the folder of a sweep, such as results/class-A")
    experiment = _read_experiment(directory / "experiment.yaml")
    first: list[dict[str, Any]] = []
    skipped: list[Skipped] = []
    chosen = chosen_metric(_report_of(experiment), lambda operation: _read_runs(directory, operation, first, skipped))
    rows = list(chosen.rows)
    if all(row["fresh"] for row in rows):
        unread = f" ({len(skipped)} could not be read, the first: {skipped[0].reason})" if skipped else ""
        raise IolensError(
            f"no run.json of a sweep below {directory}{unread}; run `iolens sweep` first, or name two folders of logs "
            "or outputs"
        )
    settings = tuple(dict.fromkeys(name for row in rows for name in row["settings"]))
    if taken := [name for name in settings if name in FACTS]:
        raise UsageError(
            f"{directory}: {taken[0]} is already a column of every run; give the factor another name and sweep again"
        )
    named = {name: levels for name in settings if (levels := _own_levels(experiment, name))}
    for row in rows:
        row["settings"] |= {
            name: NamedLevel(level, levels.index(level)) if level in levels else level
            for name, levels in named.items()
            if (level := row["settings"].get(name))
        }
    with_answers(rows, experiment)
    rows.sort(key=lambda row: [*(level_order(row["settings"].get(name)) for name in settings), row["repetition"]])
    columns = {name: pd.Series([row["settings"].get(name) for row in rows], dtype=object) for name in settings}
    both = pd.concat([pd.DataFrame(columns), pd.DataFrame(rows).drop(columns="settings")], axis=1)
    runs, fresh = (both[both["fresh"] == which].reset_index(drop=True) for which in (False, True))
    title = str(experiment.get("title") or experiment.get("name") or directory.name)
    name = str(experiment.get("name") or directory.name)
    return Results(
        directory,
        name,
        title,
        chosen.metric,
        experiment,
        settings,
        runs,
        fresh,
        first[-1] if first else None,
        tuple(skipped),
        limits_of(directory),
        chosen,
    )


def _read_runs(
    directory: Path, operation: str, first: list[dict[str, Any]], skipped: list[Skipped]
) -> list[dict[str, Any]]:
    """Returns the rows of all runs below a folder, with the bandwidth of this operation; puts the complete run into
    `first`, and the files that cannot be read into `skipped`.
    """
    rows: list[dict[str, Any]] = []
    first.clear()
    skipped.clear()
    for path in sorted(directory.rglob("run.json")):
        part = path.relative_to(directory).parts[0]
        if part == WARM_UP:
            continue
        try:
            row = read_run(path, operation)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            skipped.append(Skipped(path.relative_to(directory), f"{type(error).__name__}: {error}"))
            continue
        if part == FIRST:
            first.append(row)
        else:
            rows.append(row | {"fresh": part == CONFIRM})
    return rows


def limits_of(directory: Path) -> dict[str, float]:
    """Returns the parameters of the storage's configuration that the sweep kept; empty if there is none."""
    path = directory / "ost.yaml"
    content = _read_experiment(path)
    return {key: float(value) for key, value in content.items() if isinstance(value, int | float)}


def _own_levels(experiment: Mapping[str, Any], factor: str) -> list[str]:
    """Returns the names of a user-defined factor's levels, in the experiment's order; empty for a factor whose levels
    are plain values.
    """
    levels = (experiment.get("matrix") or {}).get(factor)
    return [str(level) for level in levels] if isinstance(levels, dict) else []


def _read_experiment(path: Path) -> Mapping[str, Any]:
    """Returns the saved experiment.yaml; empty if the folder has none, since the runs themselves hold their
    settings.
    """
    if not path.exists():
        return {}
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise IolensError(f"{path} cannot be read: {error}") from error
    return content if isinstance(content, dict) else {}


def _report_of(experiment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the experiment's section `report`; empty if there is none."""
    found = experiment.get("report")
    return found if isinstance(found, dict) else {}


def read_run(path: Path, operation: str) -> dict[str, Any]:
    """Returns one run.json (report/RUN.md) and its result.json as a row; `settings` holds the point's settings.

    A `usable` run has a bandwidth to show. A run that `ignored` a setting stays a run of its point, but the point is
    left out of comparisons.
    """
    run = record_at(path)
    point = dict(run.point)
    repetition = int(point.pop("repetition", 1))
    storage = run.storage
    used = run.mpi if _moves_data(run.mpi, run.observed) else {}
    ignored = tuple(key for key, value in run.took_effect.items() if value is False)
    sound = run.status == "ok" or (run.status == "invalid" and bool(ignored))
    row: dict[str, Any] = {
        "run": str(run.id),
        "settings": point,
        "repetition": repetition,
        "status": str(run.status),
        "reason": run.reason or storage.get("reason"),
        "usable": sound and storage.get("valid") is not False,
        "ignored": ignored,
        "lost_attempts": tuple(str(attempt["reason"]) for attempt in run.lost),
        "failed_attempts": tuple(str(attempt["reason"]) for attempt in run.failed_before),
        "confirmed": not run.requested or _all_took_effect(run.took_effect),
        "storage": storage.get("kind"),
        "file_system": storage.get("file_system"),
        "io_component": used.get("io_component"),
        "driver": _driver_of_run(used, storage),
        "mpi": run.mpi.get("library"),
        "below": storage.get("below"),
        "storage.cached_before_read": storage.get("cached_before_read"),
        **{f"page_cache.{key}": (storage.get("page_cache") or {}).get(key) for key in ("written", "read")},
        "hosts": tuple(str(host) for host in run.hosts),
        "load_before": run.load_before,
        "load_after": run.load_after,
        "launcher": run.launcher,
        "seconds": run.seconds,
        "started": run.started,
        "log": str(path.parent / run.log) if run.log else None,
        "result": str(path.parent / run.result) if run.result else None,
        "folder": str(path.parent),
        **dict.fromkeys(("observed.compute_seconds", "observed.io_bandwidth", "observed.io_bytes")),
    }
    row |= {f"build.{key}": value for key, value in run.build.items()}
    row |= {f"requested.{key}": value for key, value in run.requested.items()}
    row |= {f"effective.{key}": value for key, value in run.effective.items()}
    row |= {f"observed.{key}": value for key, value in run.observed.items()}
    row |= {f"machine.{key}": value for key, value in run.machine.items()}
    phase = read_phase(path.parent / (run.result or "result.json"), operation)
    if phase["bandwidth"] is None and run.result is None:
        phase["bandwidth"] = printed_bandwidth(path.parent, operation)
    return row | phase


def _all_took_effect(effect: Mapping[str, bool | None]) -> bool:
    """Returns whether a trustworthy source confirms every setting that was asked for."""
    return bool(effect) and all(value is True for value in effect.values())


def _moves_data(mpi: Mapping[str, Any], observed: Mapping[str, Any]) -> bool:
    """Returns True if MPI-IO may have moved the data. A log without MPI-IO shows that it did not, except for the
    bundled writer, whose transfers are in no log.
    """
    return observed.get("mpi_io") is not False or mpi.get("io_component") == TWO_PHASE


def _driver_of_run(mpi: Mapping[str, Any], storage: Mapping[str, Any]) -> str | None:
    """Returns the MPI-IO driver of a run: the one observed, else `ompio`, or `generic` for ROMIO on files other than
    Lustre's, which its Lustre driver does not open. Returns None if unknown.
    """
    named, component = mpi.get("driver"), str(mpi.get("io_component") or "")
    if component == TWO_PHASE:
        return "lustre-like"
    if named in ("ufs", "nfs", "xfs") or (not named and component.startswith("romio")):
        return None if storage.get("file_system") == "lustre" and not named else "generic"
    return str(named or component) or None


def read_phase(path: Path, operation: str) -> dict[str, Any]:
    """Returns bytes, seconds and bandwidth of one operation, verification and answer from a workload's result.json
    (workloads/RESULT.md).

    The bandwidth is bytes / seconds.max / 2^20: that of the whole job, since the job waits for its slowest rank.
    """
    missing: dict[str, Any] = dict.fromkeys(("bandwidth", "io_seconds", "io_seconds_harmonic", "bytes", "nprocs"))
    missing |= {"verification": None, "answer": None}
    if not path.exists():
        return missing
    result = json.loads(path.read_text(encoding="utf-8"))
    missing["nprocs"] = result.get("ranks")
    missing["verification"] = (result.get("verification") or {}).get("status")
    missing["answer"] = answer_in(result)
    phases = [phase for phase in result.get("phases") or [] if phase["operation"] == operation]
    total = sum(phase["bytes"] for phase in phases)
    longest = math.fsum(phase["seconds"]["max"] for phase in phases)
    if total <= 0 or longest <= 0:
        return missing
    harmonic = [phase["seconds"].get("harmonic_mean") for phase in phases]
    return missing | {
        "bandwidth": total / longest / _MIB,
        "io_seconds": longest,
        "io_seconds_harmonic": None if None in harmonic else math.fsum(harmonic),
        "bytes": total,
    }
