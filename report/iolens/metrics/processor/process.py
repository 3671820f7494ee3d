"""Memory and processor time of single ranks, with the ranks that took most, median and least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.lazy import pd
from iolens.log import Job
from iolens.metrics.job.processes import rank_usage
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, PE, Ask
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer

if TYPE_CHECKING:
    from iolens.log.records import Records

_LEVELS = Levels((), (PE,))


@once_per_job
def memory(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the largest resident set of each rank (`max_rss`, bytes), from the private region `process`: rows of
    `drill`.

    Returns None if the log lacks the value of any rank.
    """
    rows = _process_rows(job)
    whole = rows is not None and len(rows) == job.nprocs
    return answer(job, rows if whole else None, _LEVELS, Measures("max_rss"), ask)


@once_per_job
def program_time(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns the processor time of each rank (`time`; `user_time` and `system_time`; seconds), with the counts that
    show why it was interrupted: rows of `drill`.
    """
    measures = Measures("time", ("user_time", "system_time", "major_faults", "involuntary_switches"))
    return answer(job, _process_rows(job), _LEVELS, measures, ask)


@once_per_job
def _process_rows(job: Job) -> pd.DataFrame | None:
    """Returns the rows of the region `process` with a column `time`. If it has rows of several ranks together, only the
    rows of single ranks are kept.
    """
    usage = rank_usage(job)
    if usage is None or not len(usage):
        return None
    rows = usage.frame()
    return rows.assign(time=rows["user_time"] + rows["system_time"])
