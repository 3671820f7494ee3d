"""Running jobs: for the terminal, and in the text format of Prometheus and node_exporter's textfile collector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from iolens.log import Job
from iolens.metrics.files.costly_files import top_files
from iolens.metrics.job.cost import all_performance
from iolens.metrics.job.interfaces.mpiio import listed_ranks
from iolens.metrics.job.interfaces.operations import operation_counts
from iolens.metrics.job.progress import layers_since, standing
from iolens.metrics.processor.ask import Ask
from iolens.metrics.processor.mpi.calls import mpi_calls
from iolens.missing import is_nan
from iolens.pages.base.blocks import Table
from iolens.pages.base.words import GUARD, NONE, count, plural, rate, seconds, size
from iolens.pages.exhibits.ranks import RANK_BALANCE
from iolens.pages.text.lines import table_text

if TYPE_CHECKING:
    from rich.text import Text

    from iolens.lab.recovery.recover import Spool


_MOST_FILES = 8
_MOST_FUNCTIONS = 8
_NO_SAMPLE = "(no sample: the thread waits in the system, or is stopped)"


def jobs_table(jobs: Sequence[tuple[Sequence[Spool], Job]]) -> Table:
    """Returns one row per running job: what it has moved at the lowest layers so far."""
    rows = []
    for spools, job in jobs:
        layers = [layer for layer in layers_since(job, None) if layer.module in ("POSIX", "STDIO")]
        moved = [size(sum(layer.bytes_read for layer in layers)), size(sum(layer.bytes_written for layer in layers))]
        ranks = f"{len(spools)} of {max(spools[0].ranks, 1)}"
        words = [str(spools[0].jobid), str(spools[0].pid), spools[0].program, ranks, seconds(job.run_time)]
        rows.append([*words, *moved, seconds(sum(layer.seconds for layer in layers))])
    columns = ["job", "process", "program", "ranks here", "runs for (s)", "read", "written", "I/O time (s)"]
    return Table("Running under the profiler", columns, rows, "I/O time: of the slowest rank.")


def live_parts(spools: Sequence[Spool], job: Job, before: Job | None, width: int) -> list[Text]:
    """Returns the parts of the display of a running job, for a terminal of this width."""
    from rich.text import Text

    tables = [_layers_table(job, before), RANK_BALANCE.table(job), _places_table(job, before)]
    marks = [Text(sentence, style="bold") for sentence in [*_incomplete(job), *job.unfollowed]]
    head = Text(_headline(spools, job), style="bold")
    tables += [_mpi_table(job), _files_table(job)]
    shown = [line for one in tables if one and one.rows for line in ("", *table_text(one, width))]
    return [head, *marks, *map(Text, shown)]


def _incomplete(job: Job) -> list[str]:
    """Returns the gaps in the records so far, apart from the missing end of the job."""
    return [f"Incomplete. {reason}" for reason in job.partial if not reason.startswith("A snapshot ")]


def _layers_table(job: Job, before: Job | None) -> Table:
    """Returns the table of each layer's totals, and its speed since the previous reading."""
    rows = [
        [
            one.module,
            count(one.files),
            *(size(moved) for moved in (one.bytes_read, one.bytes_written)),
            seconds(one.seconds),
            *(rate(speed) for speed in (one.read_rate, one.write_rate)),
        ]
        for one in layers_since(job, before)
    ]
    columns = ["layer", "files", "read", "written", "I/O time (s)", "reads now", "writes now"]
    return Table("Layers", columns, rows, "Now: since the last update. I/O time: time of the slowest rank.")


def _mpi_table(job: Job) -> Table | None:
    """Returns the MPI functions that took most time; None if MPI is not traced."""
    found = mpi_calls(job, Ask(threshold=0))
    if found is None:
        return None
    shown = found.where(slice(1 + _MOST_FUNCTIONS))
    rows = [
        [
            *(name, f"{calls:,.2f}".removesuffix(".00"), seconds(time), GUARD if is_nan(most) else seconds(most)),
            *(size(sent), size(received)),
        ]
        for name, calls, time, most, sent, received in shown.rows(
            *("name", "calls", "time", "most", "bytes_sent", "bytes_received")
        )
    ]
    columns = ["function", "calls", "time (s)", "slowest rank (s)", "sent", "received"]
    return Table(
        "MPI calls with the most time", columns, rows, "Values of an average rank, for calls that have returned."
    )


def _places_table(job: Job, before: Job | None) -> Table | None:
    """Returns the functions in which ranks are; None if they are not sampled."""
    found = standing(job, before)
    if found is None:
        return None
    rows = [
        [one.function or _NO_SAMPLE, one.group, listed_ranks(one.ranks), f"{one.share:.0f} %" if one.function else NONE]
        for one in found[:_MOST_FUNCTIONS]
    ]
    note = "Samples of their first threads since the last update; a waiting system call has no samples yet."
    return Table("Where ranks are now", ["mostly in", "group", "ranks", "of their samples"], rows, note)


def _files_table(job: Job) -> Table:
    """Returns the files that took most time."""
    found = top_files(job, "seconds", _MOST_FILES)
    rows = [
        [path, size(read), size(written), seconds(spent)]
        for path, read, written, spent in found.rows("path", "bytes_read", "bytes_written", "seconds")
    ]
    return Table("Files that took most time", ["file", "read", "written", "slowest rank (s)"], rows)


def _headline(spools: Sequence[Spool], job: Job) -> str:
    """Returns the identity of the job and how many of its processes are visible."""
    first = spools[0]
    ranks = max(first.ranks, 1)
    here = f"{plural(len(spools), 'process')} here" + (f" of {ranks}" if ranks != len(spools) else "")
    return f"{first.program}, job {first.jobid}: running for {seconds(job.run_time)} s, {here}"


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
    for name, operation, calls in operation_counts(job).rows("module", "operation", "count"):
        if not is_nan(calls):
            counters["iolens_job_operations", (("module", name), ("operation", operation))] = float(calls)
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
