"""Regions that the program marks: their names by rank, and the time in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.grouping import without_repeats
from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, NOT_KNOWN, Ask, kept
from iolens.metrics.processor.sampled.call_chains import table_records
from iolens.metrics.processor.sampled.drill import Levels, Measures, answer

_OUTSIDE, SEVERAL = 0, 0xFFFFFFFF
"""Special numbers: outside all regions, and the sum over several regions."""

LEVELS = Levels(("region", "thread"), ("region",))
_MEASURES = Measures("exclusive_time", ("time", "calls", "unended"), {"min_time": "min", "max_time": "max"}, "time")


@once_per_job
def regions(job: Job, ask: Ask = DEFAULT) -> Records | None:
    """Returns time in each region, by its path: rows of `drill`.

    `exclusive_time` (seconds, without nested regions) decides order, share and imbalance; `time` includes nested
    regions, and is NaN in sums over several regions, because one may be nested in another; `calls`, of which `unended`
    had no end; `min_time` and `max_time` of a single visit. Times of a rank's threads are added. The threshold applies
    to `time`, so that a region that contains large ones is shown. None if the program marked no regions.
    """
    rows = table_records(job, "regions")
    if rows is None:
        return None
    threads = np.array([f"thread {one}" for one in rows["thread"].tolist()], object)
    rows = with_regions(job, rows).beside({"thread": threads})
    found = answer(job, rows, LEVELS, _MEASURES, ask)
    if found is None or len(set(kept(rows, ask.where)["region"].tolist())) < 2:
        return found
    by = ask.by or LEVELS.default
    sums = found["depth"] <= (by.index("region") if "region" in by else len(by))
    shown = found.beside({"time": np.where(sums, NOT_KNOWN, found["time"])})
    shown.left_out = found.left_out
    return shown


def region_paths(job: Job, numbers: Iterable[int]) -> list[str]:
    """Returns the path of each region, `outer/inner`."""
    known = _paths(job)
    return [known.get(int(number)) or _unnamed_region(int(number)) for number in numbers]


def with_regions(job: Job, rows: Records) -> Records:
    """Returns the rows with the paths of their regions in place of the numbers."""
    return rows.beside({"region": np.array(region_paths(job, rows["region"].tolist()), object)})


def _unnamed_region(number: int) -> str:
    """Returns the label of a region without a row in `region_names`."""
    return {_OUTSIDE: "(outside)", SEVERAL: "(several)"}.get(number, f"region {number}")


@once_per_job
def _paths(job: Job) -> dict[int, str]:
    """Returns the path of each region by its number in `region_names`, which is the same on all ranks. A region without
    a label is shown as #ID, with the id that the program gave it.
    """
    names = table_records(job, "region_names")
    if names is None:
        return {}
    once = without_repeats(names, "region").rows("region", "parent", "id", "label")
    rows = {region: (parent, str(label) or f"#{key}") for region, parent, key, label in once}
    return {region: path(region, rows) for region in rows}


def path(region: int, rows: Mapping[int, tuple[int, str]]) -> str:
    """Returns the labels from the outermost region to this one; `rows` has parent and label of each region. A cycle in
    a damaged log ends the path.
    """
    labels: list[str] = []
    while region in rows and len(labels) < len(rows):
        region, label = rows[region]
        labels.append(label)
    return "/".join(reversed(labels))
