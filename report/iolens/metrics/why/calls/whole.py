"""The part of a job that the events of all ranks cover: the memory for events can be full on one rank before it is on
others.
"""

from __future__ import annotations

import numpy as np

from iolens.log.records import Records

_LONGEST = 1e9
"""Maximum plausible time of an event in seconds: no job lasts so long, so a later time is damage."""


def sound_part(events: Records, ranks: int) -> Records:
    """Returns the rows of the table `why_events` of each rank before its first row with an impossible time; no rows if
    any row has an impossible rank, because the order of calls is then lost.
    """
    rank = events["rank"]
    if not len(events) or rank.min() < 0 or rank.max() >= ranks:
        return events.where(slice(0))
    possible = (np.abs(events["start"]) < _LONGEST) & (np.abs(events["end"]) < _LONGEST)
    first = np.full(ranks, len(events))
    np.minimum.at(first, rank[~possible], np.flatnonzero(~possible))
    return events if possible.all() else events.where(np.arange(len(events)) < first[rank])


def whole_part(events: Records, ranks: int) -> tuple[Records, float | None]:
    """Returns rows of the table `why_events` up to the last collective call that all ranks recorded, and when that call
    ended on the last rank (seconds).

    All rows and None if each rank recorded its MPI_Finalize; no rows and 0 if no collective call is in the events of
    all ranks. Later calls would be joined with wrong calls of other ranks, or with none.
    """
    if len(np.unique(events["rank"][events["function"] == "MPI_Finalize"])) == ranks:
        return events, None
    common = (events["kind"] == "all") & (events["size"] == ranks) & (events["thread"] == 0)
    best: np.ndarray = np.full(ranks, -1)
    until = 0.0
    for communicator in np.unique(events["communicator"][common]).tolist():
        rows = np.flatnonzero(common & (events["communicator"] == communicator))
        rows = rows[np.argsort(events["rank"][rows], kind="stable")]
        first = np.searchsorted(events["rank"][rows], np.arange(ranks + 1))
        instances = int(np.diff(first).min())
        last = rows[first[:-1] + instances - 1] if instances else best
        if instances and events["end"][last].max() > until:
            best, until = last, float(events["end"][last].max())
    kept = np.arange(len(events)) <= best[events["rank"]]
    return events.where(kept), until
