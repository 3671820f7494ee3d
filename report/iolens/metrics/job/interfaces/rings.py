"""Requests through rings of io_uring, from the private region `io_uring`."""

from __future__ import annotations

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.once import once_per_job


@once_per_job
def rings(job: Job) -> Records:
    """Returns one row per count of the region that is not 0, such as `requests`: its `name`, the `total` over all
    ranks, and the number of `ranks` that have it. Counts whose name ends in `bytes` are in bytes.
    """
    table = job.tables.get("io_uring", Records({}))
    counts = {name: values for name, values in table.single.items() if name != "rank" and values.any()}
    if not counts:
        return Records({})
    rows = [(name, int(values.sum()), int((values > 0).sum())) for name, values in counts.items()]
    return Records.of(["name", "total", "ranks"], rows)
