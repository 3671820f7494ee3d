"""Finds files whose bytes are written again and again."""

from __future__ import annotations

import numpy as np

from iolens.advise import say
from iolens.advise.limits import Limits
from iolens.advise.rule import Rule, Seen
from iolens.log import Job
from iolens.metrics.files.use import among, by_file, most_first, under_mpiio
from iolens.metrics.job.spent import slowest_seconds

REMEDY = """\
Write each byte once, or less often:
  - a checkpoint that replaces the last one: every so many minutes, not every
    step (Young: interval = sqrt(2 x cost x mean time between failures));
  - counters or headers in front of the data: write them once, at the end;
  - accumulate in memory, and write the sum."""


def check(job: Job, limits: Limits) -> Seen | None:
    """Looks for files into which `again` times their size was written."""
    table, pair = by_file(job, "POSIX"), under_mpiio(job)
    if table is None:
        return None
    written = table["BYTES_WRITTEN"].copy()
    if pair is not None:  # Another rule reports bytes that MPI-IO writes in addition to the program's own.
        both = among(table["id"], pair[0]["id"])
        written[both] = np.minimum(written[both], pair[0]["BYTES_WRITTEN"])
    size = table["MAX_BYTE_WRITTEN"] + 1
    chosen = (written >= limits["again"] * size) & (written - size >= limits["large_transfer"])
    if not chosen.any():
        return None
    rows = most_first(written - size, chosen)
    ids = table["id"][rows]
    spent = slowest_seconds(job, "POSIX", ids, ("WRITE",))
    share = float((written - size)[rows].sum() / written[rows].sum())
    given, kept = float(written[rows].sum()), float(size[rows].sum())
    evidence = (
        f"{say.size(given)} went into {say.size(kept)} of {say.files(job, ids)}, each byte {given / kept:.1f} times on "
        f"average; writes took {say.seconds(spent)} on the slowest rank."
    )
    return Seen(
        evidence,
        spent * share,
        "It assumes that each byte is written once, and that repeated bytes take no time.",
        REMEDY,
    )


RULE = Rule(
    id="rewriting",
    title="The same bytes are written again and again",
    says="the bytes written into a file are at least `again` times its size (up to the highest offset written), and "
    "`large_transfer` more than its size",
    limits=("again", "large_transfer"),
    why="Only the last version of each byte remains.",
    read_more="J. W. Young, CACM 17 (1974) 530, doi 10.1145/361147.361115",
    check=check,
)
