"""Finds the ranks that were slow, and the calls in which they were slow."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask
from iolens.metrics.processor.imbalance import NOT_KNOWN
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer
from iolens.metrics.processor.sampled.inclusive import INSIDE, with_inclusive
from iolens.metrics.processor.traced.functions import timed_rows

LEVELS = Levels(("group", "function", "file", "region"), ("group", "function", PE))
_MEASURES = Measures("time", ("calls",))


@once_per_job
def load_balance(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the time of calls by group and function, with the ranks that took most, median and least: rows of
    `drill`.

    `time` (seconds) and `calls` come from timed calls that do not overlap: I/O (POSIX, STDIO, MPI-IO beyond POSIX),
    MPI, and exclusive times of traced functions. The inclusive times of traced functions follow below a second row of
    depth 0. They have no share, because they are not part of the total; times below the threshold of the run time are
    left out.
    """
    found = with_inclusive(job, exclusive_balance(job, ask), LEVELS, _MEASURES, ask, job.run_time)
    if found is None:
        return None
    inside = np.cumsum(found["name"] == INSIDE) > 0
    shown = found.beside({"share": np.where(inside, NOT_KNOWN, found["share"])})
    shown.left_out = found.left_out
    return shown


@once_per_job
def exclusive_balance(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns `load_balance` without the functions whose time includes the time of functions that they called."""
    return answer(job, timed_rows(job), LEVELS, _MEASURES, ask)
