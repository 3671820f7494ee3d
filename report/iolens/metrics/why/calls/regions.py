"""The regions that a program marks, over time: the innermost region of each rank at each moment."""

from __future__ import annotations

import numpy as np

from iolens.log.records import Records

REGION = "region"
"""Kind of the rows of `why_events` that are visits of regions, not calls."""

OUTSIDE = 0
"""Number for the time outside all regions."""


def by_region(pieces: Records, events: Records) -> Records:
    """Returns pieces of time (rank, start, end), split where the innermost region of the rank changes, with a column
    `region`: its number, or OUTSIDE. events: rows of the table `why_events`, of which those of kind REGION count.
    """
    visits = events.where((events["kind"] == REGION) & (events["thread"] == 0))
    if not len(visits):
        return pieces.beside({"region": np.full(len(pieces), OUTSIDE)})
    parts = []
    for rank in np.unique(pieces["rank"]).tolist():
        mine = pieces.where(pieces["rank"] == rank)
        of_rank = visits.where(visits["rank"] == rank)
        times, regions = _innermost(of_rank["start"], of_rank["end"], of_rank["region"])
        for start, end in zip(mine["start"].tolist(), mine["end"].tolist(), strict=True):
            first, last = np.searchsorted(times, [start, end], side="right")
            edges = np.concatenate([[start], times[first:last], [end]])
            parts.append((np.full(len(edges) - 1, rank), edges[:-1], edges[1:], regions[first : last + 1]))
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    found = Records(dict(zip(("rank", "start", "end", "region"), columns, strict=True)))
    return found.where(found["end"] > found["start"])


def _innermost(start: np.ndarray, end: np.ndarray, region: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the moments at which the innermost region changes, and the regions: the one before the first moment,
    those between two moments, and the one after the last.
    """
    times: list[float] = []
    regions = [OUTSIDE]
    inside: list[tuple[float, int]] = []
    for at in np.lexsort((-end, start)).tolist():
        _leave(inside, float(start[at]), times, regions)
        times.append(float(start[at]))
        regions.append(int(region[at]))
        inside.append((float(end[at]), int(region[at])))
    _leave(inside, np.inf, times, regions)
    return np.array(times), np.array(regions)


def _leave(inside: list[tuple[float, int]], until: float, times: list[float], regions: list[int]) -> None:
    """Ends the visits that end up to this moment, the innermost one first."""
    while inside and inside[-1][0] <= until:
        times.append(max(inside.pop()[0], times[-1]))
        regions.append(inside[-1][1] if inside else OUTSIDE)
