"""Regions that the program marks: their names by rank, and the time in them."""

from __future__ import annotations

from collections.abc import Iterable
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
MEASURES = Measures("exclusive_time", ("time", "calls"), {"min_time": "min", "max_time": "max"})


@once_per_job
def regions(job: Job, ask: Ask = DEFAULT) -> pd.DataFrame | None:
    """Time in each region, by its path: rows of `drill`.

    `exclusive_time` (seconds, without the regions inside) decides share and imbalance; `time` is with them; `calls`,
    `min_time` and `max_time` of a single visit. Threads of a rank are added. None where none was marked.
    """
    rows = table(job, "regions")
    if rows is None:
        return None
    rows = rows.assign(region=region_paths(job, rows["rank"], rows["region"]), thread=rows["thread"].astype(str))
    found: pd.DataFrame | None = answer(job, rows, LEVELS, MEASURES, ask)
    return found


def region_paths(job: Job, ranks: Iterable[int], numbers: Iterable[int]) -> list[str]:
    """The path of each region, `outer/inner`; empty outside all regions."""
    known = paths(job)
    return [
        known.get((int(rank), int(number)), unnamed(int(number))) for rank, number in zip(ranks, numbers, strict=True)
    ]


def unnamed(number: int) -> str:
    """What stands for a region without a row in `region_names`."""
    return {OUTSIDE: "(outside)", SEVERAL: "(several)"}.get(number, f"region {number}")


@once_per_job
def paths(job: Job) -> dict[tuple[int, int], str]:
    """The paths by rank and number, from `region_names`; a label that is empty is the user's number."""
    names = table(job, "region_names")
    if names is None:
        return {}
    columns = ("rank", "region", "parent", "id", "label")
    rows = {
        (int(rank), int(region)): (int(parent), str(label) or f"#{int(key)}")
        for rank, region, parent, key, label in zip(*(names[column] for column in columns), strict=True)
    }
    found: dict[tuple[int, int], str] = {}
    for rank, region in rows:
        labels: list[str] = []
        at = (rank, region)
        while at in rows and len(labels) < len(rows):
            parent, label = rows[at]
            labels.append(label)
            at = (rank, parent)
        found[(rank, region)] = "/".join(reversed(labels))
    return found
