"""The rule about files that are opened or queried, and never read."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.libraries import of_libraries
from iolens.metrics.files.use import by_file, file_records
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Shorten the search, or search where it is cheap:

  - a container image, or a copy of the environment in /tmp or /dev/shm of
    each node;
  - fewer folders in PYTHONPATH and LD_LIBRARY_PATH;
  - python -X importtime app.py      # which imports are not needed
  - let one rank search, and broadcast the result (MPI_Bcast)."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of many files without a byte, and the time of their metadata calls."""
    table = by_file(job, "POSIX")
    if table is None:
        return None
    untouched = (table["BYTES_READ"] + table["BYTES_WRITTEN"] == 0) & (table["OPENS"] + table["STATS"] > 0)
    if int(untouched.sum()) < max(1.0, limits["many_files"]):
        return None
    untouched &= of_libraries(job, table)
    ranks = job.records["POSIX"]["rank"][untouched[file_records(job, "POSIX").file]]
    each = np.bincount(ranks[ranks >= 0], minlength=1).max() + int((ranks < 0).sum())
    if each < max(1.0, limits["many_files"]):
        return None
    ids = table["id"][untouched]
    spent = slowest_seconds(job, "POSIX", ids, ("META",))
    calls = float((table["OPENS"] + table["STATS"])[untouched].sum())
    evidence = (
        f"{say.count(len(ids), 'file')} of libraries and modules were opened or looked up but never read or written, "
        f"up to {say.count(float(each))} by one rank: {say.count(calls, 'call')}, {say.seconds(spent)} on the slowest "
        f"rank."
    )
    return Seen(evidence, spent, "It assumes that these calls take no time on the slowest rank.", REMEDY)


RULE = Rule(
    id="never-read",
    title="Files are opened or looked up, and never read",
    says="a rank opens or looks up `many_files` or more files of libraries and modules without reading or writing them",
    limits=("many_files",),
    why="This is a search through folders, as when Python starts, and all ranks ask the same metadata server at once.",
    read_more="`python -X importtime`; https://docs.nersc.gov/development/languages/python/parallel-python",
    check=check,
    bounds="metadata",
    gauges=("balance",),
    before=("metadata-storm",),
)
