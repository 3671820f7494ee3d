"""The largest bandwidth that storage could give: by its targets, by the writers' links, and by copies in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iolens.lazy import pd

_MB, MIB = 10**6, 2**20

MODEL_BOUNDS = ("targets", "links", "memory")
"""Parts of the storage's model that can give a bound."""

_NEEDED = ("ost_mb_per_s", "link_mb_per_s", "memory_mb_per_s", "ranks_per_client")
"""Parameters of the storage's model (storage/ost.yaml) that a bound needs: MB/s, and ranks that share a client node."""


def has_limits(limits: Mapping[str, float]) -> bool:
    """Returns whether the limits have all parameters that a bound needs."""
    return all(limits.get(key, 0) > 0 for key in _NEEDED)


def bandwidth_bound(limits: Mapping[str, float], stripes: int, writers: int, share: float = 1.0) -> tuple[float, str]:
    """Returns the highest bandwidth, in MiB/s, at which `writers` ranks can write to files of `stripes` stripes each,
    and what limits it.

    It is the smallest of stripes x a target's bandwidth (`targets`), clients x a link's (`links`) and clients x a
    memory copy's (`memory`), of which the last two are shared by the writers of a client node. If several files are
    written at the same time, the one with the most bytes (`share` of all bytes) is finished last: together the targets
    give 1 / share times as much as they give one file.
    """
    clients = -(-writers // int(limits["ranks_per_client"]))
    most = {
        "targets": stripes * limits["ost_mb_per_s"] / share,
        "links": clients * limits["link_mb_per_s"],
        "memory": clients * limits["memory_mb_per_s"],
    }
    least = min(most, key=lambda name: most[name])
    return most[least] * _MB / MIB, least


def stripes_of_a_link(limits: Mapping[str, float]) -> float:
    """Returns the number of targets that together are as fast as one client's link; with more stripes, a second writer
    can make writing faster.
    """
    return limits["link_mb_per_s"] / limits["ost_mb_per_s"]


def bounds(parts: Sequence[pd.DataFrame], limits: Mapping[str, float]) -> pd.DataFrame:
    """Returns the columns `bound` (MiB/s) and `bound_by` with one row per point, computed from the point's runs; NaN
    and an empty text for points whose bound is not known.
    """
    found = [of_runs(part, limits) or (float("nan"), "") for part in parts]
    return pd.DataFrame(found, columns=["bound", "bound_by"])


def of_runs(runs: pd.DataFrame, limits: Mapping[str, float]) -> tuple[float, str] | None:
    """Returns `bandwidth_bound` for the medians of the runs of one point; None if these record no stripes or writers.
    Writers are the ranks that wrote files (with MPI-IO, files of MPI-IO), or only the file with the most bytes if no
    more is recorded.
    """
    if not has_limits(limits):
        return None
    stripes = _median(runs, "requested.stripe_count")
    writers = 1 if _median(runs, "nprocs") == 1 else _median(runs, "observed.writers")
    writers = writers or _median(runs, "observed.aggregators")
    if not stripes or not writers:
        return None
    return bandwidth_bound(limits, int(stripes), int(writers), _median(runs, "observed.file_share") or 1.0)


def _median(runs: pd.DataFrame, column: str) -> float | None:
    """Returns the median of a column; None if it has no value."""
    values: Any = pd.to_numeric(runs[column], errors="coerce").dropna() if column in runs else ()
    return float(values.median()) if len(values) else None
