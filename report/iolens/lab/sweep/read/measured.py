"""The number by which the runs of a sweep are compared, and its source: the program's result, its output, its log, or
the clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from iolens.errors import IolensError, UsageError
from iolens.lab.outputs.outputs import read_output
from iolens.lab.outputs.words import BANDWIDTH
from iolens.lab.sweep.define.metrics import (
    AUTOMATIC,
    BY_LIKELIHOOD,
    COLUMN,
    IO_BANDWIDTH,
    METRICS,
    OF_LOG,
    PATTERN,
    RUN_TIME,
    measure_of_pattern,
)
from iolens.log import read_log
from iolens.metrics.comparison.settings import Measure
from iolens.metrics.subjects.aligned import Key, numbers
from iolens.metrics.subjects.gate import names_of
from iolens.metrics.subjects.subject import Subject, Trial

_OUTPUT = "stdout.txt"

Row = dict[str, Any]
Rows = Sequence[Row]


@dataclass(frozen=True)
class Chosen:
    """The metric of a sweep by its name, its measure, the rows of its runs, and a sentence on its source; the sentence
    is empty for a metric that the experiment names itself.
    """

    metric: str
    measure: Measure
    rows: Rows
    source: str = ""


_OWN_RESULT = "Settings are compared by the bandwidth that the program itself reports."
_BY_LOG = (
    "The program reports no bandwidth in a known form, so settings are compared by the I/O bandwidth of the logs "
    "(iolens table LOG performance): the bytes of the layer with most bytes, by the I/O time of its slowest rank."
)
_BY_CLOCK = "Neither the program nor every log gives an I/O bandwidth, so settings are compared by run time."

_SOURCES = {IO_BANDWIDTH: _BY_LOG, RUN_TIME: _BY_CLOCK}
"""Sentences on the sources other than the program."""


def chosen_metric(report: Mapping[str, Any], read: Callable[[str], Rows]) -> Chosen:
    """Returns the metric by the experiment's section `report`; `automatic` becomes the first metric that the runs have.
    `read(operation)` returns the rows of the runs, with the program's own bandwidth of that operation.
    """
    metric = str(report.get("metric") or (PATTERN if report.get("pattern") else "write_bandwidth"))
    if metric == AUTOMATIC:
        return _first_known(read)
    rows = read(METRICS[metric].operation if metric in METRICS else "write")
    if metric == PATTERN:
        measure = measure_of_pattern(report)
        for row in rows:
            row[COLUMN] = _printed_number(Path(row["folder"]) / _OUTPUT, str(report["pattern"]))
        return Chosen(
            metric, measure, rows, f"Settings are compared by a number that the program prints: {measure.axis}."
        )
    if metric.startswith(OF_LOG):
        return Chosen(metric, _with_log_number(rows, metric.removeprefix(OF_LOG)), rows)
    if metric not in METRICS:
        raise UsageError(f"report.metric {metric!r} is unknown; choose one of {', '.join((*METRICS, AUTOMATIC))}")
    return Chosen(metric, METRICS[metric], rows)


def _first_known(read: Callable[[str], Rows]) -> Chosen:
    """Returns the first metric of `BY_LIKELIHOOD` that the runs have; run time if they have no other."""
    rows: Rows = ()
    for metric in BY_LIKELIHOOD:
        measure = METRICS[metric]
        rows = read(measure.operation) if measure.operation else rows
        if _is_known(rows, measure, every=metric == IO_BANDWIDTH):
            break
    if metric == IO_BANDWIDTH:
        for row in rows:
            row["bytes"] = row.get("observed.io_bytes")
            if row["bytes"] and row.get(measure.column):
                row["io_seconds"] = row["bytes"] / 2**20 / row[measure.column]
    return Chosen(metric, measure, rows, _SOURCES.get(metric, _OWN_RESULT))


def _is_known(rows: Rows, measure: Measure, every: bool = False) -> bool:
    """Returns True if a usable run has a value of this measure, or if all usable runs have one."""
    has = [bool(row.get(measure.column)) for row in rows if row["usable"]]
    return bool(has) and (all(has) if every else any(has))


def printed_bandwidth(folder: Path, operation: str) -> float | None:
    """Returns the bandwidth (MiB/s) of an operation that a program without a result printed in a known form; None if
    its output has none.
    """
    path = folder / _OUTPUT
    output = read_output(path) if path.is_file() else None
    found = [
        value.value
        for value in (output.values if output else ())
        if (value.group, value.name, value.unit) == (BANDWIDTH, operation, "MiB/s")
    ]
    return fmean(found) if found else None


def _printed_number(path: Path, pattern: str) -> float | None:
    """Returns the number that a pattern matches last in an output; None without one."""
    try:
        found = re.findall(pattern, path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
        return float(found[-1]) if found else None
    except (OSError, ValueError):
        return None


def _with_log_number(rows: Rows, name: str) -> Measure:
    """Adds a number of the logs to the rows, and returns its measure; raises UsageError if no log has the number."""
    known: dict[str, Key] = {}
    for row in rows:
        found = _numbers_of_log(row["log"]) if row["usable"] and row["log"] else {}
        row[COLUMN] = found[name][1] if name in found else None
        known |= {each: key for each, (key, _) in found.items()}
    if not known:
        return Measure(name, "", COLUMN, of_storage=False)
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {OF_LOG}{near[0]}?" if near else "`iolens check LOG --list` prints the names"
        raise UsageError(f"report.metric: no log of these runs has the number {OF_LOG}{name}; {hint}")
    group, label, unit, better = known[name]
    return Measure(f"{label} ({group})", unit, COLUMN, less_is_better=better < 0, of_storage=False)


@lru_cache(maxsize=4096)
def _numbers_of_log(log: str) -> Mapping[str, tuple[Key, float]]:
    """Returns the numbers of a log, each with its key, by the names that `iolens check` gives them; empty if the log
    cannot be read. Results are kept, because a sweep reads its runs again after each run.
    """
    path = Path(log)
    try:
        subject = Subject(path.name, path, (Trial(path, job=read_log(path)),))
    except IolensError:
        return {}
    values = numbers(subject)
    return {name: (key, values[key][0]) for name, key in names_of(subject).items()}


def not_measured(chosen: Chosen) -> str:
    """Returns a sentence if no usable run has a value of the metric: another metric that all have, and the option that
    compares the finished runs by it. Returns an empty text if a run has a value, or if no run is usable.
    """
    usable = [row for row in chosen.rows if row["usable"]]
    if not usable or chosen.metric == "latency" or _is_known(usable, chosen.measure):
        return ""
    other = next(name for name in (IO_BANDWIDTH, RUN_TIME) if _is_known(usable, METRICS[name], every=True))
    return (
        f"none of {len(usable)} finished runs gave a {chosen.measure.name}, but all gave a {METRICS[other].name}; to "
        f"compare these runs by it, without repeating one, give the same command with --set report.metric={other}"
    )
