"""Running jobs in the text format that Prometheus and node_exporter's textfile collector read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from iolens.log import Job
from iolens.metrics.job.cost import all_performance
from iolens.metrics.job.interfaces.operations import operation_counts
from iolens.missing import is_nan

Labels = tuple[tuple[str, str], ...]
"""Names and values of a sample's labels, in the order in which they are written."""


@dataclass(frozen=True)
class Reading:
    """The numbers of one process group at one moment: `group` distinguishes it from other groups of the same job,
    `labels` are those of the job, `counters` only grow while the group runs, `gauges` have their current values.
    """

    group: str
    labels: Labels
    counters: Mapping[tuple[str, Labels], float]
    gauges: Mapping[str, float] = field(default_factory=dict)


_FAMILIES = {
    "iolens_job_bytes": ("counter", "Bytes that the job has moved, by layer and direction."),
    "iolens_job_io_seconds": ("counter", "Seconds that the slowest rank has spent in calls of a layer."),
    "iolens_job_operations": ("counter", "Calls that have returned, by layer and operation."),
    "iolens_job_run_seconds": ("gauge", "Seconds since the job began."),
    "iolens_job_processes": ("gauge", "Processes of the job that run on this node under the profiler."),
}
"""Metric families: name without `_total`, kind, help."""


def reading(job: Job, group: str, labels: Labels, processes: int) -> Reading:
    """Returns the numbers of a job so far. Bytes and seconds as `io_cost` and `operation_counts` define them."""
    counters: dict[tuple[str, Labels], float] = {}
    for layer in all_performance(job):
        module = ("module", layer.module)
        counters["iolens_job_bytes", (module, ("direction", "read"))] = layer.bytes_read
        counters["iolens_job_bytes", (module, ("direction", "write"))] = layer.bytes_written
        counters["iolens_job_io_seconds", (module,)] = layer.seconds
    for name, operation, count in operation_counts(job).rows("module", "operation", "count"):
        if not is_nan(count):
            counters["iolens_job_operations", (("module", name), ("operation", operation))] = float(count)
    gauges = {"iolens_job_run_seconds": job.run_time, "iolens_job_processes": float(processes)}
    return Reading(group, labels, counters, gauges)


def exposition(readings: Iterable[Reading]) -> str:
    """Returns all samples as text. Counters and numbers of processes of one job's groups are added up; of other gauges
    the largest value counts.
    """
    families: dict[str, dict[Labels, float]] = {name: {} for name in _FAMILIES}
    for one in readings:
        for (name, labels), value in one.counters.items():
            samples, key = families[name], one.labels + labels
            samples[key] = samples.get(key, 0.0) + value
        for name, value in one.gauges.items():
            before = families[name].get(one.labels, 0.0)
            families[name][one.labels] = before + value if name == "iolens_job_processes" else max(before, value)
    lines = []
    for name, (kind, text) in _FAMILIES.items():
        full = f"{name}_total" if kind == "counter" else name
        lines += [f"# HELP {full} {text}", f"# TYPE {full} {kind}"]
        lines += [f"{full}{{{_label_text(labels)}}} {value!r}" for labels, value in families[name].items()]
    return "\n".join([*lines, ""])


def _label_text(labels: Labels) -> str:
    """Returns labels in Prometheus's format, with its three escapes in values."""
    escapes = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    return ",".join(f'{name}="{value.translate(escapes)}"' for name, value in labels)


class Scrapes:
    """The readings of all jobs from one scrape to the next; they keep every counter of a job from falling while any of
    its processes runs.
    """

    def __init__(self) -> None:
        self._kept: dict[Labels, dict[str, Reading]] = {}

    def add(self, now: Iterable[Reading]) -> list[Reading]:
        """Takes the readings of one moment; returns them with the counts of ended groups of the same jobs added."""
        fresh: dict[Labels, dict[str, Reading]] = {}
        for one in now:
            fresh.setdefault(one.labels, {})[one.group] = _not_below(one, self._kept.get(one.labels, {}).get(one.group))
        for labels, groups in fresh.items():
            for name, one in self._kept.get(labels, {}).items():
                groups.setdefault(name, Reading(name, labels, one.counters))
        self._kept = fresh
        return [one for groups in fresh.values() for one in groups.values()]


def _not_below(now: Reading, before: Reading | None) -> Reading:
    """Returns a reading whose counters are at least as large as before. Without this, the counters would fall when
    one of the job's processes ends.
    """
    if before is None:
        return now
    counters = {**before.counters, **now.counters}
    largest = {key: max(value, before.counters.get(key, 0.0)) for key, value in counters.items()}
    return Reading(now.group, now.labels, largest, now.gauges)
