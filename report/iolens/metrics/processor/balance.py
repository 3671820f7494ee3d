"""Which ranks were slow, and in what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask
from iolens.metrics.processor.drill import Levels, Measures, answer
from iolens.metrics.processor.traced import traced_rows

if TYPE_CHECKING:
    from iolens.log import Job
    from iolens.log.records import Records

LEVELS = Levels(("group", "function", "file", "region"), ("group", "function", PE))


@once_per_job
def load_balance(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Time of calls by group and function with the ranks that took most, median and least: rows of `drill`.

    `time` in seconds and `calls`, from what was traced: I/O (POSIX, STDIO, MPI-IO beyond POSIX), MPI, regions.
    """
    return answer(job, traced_rows(job), LEVELS, Measures("time", ("calls",)), ask)
