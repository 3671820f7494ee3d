"""The conditions of a run as text that can be compared side by side, and the most that its storage could give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import PurePosixPath
from typing import Any

from iolens.lazy import pd
from iolens.log import Job
from iolens.log.job import EMULATED
from iolens.metrics.comparison.settings import describe, size_text, volume_text
from iolens.metrics.files.overview import file_systems
from iolens.metrics.files.stripes.bound import MIB, has_limits, of_runs
from iolens.metrics.files.stripes.striping import layouts
from iolens.metrics.job.interfaces.mpiio import hints
from iolens.metrics.once import once_per_job
from iolens.metrics.subjects.subject import Output, Subject, Subjects, Trial

_MOST = 3
"""Maximum number of different values of a fact that are listed for the repetitions of a subject."""

_LONG = 40
"""Maximum length, in characters, of values that are listed one after the other; of longer values only the first is
shown.
"""

LATEST_DATE = 1e11
"""Latest plausible date in seconds since 1970; a later one is taken for damage."""


def facts_of(trial: Trial) -> dict[str, str]:
    """Returns the facts of one run; if several sources know a fact, the log's value counts."""
    found: dict[str, str] = {}
    parts = [
        *(_of_record(trial.record) if trial.record else ()),
        *(_of_output(trial.output) if trial.output else ()),
        *(_of_job(trial.job) if trial.job else ()),
    ]
    for name, value in parts:
        if value:
            found[name] = value
    return found


def _of_job(job: Job) -> Iterator[tuple[str, str]]:
    """Yields the facts that a log knows."""
    said = job.info
    yield "program", PurePosixPath(job.exe).name
    yield "command", job.command or job.exe
    yield "date", _date(job.start)
    yield "processes", str(job.nprocs)
    yield "hosts", ", ".join(map(str, said.get("hosts") or ()))
    yield "MPI", str(said.get("mpi") or "").partition(",")[0]
    yield "MPI-IO component", str(said.get("io_component") or "")
    yield "profiler", job.metadata.get("lib_ver", "")
    yield "storage", EMULATED if job.emulated else ""
    moved = file_systems(job)
    yield "file system", ", ".join(dict.fromkeys(kind for kind in moved["type"].tolist() if kind))
    striped = layouts(job)
    if striped is not None:
        count, size = next(striped.rows("stripe_count", "stripe_size"))
        yield "stripes", f"{count} × {size_text(float(size))}"
    yield from _of_hints(job)


def _of_hints(job: Job) -> Iterator[tuple[str, str]]:
    """Yields the hints of MPI-IO: the effective values, else the requested ones; if files differ, all values."""
    found = hints(job)
    if found is None:
        return
    values: dict[str, list[str]] = {}
    for key, effective, requested in found.rows("key", "effective", "requested"):
        values.setdefault(key, []).append(effective or requested)
    for key, each in sorted(values.items()):
        if any(each):
            yield f"hint {key}", ", ".join(dict.fromkeys(filter(None, each)))


def _of_output(output: Output) -> Iterator[tuple[str, str]]:
    """Yields the facts that a benchmark printed about itself."""
    yield "benchmark", output.program
    yield from output.facts.items()


def _of_record(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the facts in a run.json."""
    mpi, storage, machine = (record.get(key) or {} for key in ("mpi", "storage", "machine"))
    point = {key: value for key, value in (record.get("point") or {}).items() if key != "repetition"}
    yield "setting", describe(point)
    yield "command", " ".join(map(str, record.get("command") or ()))
    yield "date", str(record.get("started") or "")[:10]
    yield "launcher", str(record.get("launcher") or "")
    yield "hosts", ", ".join(map(str, record.get("hosts") or ()))
    yield "MPI", str(mpi.get("library") or "").partition(",")[0]
    yield "MPI-IO component", str(mpi.get("io_component") or "")
    yield "storage", str(storage.get("kind") or "")
    yield "file system", str(storage.get("file_system") or "")
    yield "processor", str(machine.get("cpu") or "")
    yield "processors", str(machine.get("cpus") or "")
    yield "memory", volume_text(machine["memory"]) if machine.get("memory") else ""
    yield "kernel", str(machine.get("kernel") or "")


def _date(seconds: float) -> str:
    """Returns the day of a time since 1970, in UTC; empty if a log has none."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d") if 0 < seconds < LATEST_DATE else ""


@once_per_job
def aligned_facts(subjects: Subjects) -> pd.DataFrame:
    """Returns one row per fact: `fact`, a column of text for each subject, named by its letter (empty: not known;
    several values if its repetitions differ), and `differs`: whether the subjects that have the fact differ.
    """
    each = [_facts_of_subject(subject) for subject in subjects.all]
    names = list(dict.fromkeys(name for found in each for name in found))
    rows = []
    for name in names:
        texts = [found.get(name, "") for found in each]
        rows.append((name, *texts, len({text for text in texts if text}) > 1))
    return pd.DataFrame(rows, columns=["fact", *subjects.letters, "differs"])


def _facts_of_subject(subject: Subject) -> dict[str, str]:
    """Returns the facts of a subject's runs; if runs differ in a fact, up to _MOST values."""
    found: dict[str, dict[str, None]] = {}
    for trial in subject.trials:
        for name, value in facts_of(trial).items():
            found.setdefault(name, {})[value] = None
    return {name: value_list(list(values)) for name, values in found.items()}


def value_list(values: list[str]) -> str:
    """Returns some values: 'a; b; c; 4 more'; if they are long, only the first."""
    shown = values[: _MOST if max(map(len, values)) <= _LONG else 1]
    more = len(values) - len(shown)
    return "; ".join([*shown, *([f"{more} more"] if more else [])])


def subject_bounds(subjects: Subjects, device_rate: float = 0.0) -> dict[str, float]:
    """Returns the bound in MiB/s by the subjects' letters, without subjects that have none. For emulated storage the
    bound is that of `metrics.files.stripes.bound.of_runs` for the requested stripes and the observed writers (medians
    over the runs); for other storage it is `device_rate`, in bytes per second, if that is given.
    """
    found = {}
    for letter, subject in subjects.named:
        most = _of_model(subject) or (device_rate / MIB if not _emulated(subject) else 0.0)
        if most:
            found[letter] = most
    return found


def _emulated(subject: Subject) -> bool:
    """Returns whether any run of the subject was on emulated storage."""
    kinds = {(trial.record.get("storage") or {}).get("kind") for trial in subject.trials}
    return EMULATED in kinds or any(job.emulated for job in subject.jobs)


def _of_model(subject: Subject) -> float:
    """Returns the bound by the model in MiB/s; 0 if the runs do not record the numbers that the model needs."""
    limits = next((trial.limits for trial in subject.trials if has_limits(trial.limits)), {})
    found = of_runs(pd.json_normalize([dict(trial.record) for trial in subject.trials]), limits)
    return found[0] if found else 0.0
