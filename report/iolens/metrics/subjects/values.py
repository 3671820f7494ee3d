"""The numbers of one run that a comparison aligns: those of its log, and those that a benchmark printed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from iolens.log import Job
from iolens.metrics.files.overview import file_counts
from iolens.metrics.job.cost import all_performance, io_cost
from iolens.metrics.job.gauges import gauges
from iolens.metrics.job.interfaces.operations import access_sizes, operation_counts, sized_layers
from iolens.metrics.job.share import io_seconds
from iolens.metrics.processor.ask import Ask
from iolens.metrics.processor.mpi.calls import mpi_calls
from iolens.metrics.processor.sampled.groups import OFF_CORE, UNKNOWN, UNTRACED
from iolens.metrics.processor.sampled.groups import PARTS as PARTS_OF_TIME
from iolens.metrics.processor.sampled.samples import profile, sampling
from iolens.metrics.processor.time import efficiencies, in_parts, rank_time, whole_time
from iolens.metrics.subjects.subject import Trial, Value
from iolens.metrics.why.answers import path_by_activity, replays, waits_by_cause
from iolens.metrics.why.what_if import NO_CHANGE
from iolens.missing import is_nan

RUN, _SPENT, _FILES = "Run", "Average process", "Files"
WENT, EFFICIENT = "Parts of the time of an average rank", "Efficiencies after POP"
FUNCTIONS, IN_MPI = "Functions, by samples of an average rank", "MPI functions, of an average rank"
WAITED, _ON_PATH, _SAVED = "Waits of all ranks, by cause", "The critical path, by work", "What if: time saved"
"""Names of groups of values."""

COMPLETE = (FUNCTIONS, IN_MPI, WAITED, _ON_PATH)
"""Groups whose names are complete: if the log has the group, a name that is missing in it took no time."""

PROFILES = (WENT, *COMPLETE, _SAVED)
"""Groups whose numbers are sorted by the size of their change."""

_VAGUE, _CERTAIN = (UNKNOWN, OFF_CORE, UNTRACED), 0.01
"""Parts of the time that the log could not attribute, and the largest share of them at which the other parts count as
completely known.
"""

_EACH_FUNCTION = Ask(("function",), 0.0)

_GAUGES = {
    "share": ("share of I/O in the run", "share", -1),
    "balance": ("balance of I/O over ranks", "", 1),
    "size": ("mean transfer", "B", 1),
}
"""Gauges that are compared: name, unit, and which way is better."""


def values_of(trial: Trial) -> list[Value]:
    """Returns all numbers of a run; those of the log first. A number that was not measured is left out."""
    found = [] if trial.job is None else [value for part in _PARTS for value in part(trial.job)]
    return [*_run_time(trial), *found, *(trial.output.values if trial.output else ())]


def _run_time(trial: Trial) -> Iterator[Value]:
    """Yields the time of the run: that of its log, or of the whole run if each of its processes left a log."""
    if trial.job is not None and trial.logs == 1:
        yield Value(RUN, "run time", "s", trial.job.run_time, -1)
    elif trial.logs > 1 and trial.seconds > 0:
        yield Value(RUN, "run time", "s", trial.seconds, -1)


def _run_values(job: Job) -> Iterator[Value]:
    """Yields the number of processes, the time in I/O of the slowest process, and the known gauges."""
    yield Value(RUN, "processes", "processes", job.nprocs)
    spent = io_seconds(job)
    if spent is not None:
        yield Value(RUN, "I/O time of the slowest process", "s", spent, -1)
    found = gauges(job).frame().set_index("gauge")["value"]
    for gauge, (name, unit, better) in _GAUGES.items():
        if not is_nan(found[gauge]):
            yield Value(RUN, name, unit, float(found[gauge]), better)


def _of_layers(job: Job) -> Iterator[Value]:
    """Yields bytes and speed of each layer (`metrics.job.cost.performance`)."""
    for one in all_performance(job):
        yield Value(one.module, "read", "B", one.bytes_read)
        yield Value(one.module, "written", "B", one.bytes_written)
        if one.mib_per_second is not None and one.bytes_read + one.bytes_written:
            yield Value(one.module, "speed by the slowest", "MiB/s", one.mib_per_second, 1)


def _of_time(job: Job) -> Iterator[Value]:
    """Yields seconds of an average process in reads, writes and metadata, by layer (`metrics.job.cost.io_cost`)."""
    for row in io_cost(job).frame().to_dict("records"):
        for kind in ("read", "write", "meta"):
            yield Value(_SPENT, f"{row['module']} {kind}", "s", float(row[kind]), -1)


def _of_parts(job: Job) -> Iterator[Value]:
    """Yields the seconds of an average rank by part, and POP's efficiencies, where the log knows them. A part without
    time took 0 s only if the log attributes nearly all of the time to parts.
    """
    times = rank_time(job)
    if times is None:
        return
    vague = float(in_parts(times, _VAGUE).mean())
    is_complete = vague <= _CERTAIN * float(whole_time(times).mean())
    for part in (part for part in PARTS_OF_TIME if is_complete or times[part].any()):
        yield Value(WENT, part, "s", float(times[part].mean()), -1)
    found = efficiencies(job)
    for name, value in () if found is None else found.rows("name", "value"):
        if not is_nan(value):
            yield Value(EFFICIENT, name, "", value, 1)


def _of_functions(job: Job) -> Iterator[Value]:
    """Yields the seconds of an average rank in each function: its samples divided by their rate."""
    rates, table = sampling(job), profile(job, _EACH_FUNCTION)
    rate = 0.0 if rates is None else float(rates["asked_hz"].max())
    if table is None or rate <= 0:
        return
    for level, name, samples in table.rows("level", "name", "samples"):
        if level == "function":
            yield Value(FUNCTIONS, name, "s", float(samples) / rate, -1)


def _of_mpi(job: Job) -> Iterator[Value]:
    """Yields the seconds of an average rank in each MPI function, from timed calls."""
    table = mpi_calls(job, _EACH_FUNCTION)
    if table is None:
        return
    for level, name, seconds in table.rows("level", "name", "time"):
        if level == "function":
            yield Value(IN_MPI, name, "s", float(seconds), -1)


def _of_waits(job: Job) -> Iterator[Value]:
    """Yields the seconds that ranks waited for each activity of each rank, and the seconds of each activity on the
    critical path.
    """
    waits, path = waits_by_cause(job), path_by_activity(job)
    work = ("kind", "function", "file", "seconds")
    waited: defaultdict[str, float] = defaultdict(float)
    for rank, *which, seconds in () if waits is None else waits.rows("rank", *work):
        waited[f"rank {rank}: {_work(*which)}"] += float(seconds)
    on_path: defaultdict[str, float] = defaultdict(float)
    for *which, seconds in () if path is None else path.rows(*work):
        on_path[_work(*which)] += float(seconds)
    for group, totals in ((WAITED, waited), (_ON_PATH, on_path)):
        for name, total in totals.items():
            yield Value(group, name, "s", total, -1)


def _of_replays(job: Job) -> Iterator[Value]:
    """Yields the seconds that the job would save with parts of its work left out."""
    found = replays(job)
    asked = list(() if found is None else found.rows("question", "rank", "file", "saved"))
    alike = Counter(PurePosixPath(file).name for _, _, file, _ in asked)
    for question, rank, file, saved in asked:
        if question != NO_CHANGE and not is_nan(saved):
            path = PurePosixPath(file)
            name = "/".join(path.parts[-2:]) if alike[path.name] > 1 else path.name
            which = f", rank {rank}" if rank >= 0 else f", {name}" if file else ""
            yield Value(_SAVED, f"{question}{which}", "s", max(float(saved), 0.0))


def _work(kind: str, function: str, file: str) -> str:
    """Returns the name of a piece of work: its function or else its kind, and the file's name without folders, because
    folders differ from run to run.
    """
    return (function or kind) + (f" of {PurePosixPath(file).name}" if file else "")


def _of_operations(job: Job) -> Iterator[Value]:
    """Yields calls of each operation of each layer, without those that were never called."""
    for row in operation_counts(job).frame().to_dict("records"):
        if not is_nan(row["count"]) and row["count"] is not None:
            yield Value(f"{row['module']} calls", row["operation"], "calls", float(row["count"]))


def _of_sizes(job: Job) -> Iterator[Value]:
    """Yields the reads and writes in each range of sizes."""
    for layer in sized_layers(job):
        for row in access_sizes(job, layer).frame().to_dict("records"):
            bucket = str(row["bucket"]).replace("_PLUS", " and more").replace("_", " to ")
            yield Value(f"{layer} accesses", f"reads of {bucket} bytes", "accesses", float(row["reads"]))
            yield Value(f"{layer} accesses", f"writes of {bucket} bytes", "accesses", float(row["writes"]))


def _file_use_values(job: Job) -> Iterator[Value]:
    """Yields numbers of files by how they were used."""
    for row in file_counts(job).frame().to_dict("records"):
        yield Value(_FILES, str(row["category"]), "files", float(row["files"]))


_PARTS = (
    _run_values,
    _of_parts,
    _of_functions,
    _of_mpi,
    _of_waits,
    _of_replays,
    _of_layers,
    _of_time,
    _of_operations,
    _of_sizes,
    _file_use_values,
)
