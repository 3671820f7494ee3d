"""The part of a job that the events of all ranks cover: one rank's memory for events can end before that of others."""

from __future__ import annotations

import numpy as np

from iolens.log.records import Records


def whole_part(events: Records, ranks: int) -> tuple[Records, float | None]:
    """Returns rows of the table `why_events` up to the last collective call that all ranks recorded, and when that call
    ended on the last rank (seconds).

    All rows and None where each rank recorded its MPI_Finalize; no rows and 0 where no collective call is in the events
    of all ranks. Behind the cut calls of one rank would be joined with other calls than theirs, or with none.
    """
    if len(np.unique(events["rank"][events["function"] == "MPI_Finalize"])) == ranks:
        return events, None
    common = (events["kind"] == "all") & (events["size"] == ranks) & (events["thread"] == 0)
    best, until = np.full(ranks, -1), 0.0
    for communicator in np.unique(events["communicator"][common]).tolist():
        rows = np.flatnonzero(common & (events["communicator"] == communicator))
        of_rank = [rows[events["rank"][rows] == rank] for rank in range(ranks)]
        instances = min(map(len, of_rank))
        last = np.array([found[instances - 1] for found in of_rank]) if instances else best
        if instances and events["end"][last].max() > until:
            best, until = last, float(events["end"][last].max())
    kept = np.arange(len(events)) <= best[events["rank"]]
    return events.where(kept), until
