"""Regions that the program marks: their names by rank, and the time in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from iolens.metrics.once import once_per_job
from iolens.metrics.processor.ask import DEFAULT, Ask
from iolens.metrics.processor.drill import Levels, Measures, answer
from iolens.metrics.processor.private import table

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job

OUTSIDE, SEVERAL = 0, 0xFFFFFFFF
"""Numbers of what is in no region, and of rows that are sums over several."""

LEVELS = Levels(("region", "thread"), ("region",))
MEASURES = Measures("exclusive_time", ("time", "calls", "unended"), {"min_time": "min", "max_time": "max"})


@once_per_job
def regions(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """Time in each region, by its path: rows of `drill`.

    `exclusive_time` (seconds, without the regions inside) decides share and imbalance; `time` is with them; `calls`, of
    which `unended` had no end; `min_time` and `max_time` of a single visit. Threads of a rank are added. None where the
    program marked none.
    """
    rows = table(job, "regions")
    if rows is None:
        return None
    rows = rows.assign(region=region_paths(job, rows["region"]), thread=[f"thread {one}" for one in rows["thread"]])
    found: pd.DataFrame | None = answer(job, rows, LEVELS, MEASURES, ask)
    return found


def region_paths(job: Job, numbers: Iterable[int]) -> list[str]:
    """The path of each region, `outer/inner`."""
    known = paths(job)
    return [known.get(int(number)) or unnamed(int(number)) for number in numbers]


def unnamed(number: int) -> str:
    """What stands for a region without a row in `region_names`."""
    return {OUTSIDE: "(outside)", SEVERAL: "(several)"}.get(number, f"region {number}")


@once_per_job
def paths(job: Job) -> dict[int, str]:
    """The paths by number, which is the same on all ranks, from `region_names`; an empty label is the user's number."""
    names = table(job, "region_names")
    if names is None:
        return {}
    once = names.drop_duplicates("region")
    columns = (once[column] for column in ("region", "parent", "id", "label"))
    rows = {
        int(region): (int(parent), str(label) or f"#{int(key)}")
        for region, parent, key, label in zip(*columns, strict=True)
    }
    return {region: path(region, rows) for region in rows}


def path(region: int, rows: Mapping[int, tuple[int, str]]) -> str:
    """The labels from the outside to a region; `rows`: its parent and label. A damaged circle ends."""
    labels: list[str] = []
    while region in rows and len(labels) < len(rows):
        region, label = rows[region]
        labels.append(label)
    return "/".join(reversed(labels))
