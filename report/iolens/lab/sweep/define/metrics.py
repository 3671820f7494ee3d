"""The metrics that an experiment can name, and the names of columns that its factors cannot have."""

from __future__ import annotations

from iolens.metrics.comparison.measure import Measure

METRICS: dict[str, Measure] = {
    "write_bandwidth": Measure("write bandwidth", operation="write"),
    "read_bandwidth": Measure("read bandwidth", operation="read"),
    "latency": Measure("latency"),
    "compute_time": Measure("compute time", "s", "observed.compute_seconds", less_is_better=True, of_storage=False),
    "run_time": Measure("run time", "s", "seconds", less_is_better=True),
}
"""The metrics that `report.metric` of experiment.yaml can name.

Latency comes from the result's `latency` table and has its own comparison; compute time comes from the log
(`observed.compute_seconds`), and run time is that of the command.
"""

OF_ANY = ("compute_time", "run_time")
"""The metrics that runs of any program have."""

FACTS = (
    *("run", "repetition", "status", "reason", "usable", "ignored", "lost_attempts", "confirmed", "storage"),
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
