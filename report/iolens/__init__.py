"""iolens: from a program's I/O to a report that says where the time went and what would fix it.

In Python: `log = iolens.open(path)` reads a log, `log.frames["POSIX"]` are its records, `iolens.tables(log)` the
numbers
behind every table of the report, `iolens.advise.findings(log)` the advice.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

__version__ = "0.3.0"


def open(path: str | Path) -> Job:
    """Reads a log of iolens or Darshan (3.0 or later); raises iolens.log.LogError if it is damaged or not a log.

    `frames` has a DataFrame per module (`log.frames["POSIX"]`: id, rank, Darshan's counters; times in seconds since the
    start of the job, sizes in bytes), `names` the path of each record id, `private` what only iolens records; nprocs,
    run_time, jobid, exe, mounts and others are attributes.
    """
    from iolens.log import read_log

    return read_log(path)


def tables(log: Job) -> Mapping[str, pd.DataFrame]:
    """Returns the numbers behind every table and figure of the report, all rows, by name; `index` has their
    definitions.
    """
    from iolens.pages.base.exhibit import frames
    from iolens.pages.exhibits.job_exhibits import JOB_EXHIBITS

    return frames(JOB_EXHIBITS, log)
