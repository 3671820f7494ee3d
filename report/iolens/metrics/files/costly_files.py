"""The files of a job that took the most time or bytes, and the ranks that used each file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.families import Families, families
from iolens.metrics.files.overview import all_files, lowest, slowest_record_seconds, with_bytes
from iolens.metrics.files.use import among
from iolens.metrics.grouping import Groups, empty, most, ordered, stacked, without_repeats
from iolens.metrics.once import once_per_job

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


_SMALL = 0.001
"""Minimum share of the largest value that a file must have to get a row."""


MOST = 15
"""Number of files with most time, and of files with most bytes, that a page shows."""


@once_per_job
def every_file(job: Job) -> Records:
    """Returns `all_files` sorted by time, with `bytes` and stripes as further columns; `files` is 1 in every row."""
    found = _with_stripes(job, ordered(with_bytes(all_files(job)), "-seconds"))
    return found.beside({"files": np.ones(len(found), np.int64)})


@once_per_job
def costly_files(job: Job) -> Records:
    """Returns the `top_files` by time and by bytes, each file once, the most time first.

    Rows that have less than a thousandth of both the largest time and the largest bytes are left out.
    """
    both = stacked([top_files(job, "seconds"), top_files(job, "bytes")])
    found = ordered(without_repeats(both, "id"), "-seconds")
    if not len(found):
        return found
    large = [found[name] >= _SMALL * found[name].max() for name in ("seconds", "bytes")]
    return found.where(large[0] | large[1])


@once_per_job
def top_files(job: Job, by: str, limit: int = MOST) -> Records:
    """Returns the `limit` rows of `file_families` with the largest `by` (`seconds` or `bytes`), largest first; rows
    with 0 are left out.
    """
    found = file_families(job)
    return most(found.where(found[by] > 0), by, limit)


@once_per_job
def file_families(job: Job) -> Records:
    """Returns `every_file` with the files of one family in one row.

    `path` is the family's name, `id` the id of one member, `files` the number of members. `seconds` are the time of the
    slowest rank in files of its own, plus that of the slowest rank of each shared file; `processes` is the number of
    processes that used any of the files. Bytes and `seconds_sum` are sums, `size` is the largest; stripes are 0 if
    members differ.
    """
    found, kin = every_file(job), _kin(job)
    same = Groups(kin.place)
    columns = {name: same.sum(found[name]) for name in ("bytes", "bytes_read", "bytes_written", "seconds_sum")}
    columns |= {"path": np.array(kin.labels, object), "files": same.sizes, "size": same.max(found["size"])}
    for name in ("stripe_count", "stripe_size"):
        columns[name] = np.where(same.max(found[name]) == same.min(found[name]), same.max(found[name]), 0)
    columns |= {name: same.max(found[name]) for name in ("seconds", "processes")}
    uses = _uses(job)
    each, shared = Groups(uses["family"]), uses["rank"] < 0
    several = uses["family"][each.first]
    of_shared, of_own = (np.where(chosen, uses["seconds"], 0.0) for chosen in (shared, ~shared))
    columns["seconds"][several] = each.sum(of_shared) + each.max(of_own)
    columns["processes"][several] = np.where(each.sum(shared.astype(int)) > 0, job.nprocs, each.sizes)
    return found.where(same.first).beside(columns)


def family_ranks(job: Job, rows: Records) -> list[str]:
    """Returns the ranks that used the files of each row of `file_families`, as `users.ranks_of` does."""
    ids = rows["id"].tolist()
    found, family_of = ranks_of(job, ids), _family_of(job)
    for at in np.flatnonzero(rows["files"] > 1).tolist():
        uses = _uses(job)
        found[at] = ranges(sorted(uses["rank"][uses["family"] == family_of[ids[at]]].tolist()))
    return found


@once_per_job
def _kin(job: Job) -> Families:
    """Returns the families of `every_file`."""
    return families(every_file(job)["path"].tolist())


@once_per_job
def _family_of(job: Job) -> dict[int, int]:
    """Returns the number of each file's family by the file's id."""
    return dict(zip(every_file(job)["id"].tolist(), _kin(job).place.tolist(), strict=True))


@once_per_job
def _uses(job: Job) -> Records:
    """Returns the seconds of each `rank` in the files of each `family` of several files, over the `lowest` layers.

    For files that all ranks shared (rank -1), these are the seconds of the slowest rank in each file.
    """
    family_of, sizes = _family_of(job), _kin(job).sizes
    parts = [empty({"family": "i8", "rank": "i8", "seconds": "f8"})]
    for name in lowest(job):
        records = job.records[name]
        family = np.fromiter(map(family_of.__getitem__, records["id"].tolist()), "i8", len(records))
        columns = {"family": family, "rank": records["rank"].astype("i8"), "seconds": slowest_record_seconds(job, name)}
        parts.append(Records(columns).where(sizes[family] > 1))
    each = stacked(parts)
    same = Groups(each["family"], each["rank"])
    return each.where(same.first).beside({"seconds": same.sum(each["seconds"])})


def _with_stripes(job: Job, found: Records) -> Records:
    """Returns the files with the stripe_count and stripe_size of their only layout component; 0 without a component, or
    with several.
    """
    layouts = job.records.get("LUSTRE")
    single: dict[int, tuple[int, int]] = {}
    if layouts is not None:
        parts = without_repeats(layouts, "id", "component")
        same = Groups(parts["id"])
        rows = parts.where(same.first[same.sizes == 1]).rows("id", "stripe_count", "stripe_size")
        single = {key: (count, size) for key, count, size in rows}
    stripes = [single.get(key, (0, 0)) for key in found["id"].tolist()]
    return found.beside(Records.of(["stripe_count", "stripe_size"], stripes).single)
