"""The ranks that used each file."""

from __future__ import annotations

from collections.abc import Sequence

from iolens.log import Job
from iolens.metrics.files.overview import lowest
from iolens.metrics.files.use import among

EVERY_RANK = "all"
"""Stands for the ranks of a file that all ranks opened: Darshan's reduction merges their records into one, which has
only sums.
"""


def ranks_of(job: Job, ids: Sequence[int]) -> list[str]:
    """Returns the ranks that opened each file of `ids` through the `lowest` layers, as `0-3,8`, or `EVERY_RANK`."""
    found: dict[int, set[int]] = {int(key): set() for key in ids}
    for name in lowest(job):
        records = job.records[name]
        for key, rank in records.where(among(records["id"], [*found])).rows("id", "rank"):
            found[key].add(rank)
    return [ranges(sorted(found[int(key)])) for key in ids]


def ranges(ranks: Sequence[int]) -> str:
    """Returns ascending ranks in short form: 0, 1, 2, 5 as `0-2,5`. The rank -1 stands for all ranks."""
    if ranks and ranks[0] < 0:
        return EVERY_RANK
    ends: list[list[int]] = []
    for rank in map(int, ranks):
        if ends and rank == ends[-1][1] + 1:
            ends[-1][1] = rank
        else:
            ends.append([rank, rank])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ends)
