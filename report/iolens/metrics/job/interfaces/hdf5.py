"""HDF5: settings given from outside, and collective transfers that were not collective."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import families_of, names_of_groups, settings_of_families
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.sampled.call_chains import chains


@once_per_job
def hdf5_settings(job: Job, by_family: bool = True) -> Records:
    """Returns HDF5 settings from outside (`iolens run --hdf5`) by `path` and `key`: the value `requested` by the
    program or by HDF5's defaults, the value `given` in its place, and the `effective` value that HDF5 reports for
    the open file; an empty text means that the library does not have this setting. Ranks with different values have
    rows of their own; `files` is the number of files of a family that have these values.
    """
    found = job.tables.get("hdf5_settings", Records({}))
    if not len(found):
        return Records({})
    return ordered(settings_of_families(job, found, ("key", "requested", "given", "effective"), by_family), "path")


@once_per_job
def not_collective(job: Job, by_family: bool = True) -> Records:
    """Returns, for each `dataset` (path) or family of datasets and each `cause`, the transfers for which the program
    asked for collective calls and which HDF5 carried out independently: `datasets`, `calls` over all ranks, `ranks`
    with such calls, `causing` (the number of ranks that caused it), `collective` (calls of these ranks on the datasets
    that were collective), `seconds` of the slowest rank, and `place`, the first call in the program.
    """
    table = job.tables.get("hdf5_not_collective", Records({}))
    if not len(table):
        return Records({})
    kin = families_of(job, table["dataset"], by_family)
    groups = Groups(kin.place, table["cause"])
    named = names_of_groups(job, table["dataset"], kin, groups)
    of_rank = Groups(groups.place, table["rank"])
    its_group = Groups(groups.place[of_rank.first])
    found = Records(
        {
            "dataset": named["path"],
            "datasets": named["files"],
            "cause": table["cause"][groups.first],
            "calls": groups.sum(table["own"] + table["others"]),
            "ranks": its_group.sizes,
            "causing": its_group.sum((of_rank.sum(table["own"]) > 0).astype(int)),
            "collective": groups.sum(table["collective"]),
            "seconds": its_group.max(of_rank.sum(table["seconds"])),
            "place": _places(job, table.where(groups.first)),
        }
    )
    return ordered(found, "-seconds")


def _places(job: Job, rows: Records) -> np.ndarray:
    """Returns the innermost function and line of each row's node; an empty text where callers were not recorded."""
    if not (rows["node"] >= 0).any():
        return np.full(len(rows), "", object)
    known = chains(job)
    keys = zip(rows["rank"].tolist(), rows["node"].tolist(), strict=True)
    return np.array([known[key][-1].text if known.get(key) else "" for key in keys], object)
