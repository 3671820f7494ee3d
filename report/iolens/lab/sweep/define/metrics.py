"""The metrics that an experiment can name, and the names of columns that its factors cannot have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from iolens.metrics.comparison.settings import Measure

AUTOMATIC, IO_BANDWIDTH, RUN_TIME, PATTERN = "automatic", "io_bandwidth", "run_time", "pattern"

METRICS: dict[str, Measure] = {
    "write_bandwidth": Measure("write bandwidth", operation="write"),
    "read_bandwidth": Measure("read bandwidth", operation="read"),
    IO_BANDWIDTH: Measure("I/O bandwidth by the log", column="observed.io_bandwidth"),
    "latency": Measure("latency"),
    "compute_time": Measure("compute time", "s", "observed.compute_seconds", less_is_better=True, of_storage=False),
    RUN_TIME: Measure("run time", "s", "seconds", less_is_better=True),
}
"""The metrics of sweeps, by their names in `report.metric` of experiment.yaml.

Latency comes from the result's `latency` table and has its own comparison; compute time and I/O bandwidth come from
the log (`observed` of run.json), and run time is that of the command.
"""

OF_ANY = (AUTOMATIC, IO_BANDWIDTH, "compute_time", RUN_TIME, PATTERN)
"""The metrics that runs of any program may have."""

BY_LIKELIHOOD = ("write_bandwidth", "read_bandwidth", IO_BANDWIDTH, RUN_TIME)
"""The metrics that `automatic` tries in this order: the program's own result, then the log, then the clock."""

OF_LOG = "log."
"""Prefix of a metric that names a number of the log, as `iolens check LOG --list` prints them."""

COLUMN = "measured.value"
"""Column of the frame of runs for a number of the log or of the output that an experiment names itself."""

_TIMES = ("s", "sec", "secs", "seconds", "ms", "us", "µs", "min", "minutes")
_GROUP = re.compile(r"(?<!\\)\((?!\?)")


def measure_of_pattern(report: Mapping[str, Any]) -> Measure:
    """Returns the measure that `report.pattern` describes: the plain words before its group are the name, those behind
    it the unit. A number in a unit of time is better if it is smaller, unless `report.better` says otherwise.
    """
    before, _, behind = _GROUP.sub("\0", str(report["pattern"]), 1).partition("\0")
    name = re.match(r"[\w /-]*", before.lstrip("^"))
    unit = re.match(r"(?:[^()]|\\.)*\)(?:\s|\\s[*+]?)*([A-Za-zµ/]*)", behind)
    unit_text = str(report.get("unit") or (unit[1] if unit else ""))
    less = report["better"] == "less" if report.get("better") else unit_text in _TIMES
    return Measure(name[0].strip() if name and name[0].strip() else "printed number", unit_text, COLUMN, "", less)


FACTS = (
    *("run", "folder", "repetition", "status", "reason", "usable", "ignored", "lost_attempts", "confirmed", "storage"),
    "failed_attempts",
    *("file_system", "io_component", "driver", "mpi", "below", "hosts", "load_before", "load_after", "launcher"),
    *("seconds", "started", "log", "result", "bandwidth", "io_seconds", "io_seconds_harmonic", "bytes", "nprocs"),
    *(
        "verification",
        "fresh",
        "point",
        "label",
        "name",
        "planned",
        "count",
        "lost",
        "left_out",
        "value",
        "low",
        "high",
    ),
    *("interval_method", "coverage", "seconds_low", "seconds_high", "bound", "bound_by", "tied", "ratio", "ratio_low"),
    "ratio_high",
)
"""Columns without a dot that runs and points have in addition to their settings; no factor may have one of these
names.
"""
