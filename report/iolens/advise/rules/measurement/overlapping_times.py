"""The rule about I/O times of a rank that add up to more than the run time."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.job.share import KINDS, io_seconds, rank_seconds
from iolens.metrics.times.traces import TRACES

REMEDY = """\
Look at times of events instead of sums: the heat map, the files' first and
last accesses, and single transfers:

  iolens run --dxt -- ./app
  export DXT_ENABLE_IO_TRACE=1     # Darshan"""

_TRACED = REMEDY.partition(":\n")[0] + ", all of which this log has."
"""Remedy for a log that has traced each transfer."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns ranks whose records of POSIX and STDIO add up to more than the run time."""
    own = np.zeros(max(job.nprocs, 1))
    for name in ("POSIX", "STDIO"):
        if name in job.frames:
            own += rank_seconds(job, name, None, KINDS, waits=True)[0]
    most = float(own.max())
    if most < limits["overlap"] * job.run_time or most < limits["least_seconds"]:
        return None
    whose = f"rank {int(own.argmax())}" if job.nprocs > 1 else "the process"
    evidence = (
        f"The I/O times of {whose} add up to {say.seconds(most)} in a run of "
        f"{say.seconds(job.run_time)}: threads did I/O at the same time, or waited in I/O calls (for a pipe or a lock)."
    )
    counted = io_seconds(job)
    if counted is not None and counted < limits["overlap"] * job.run_time / 2:
        evidence += (
            f" The I/O time of the job ({say.seconds(counted)}) leaves out the calls that opened a file and waited "
            "there for another process."
        )
    return Seen(evidence, None, "", _TRACED if set(TRACES) & set(job.records) else REMEDY)


RULE = Rule(
    id="overlapping-times",
    title="I/O times add up to more than the run",
    says="a rank's read, write and metadata times add up to `overlap` times the run time",
    limits=("overlap", "least_seconds"),
    why="Shares and bounds are limited to the run time here, and mean little.",
    read_more="https://github.com/darshan-hpc/darshan/issues/593",
    check=check,
    note=True,
)
