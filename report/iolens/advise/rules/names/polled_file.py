"""The rule about a small file that is opened or looked up again and again, until something changes."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.advise.shared.counts import enough_calls
from iolens.log import Job
from iolens.metrics.files.libraries import of_libraries
from iolens.metrics.files.use import by_file
from iolens.metrics.job.spent import slowest_seconds

_MOSTLY = 0.9
"""Smallest share of a layer's opens and stats that makes one file the one that is polled."""

_RARELY = 10
"""A file that is polled has at least this many opens and stats for each write."""

REMEDY = """\
Wait for an event instead of asking again and again:

  shell    inotifywait -e close_write,moved_to FOLDER
  C        inotify_init1, inotify_add_watch    (files of the same node)
  MPI      MPI_Bcast or MPI_Barrier, if the ranks of one job wait
  Slurm    sbatch --dependency=afterok:JOBID, if another job writes it
  else     one rank asks, and sleeps a second between two looks"""


def check(job: Job, limits: Limits) -> Seen | None:
    """Returns the evidence of one small file that has nearly all opens and stats of a layer."""
    best, longest = None, 0.0
    for name in ("POSIX", "STDIO"):
        table = by_file(job, name)
        if table is None:
            continue
        asked = table["OPENS"] + table.get("STATS", 0.0)
        asked = np.where(of_libraries(job, table), 0.0, asked)
        at = int(asked.argmax())
        looks = float(asked[at] / table["ranks"][at])
        small = max(table["MAX_BYTE_READ"][at], table["MAX_BYTE_WRITTEN"][at]) < limits["small_transfer"]
        alone = asked[at] >= _MOSTLY * asked.sum() and asked[at] >= _RARELY * _writes(job, int(table["id"][at]))
        if not small or not alone or looks < limits["repeats"]:
            continue
        spent = slowest_seconds(job, name, table["id"][at : at + 1], ("META", "READ"))
        if spent.about <= longest or not enough_calls(job, limits, float(asked[at]), spent):
            continue
        longest = spent.about
        done = {"open": table["OPENS"][at], "stat": table.get("STATS", asked * 0)[at], "read": table["READS"][at]}
        calls = ", ".join(say.count(float(number), call) for call, number in done.items() if number)
        evidence = (
            f"{say.files(job, table['id'][at : at + 1])} is polled: {calls} of one small file that is hardly ever "
            f"written; they took {say.seconds(spent)} on the slowest rank."
        )
        best = Seen(evidence, spent, "It assumes that these calls take no time on the slowest rank.", REMEDY)
    return best


def _writes(job: Job, file: int) -> float:
    """Returns the number of writes to a file in both layers: a C++ stream opens in one and writes in the other."""
    tables = [table for table in (by_file(job, name) for name in ("POSIX", "STDIO")) if table is not None]
    return sum(float(table["WRITES"][table["id"] == file].sum()) for table in tables)


RULE = Rule(
    id="polled-file",
    title="A file is polled",
    says="one file of at most `small_transfer` bytes, which is hardly ever written, has nearly all opens and stats, "
    "`repeats` or more for each rank, and these are many or costly",
    limits=("small_transfer", "repeats", "few_calls", "some_calls", "worth_gain"),
    why="A program that asks again and again keeps a core and a metadata server busy, and hears of the change late.",
    read_more="man inotify(7)",
    check=check,
    bounds="metadata",
    gauges=("size", "balance"),
    before=("metadata-storm", "reopened", "one-place", "small-reads", "read-again"),
)
