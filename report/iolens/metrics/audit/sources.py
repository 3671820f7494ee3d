"""Collects the evidence of three kinds of comparisons: of a sweep's settings, of latencies, and of logs, runs and
outputs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from iolens.lazy import pd
from iolens.metrics.audit.evidence import Evidence, frame_of
from iolens.metrics.comparison.points import measured
from iolens.metrics.comparison.results import Comparison
from iolens.metrics.comparison.settings import describe, name_text, three_digits
from iolens.metrics.job.cost import io_cost
from iolens.metrics.job.interfaces.operations import syncs
from iolens.metrics.subjects.aligned import numbers
from iolens.metrics.subjects.facts import facts_of, subject_bounds
from iolens.metrics.subjects.subject import Subjects, Trial
from iolens.metrics.subjects.values import RUN
from iolens.missing import is_nan

_MEASURED = (
    ("Bandwidth", "write"),
    ("Bandwidth", "read"),
    (RUN, "I/O time of the slowest process"),
    (RUN, "run time"),
    ("Time", "run time"),
)
"""The measures by which logs, runs and outputs are compared, most wanted first: group and name. The first one that all
of them have is used; if there is none, the first measure for which more or less is better.
"""


def sources_of_comparison(comparison: Comparison, program: str) -> Evidence:
    """Returns the evidence of a comparison of a sweep's settings."""
    points = comparison.points
    base = "" if comparison.baseline is None else f"{points.loc[comparison.baseline, 'label']}, "
    base += (
        ""
        if comparison.baseline is None
        else f"{three_digits(points.loc[comparison.baseline, 'value'])} {comparison.measure.unit}"
    )
    reads = comparison.measure.operation != "write"
    rows = [
        row
        | {
            "group": points.loc[row["point"], "label"],
            "program": program,
            "bytes_read": row.get("bytes") if reads else 0,
            "bytes_written": 0 if reads else row.get("bytes"),
            "write_seconds": None if reads else row.get("io_seconds"),
        }
        for row in _recorded_runs(comparison.runs)
    ]
    speeds = {
        str(point["label"]): measured(comparison.runs[comparison.runs["point"] == index], comparison.measure.column)
        for index, point in points.iterrows()
        if not point["left_out"]
    }
    return Evidence(
        runs=frame_of(rows),
        groups={label: each for label, each in speeds.items() if each},
        rate=not comparison.measure.less_is_better,
        base=base,
        left_out=[(str(point["name"]), str(point["left_out"])) for _, point in points.iterrows() if point["left_out"]],
        bounded=int((points["bound"].notna() & (points["left_out"] == "")).sum()),
        joined=_joined_names(comparison),
        swept=True,
        from_logs=comparison.measure.less_is_better,
        by_block=comparison.by_block,
    )


def _joined_names(comparison: Comparison) -> str:
    """Returns the setting on the x axis of the figure of interactions if its levels are names; else an empty text."""
    if comparison.interaction is None:
        return ""
    name = comparison.interaction.names[1]
    return name_text(name) if comparison.interaction.cells[name].map(lambda level: isinstance(level, str)).any() else ""


def of_latencies(
    runs: pd.DataFrame, settings: Sequence[str], timed: Collection[str], baseline: str, program: str
) -> Evidence:
    """Returns the evidence of a sweep that measures latencies of variants; `timed` are the variants that have
    latencies.

    Each run times every size many times; counts are numbers of runs.
    """
    labels = [describe(dict(point)) for point in runs[list(settings)].to_dict("records")]
    found = [
        row | {"group": label, "program": program, "bytes_read": 0}
        for row, label in zip(_recorded_runs(runs), labels, strict=True)
    ]
    groups: dict[str, list[float]] = {}
    for label, usable in zip(labels, runs["usable"], strict=True):
        groups.setdefault(label, []).extend([1.0] if usable else [])
    return Evidence(
        runs=frame_of(found),
        groups={label: each for label, each in groups.items() if each and label in timed},
        rate=False,
        base=f"{baseline}, whose latencies are in the tables",
        left_out=[(label, "no latencies") for label in dict.fromkeys(labels) if label not in timed],
        swept=True,
    )


def _recorded_runs(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns the runs of a sweep under the column names of `Evidence.runs`; missing values are None."""
    named = {f"machine.{name}": name for name in ("host", "cpu", "cpus", "memory", "kernel", "cached")}
    named |= {"observed.syncs": "syncs", "storage.cached_before_read": "cached_before_read"}
    frame = runs.rename(columns=named | {f"page_cache.{name}": f"pages_{name}" for name in ("written", "read")})
    return [
        {str(key): None if isinstance(value, float) and is_nan(value) else value for key, value in row.items()}
        for row in frame.to_dict("records")
    ]


def sources_of_subjects(subjects: Subjects) -> Evidence:
    """Returns the evidence of a comparison of logs, runs and outputs."""
    rows = [_of_trial(trial) | {"group": letter} for letter, subject in subjects.named for trial in subject.trials]
    found = [numbers(subject) for subject in subjects.all]
    shared = [key for key in found[0] if all(key in each for each in found)]
    ranked = [key for pair in _MEASURED for key in shared if key[:2] == pair]
    ranked += [key for key in shared if key[3] and key not in ranked]
    groups = (
        {letter: list(each[ranked[0]]) for letter, each in zip(subjects.letters, found, strict=True)} if ranked else {}
    )
    first = subjects.all[0].label
    return Evidence(
        runs=frame_of(rows),
        groups=groups,
        rate=bool(ranked) and ranked[0][3] > 0,
        base=f"A ({first}), whose values are beside the others" if ranked else "",
        left_out=[(reason.partition(":")[0], reason) for one in subjects.all for reason in one.left_out],
        bounded=len(subject_bounds(subjects, subjects.device_rate)),
    )


def _of_trial(trial: Trial) -> dict[str, Any]:
    """Returns the evidence that one run records."""
    facts, record = facts_of(trial), trial.record
    machine: Mapping[str, Any] = record.get("machine") or {}
    storage: Mapping[str, Any] = record.get("storage") or {}
    printed = {(value.group, value.name): value.value for value in (trial.output.values if trial.output else ())}
    row: dict[str, Any] = {
        "started": record.get("started"),
        "load_before": record.get("load_before"),
        "load_after": record.get("load_after"),
        **{name: machine.get(name) for name in ("host", "cpu", "cpus", "memory", "kernel", "cached")},
        "mpi": facts.get("MPI"),
        "hosts": tuple(facts["hosts"].split(", ")) if facts.get("hosts") else (),
        "file_system": facts.get("file system"),
        "storage": facts.get("storage"),
        "launcher": facts.get("launcher"),
        "program": facts.get("program") or facts.get("benchmark"),
        "nprocs": facts.get("processes"),
        "bytes_read": printed.get(("Bytes", "read"), 0.0 if ("Bytes", "written") in printed else None),
        "bytes_written": printed.get(("Bytes", "written")),
        "write_seconds": printed.get(("Time", "write time")),
        "cached_before_read": storage.get("cached_before_read"),
        **{f"pages_{name}": (storage.get("page_cache") or {}).get(name) for name in ("written", "read")},
    }
    return row | (_log_evidence(trial) if trial.job is not None else {})


def _log_evidence(trial: Trial) -> dict[str, Any]:
    """Returns a log's evidence: the time of its start, the bytes moved by POSIX calls, the duration of writes, and
    whether it called fsync.
    """
    job = trial.job
    if job is None:
        return {}
    found: dict[str, Any] = {"syncs": syncs(job) if "POSIX" in job.frames else None}
    if not trial.record.get("started") and job.start > 0:
        found["started"] = datetime.fromtimestamp(min(job.start, 4e9), timezone.utc).isoformat()
    if "POSIX" in job.frames:
        frame = job.frames["POSIX"]
        found["bytes_read"] = float(frame["POSIX_BYTES_READ"].clip(lower=0).sum())
        found["bytes_written"] = float(frame["POSIX_BYTES_WRITTEN"].clip(lower=0).sum())
        if found["bytes_written"]:
            found["write_seconds"] = float(io_cost(job).frame().set_index("module").loc["POSIX", "write"])
    return found
