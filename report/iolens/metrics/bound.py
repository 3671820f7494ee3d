"""The most that storage could give: what its targets take, what the writers' links carry, what memory copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

MB, MIB = 10**6, 2**20

NEEDED = ("ost_mb_per_s", "link_mb_per_s", "memory_mb_per_s", "ranks_per_client")
"""Of the storage's model (storage/ost.yaml); MB/s, and ranks that share a client node."""


def known(limits: Mapping[str, float]) -> bool:
    """Whether the limits say enough for a bound."""
    return all(limits.get(key, 0) > 0 for key in NEEDED)


def bound(limits: Mapping[str, float], stripes: int, writers: int) -> tuple[float, str]:
    """The most that so many ranks can write to a file of so many stripes, MiB/s, and what sets it.

    The smallest of stripes x a target's bandwidth (`targets`), clients x a link's (`links`) and clients x a memory
    copy's (`memory`), where writers that share a client node share its link and its memory.
    """
    clients = -(-writers // int(limits["ranks_per_client"]))
    most = {
        "targets": stripes * limits["ost_mb_per_s"],
        "links": clients * limits["link_mb_per_s"],
        "memory": clients * limits["memory_mb_per_s"],
    }
    least = min(most, key=lambda name: most[name])
    return most[least] * MB / MIB, least


def stripes_of_a_link(limits: Mapping[str, float]) -> float:
    """Targets that give as much as one client's link carries: with more stripes than that, a second writer can pay."""
    return limits["link_mb_per_s"] / limits["ost_mb_per_s"]


def bounds(runs: pd.DataFrame, count: int, limits: Mapping[str, float]) -> pd.DataFrame:
    """Columns `bound` (MiB/s) and `bound_by` of `count` points, whose `runs` have their number in `point`.

    Writers are those that were seen writing (the median of the point's runs). Missing where a run does not tell them or
    its stripes.
    """
    rows: list[tuple[float, str]] = []
    for point in range(count):
        its = runs[runs["point"] == point]
        stripes, writers = (median(its, name) for name in ("requested.stripe_count", "observed.aggregators"))
        rows.append(bound(limits, stripes, writers) if known(limits) and stripes and writers else (float("nan"), ""))
    return pd.DataFrame(rows, columns=["bound", "bound_by"])


def median(runs: pd.DataFrame, column: str) -> int | None:
    """The median of a column, as a whole number; None where it has no value."""
    values: Any = pd.to_numeric(runs[column], errors="coerce").dropna() if column in runs else ()
    return int(values.median()) if len(values) else None
