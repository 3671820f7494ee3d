"""Imbalance between the ranks of each shared file."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import families_of
from iolens.metrics.files.overview import lowest
from iolens.metrics.grouping import Groups, labelled, ordered, stacked
from iolens.metrics.job.interfaces.layers import io_time
from iolens.metrics.once import once_per_job

_SIDES = ("fastest", "slowest")


@once_per_job
def variance(job: Job, limit: int = 20, by_family: bool = True) -> Records:
    """Returns the files that several ranks used, sorted by the time of their slowest rank, longest first. Each file is
    taken from the lowest layer that recorded it. A family of files is represented by its file with the longest time of
    a slowest rank.

    Columns: id, module, processes, fastest_rank, fastest_seconds, fastest_bytes, the same for slowest, sigma_seconds,
    sigma_bytes (standard deviations over these ranks), path (a family's label), files (of the family). The time of a
    rank is its read, write and metadata time. DFS and DAOS keep no deviations (NaN). Empty for a single process.
    """
    parts = []
    for name in lowest(job) if job.nprocs > 1 else ():
        found = stacked([_by_all(job.records[name], name, job.nprocs), _by_some(job.records[name], name)])
        parts.append(found.where(found["slowest_seconds"] > 0))
    if not parts:
        return Records({})
    every = ordered(stacked(parts), "-slowest_seconds")
    kin = families_of(job, every["id"], by_family)
    names = {"path": np.array(kin.labels, object), "files": kin.sizes}
    return every.where(Groups(kin.place).first).beside(names).where(slice(limit))


def _by_all(records: Records, name: str, nprocs: int) -> Records:
    """Returns the files that all ranks used, from their merged records (rank -1); Darshan's variances are over all
    ranks.
    """
    shared = records.where(records["rank"] < 0)
    columns = {"processes": np.full(len(shared), nprocs)}
    for side in _SIDES:
        columns[f"{side}_rank"] = shared[f"{name}_{side.upper()}_RANK"]
        columns[f"{side}_seconds"] = shared[f"{name}_F_{side.upper()}_RANK_TIME"]
        columns[f"{side}_bytes"] = shared[f"{name}_{side.upper()}_RANK_BYTES"]
    for what, column in (("TIME", "sigma_seconds"), ("BYTES", "sigma_bytes")):
        variance = shared.get(f"{name}_F_VARIANCE_RANK_{what}")
        columns[column] = np.full(len(shared), np.nan) if variance is None else np.sqrt(np.maximum(variance, 0))
    return labelled(shared.take("id"), "module", name).beside(columns)


def _by_some(records: Records, name: str) -> Records:
    """Returns the files that two or more ranks used but not all: each rank has a record of its own, and these are
    grouped here.
    """
    files = Groups(records["id"])
    own = records.where((records["rank"] >= 0) & (files.sizes[files.place] > 1))
    values = {
        "seconds": io_time(own, name),
        "bytes": np.sum([np.maximum(own[f"{name}_BYTES_{kind}"], 0) for kind in ("READ", "WRITTEN")], axis=0),
    }
    files = Groups(own["id"])
    columns = {"processes": files.distinct(own["rank"])}
    rows = files.parts(np.arange(len(own)))
    for side, place in zip(_SIDES, (np.argmin, np.argmax), strict=True):
        chosen = np.array([part[place(values["seconds"][part])] for part in rows], np.intp)
        columns[f"{side}_rank"] = own["rank"][chosen]
        columns |= {f"{side}_{what}": each[chosen] for what, each in values.items()}
    columns |= {f"sigma_{what}": files.of(np.std, each) for what, each in values.items()}
    found = labelled(own.take("id").where(files.first), "module", name).beside(columns)
    return found.where(found["processes"] > 1)
