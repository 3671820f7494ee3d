"""The critical path: the chain of work that the end of the job depended on.

It is followed backward from the rank that entered MPI_Finalize last: along a rank's own work until a wait, then on the
rank that was waited for (Böhme, Wolf, de Supinski, Schulz and Geimer, IPDPS 2012). The path has no waits by
construction.
"""

from __future__ import annotations

import numpy as np

from iolens.log.records import Records
from iolens.metrics.why.activities import Activities
from iolens.metrics.why.calls.program import Program
from iolens.metrics.why.waits import Waits


def critical_path(program: Program, waits: Waits) -> Records:
    """Returns the pieces of the path, the last one first: rank, start and end in seconds."""
    by_rank: list[list[tuple[float, float, int]]] = [[] for _ in range(program.ranks)]
    for call, late, waited in zip(waits.call.tolist(), waits.late.tolist(), waits.waited.tolist(), strict=True):
        begin = float(program.start[call])
        by_rank[int(program.rank[call])].append((begin + waited, begin, late))
    for each in by_rank:
        each.sort()
    pieces: list[tuple[int, float, float]] = []
    if not len(program):
        return Records.of(("rank", "start", "end"), pieces)
    lasts = program.first[1:][program.first[1:] > program.first[:-1]] - 1
    call = int(lasts[np.argmax(program.start[lasts])])
    rank, time = int(program.rank[call]), float(program.end[lasts].max())
    while time > 0:
        own = by_rank[rank]
        while own and own[-1][0] > time:
            own.pop()
        if not own:
            pieces.append((rank, 0.0, time))
            break
        until, _, late = own.pop()
        pieces.append((rank, max(until, 0.0), time))
        rank, time = int(program.rank[late]), min(float(program.start[late]), until)
    return Records.of(("rank", "start", "end"), [piece for piece in pieces if piece[2] > piece[1]])


def lost_cores(activities: Activities, ranks: int, what: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Returns for each part of the path (its activity, and seconds) the number of cores that are idle on average over
    the run because this work takes longer on the path than on other ranks.

    This is the critical imbalance impact of Böhme and others (IPDPS 2012), divided by the length of the path. A rank
    has less work than the path, by the time in which it waits. This time is charged to the kinds of work (functions, on
    any file) of which the path has more than the rank, in proportion to the difference. Within a kind, it is charged to
    the parts of the path in proportion to their length. In total, the parts lose as many cores as ranks wait on
    average.
    """
    same = {(kind.kind, kind.function): place for place, kind in enumerate(activities.kinds)}
    place = np.array([same[kind.kind, kind.function] for kind in activities.kinds])
    on_path = np.bincount(place[what], weights=seconds, minlength=len(place))
    of_rank = np.zeros((ranks, len(place)))
    for (rank, each), (_, totals) in activities.sums.items():
        of_rank[rank, place[each]] += totals[-1]
    more = np.maximum(on_path - of_rank, 0.0)
    waited = np.maximum(on_path.sum() - of_rank.sum(axis=1), 0.0)
    all_more = more.sum(axis=1)
    scale = np.divide(waited, all_more, out=np.zeros(ranks), where=all_more > 0)
    idle = scale @ more / max(float(on_path.sum()), 1e-300)
    lost: np.ndarray = idle[place[what]] * seconds / np.maximum(on_path[place[what]], 1e-300)
    return lost
