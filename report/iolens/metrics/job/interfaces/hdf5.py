"""HDF5: settings given from outside, and collective transfers that were not collective."""

from __future__ import annotations

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.grouped import settings_of_families
from iolens.metrics.files.overview import path_column
from iolens.metrics.grouping import Groups, ordered
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.mpi.nodes import chains


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
def not_collective(job: Job) -> Records:
    """Returns, for each `dataset` (path) and `cause`, the transfers for which the program asked for collective calls
    and which HDF5 carried out independently: `calls` over all ranks, `ranks` with such calls, `causing` (the number
    of ranks that caused it), `collective` (calls of these ranks on the dataset that were collective), `seconds` of
    the slowest rank, and `place`, the call in the program where it was recorded.
    """
    table = job.tables.get("hdf5_not_collective", Records({}))
    if not len(table):
        return Records({})
    groups = Groups(table["dataset"], table["cause"])
    first = groups.first
    found = Records(
        {
            "dataset": path_column(job, table["dataset"][first]),
            "cause": table["cause"][first],
            "calls": groups.sum(table["own"] + table["others"]),
            "ranks": groups.sum(np.ones(len(table), int)),
            "causing": groups.sum((table["own"] > 0).astype(int)),
            "collective": groups.sum(table["collective"]),
            "seconds": groups.max(table["seconds"]),
            "place": _places(job, table.where(first)),
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
