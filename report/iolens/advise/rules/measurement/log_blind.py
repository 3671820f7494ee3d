"""The rule about a log that has no record of bytes that were moved."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import by_file, id_rows, most_first

REMEDY = """\
Record below MPI-IO as well: preload the profiler before the MPI library,

  iolens run -- mpirun -np N ./app

do not exclude the folder (NAME_EXCLUDE, DARSHAN_EXCLUDE_DIRS), nor the
module (MOD_DISABLE POSIX); a statically linked MPI library hides its calls."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the bytes of MPI-IO that POSIX (or DFS) did not see, and calls that were detected but not followed."""
    said = list(job.unfollowed)
    table, lower = by_file(job, "MPI-IO"), by_file(job, "POSIX")
    if table is not None and "DFS" not in job.frames:
        moved = table["BYTES_READ"] + table["BYTES_WRITTEN"]
        below = moved * 0
        if lower is not None:
            seen = np.append(lower["BYTES_READ"] + lower["BYTES_WRITTEN"], 0.0)
            below = seen[id_rows(table["id"], lower["id"])]
        blind = (moved >= limits["blind_bytes"]) & (below <= 0.01 * moved)
        if blind.any():
            rows = most_first(moved, blind)
            said.append(
                f"MPI-IO moved {say.size(float(moved[rows].sum()))} on {say.files(job, table['id'][rows])}, but POSIX "
                f"recorded less than 1 % of it: sizes, order, alignment and ratios of these files are not in the log."
            )
    return Seen(" ".join(said), None, "", REMEDY) if said else None


RULE = Rule(
    id="log-blind",
    title="The log does not show how some bytes were moved",
    says="POSIX recorded less than 1 % of the bytes that MPI-IO moved on a file, or the program made requests by "
    "io_uring or raw io_submit whose bytes the log lacks",
    limits=("blind_bytes",),
    why="Rules about sizes and order have no data, so the absence of their findings means nothing.",
    read_more="profiler/manual/recorded.md; https://github.com/darshan-hpc/darshan/issues/984",
    check=check,
    note=True,
)
