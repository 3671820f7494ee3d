"""The run time of an average process in parts, for logs that record only the time of I/O."""

from __future__ import annotations

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.job.share import KINDS, extra_seconds, highest_records, seconds_in
from iolens.metrics.once import once_per_job

_OPERATIONS = {"READ": "read", "WRITE": "write", "META": "metadata"}


@once_per_job
def run_parts(job: Job) -> Records | None:
    """Returns the run time of an average process in parts that add up: layer, operation, seconds.

    A file's time counts in the highest layer that knows the file. The rest of the run time, which the log did not
    record, has neither layer nor operation. None for a log without times of I/O, and for a log whose calls overlapped
    so much that their sum exceeds the run time.
    """
    ranks = max(job.nprocs, 1)
    rows = [
        (name, _OPERATIONS[kind], float(seconds_in(job, name, kind, waits=False)[part].sum()) / ranks)
        for name, part in highest_records(job)
        for kind in KINDS
    ]
    own, common = extra_seconds(job)
    rows.append(("POSIX", "other calls", (float(own.sum()) + common) / ranks))
    rows = [row for row in rows if row[2] > 0]
    spent = sum(seconds for _, _, seconds in rows)
    if not rows or spent > job.run_time:
        return None
    return Records.of(["layer", "operation", "seconds"], [*rows, ("", "", job.run_time - spent)])
