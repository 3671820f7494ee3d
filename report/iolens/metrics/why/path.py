"""The critical path: the chain of work that the end of the job depended on.

It is followed backward from the rank that entered MPI_Finalize last: along a rank's own work until a wait, then on the
rank that was waited for (Böhme, Wolf, de Supinski, Schulz and Geimer, IPDPS 2012). The path has no waits by
construction.
"""

from __future__ import annotations

import numpy as np

from iolens.log.records import Records
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
