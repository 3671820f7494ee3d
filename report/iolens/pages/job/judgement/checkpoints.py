"""A sentence on the interval between checkpoints that loses least time."""

from __future__ import annotations

from iolens.log import Job
from iolens.metrics.times.periods import best_interval, lost_share, periods
from iolens.pages import words


def checkpoint_sentence(job: Job, failures: float) -> str:
    """Returns the interval between checkpoints that loses least, beside the job's own, and the time that it saves;
    `failures` is the mean time between failures in seconds.
    """
    found = periods(job)
    rows = [row for row in found.rows("kind", "period", "burst") if row[0] == "written"] if len(found) else []
    if not rows:
        return "Checkpoints: this log shows no bursts of writing at even intervals, so that --mtbf says nothing."
    _, period, burst = rows[0]
    best = best_interval(burst, failures)
    now, then = (lost_share(pause, burst, failures) for pause in (max(period - burst, 0.0), best))
    return (
        f"Checkpoints: at most {words.duration(burst)} of writing every {words.duration(period)} and a failure every "
        f"{words.duration(failures)} cost {words.share(now)} of the time. The cost is lowest, {words.share(then)}, "
        f"with {words.duration(best)} of computing between two checkpoints (Young and Daly, to first order), which "
        f"saves {words.share(max(now - then, 0.0))} of the time. This supposes that the bursts are checkpoints, and "
        "that a failure loses what was computed since the last one."
    )
