"""What a job does now: the difference of two looks at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iolens.metrics.cost import all_performance

if TYPE_CHECKING:
    from iolens.log import Job


@dataclass(frozen=True)
class LayerProgress:
    """A layer so far, and since the look before: bytes per second, None on the first look."""

    module: str
    files: int
    bytes_read: int
    bytes_written: int
    seconds: float
    read_rate: float | None
    write_rate: float | None


def layers_since(job: Job, before: Job | None) -> list[LayerProgress]:
    """Every layer of the job; rates are differences of bytes over the difference of the jobs' run times."""
    earlier = {one.module: one for one in all_performance(before)} if before else {}
    passed = job.run_time - before.run_time if before else 0.0
    rows = []
    for now in all_performance(job):
        then = earlier.get(now.module)
        read, written = (then.bytes_read, then.bytes_written) if then else (0, 0)
        moved = (now.bytes_read - read, now.bytes_written - written)
        rates = [delta / passed if passed > 0 else None for delta in moved]
        rows.append(LayerProgress(now.module, now.files, now.bytes_read, now.bytes_written, now.seconds, *rates))
    return rows
