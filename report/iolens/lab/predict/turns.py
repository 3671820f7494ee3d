"""The order in which the aggregators of a round access the file.

In a round ROMIO's ranks wait for everything that they send and receive (MPI_Waitall in ADIOI_W_Exchange_data). A
message above the MPI library's eager limit is sent when its receiver has fetched it. An aggregator that sends to
another aggregator therefore writes after the other one, unless the other one, directly or through further aggregators,
sends to it as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iolens.lab.predict.extents import Extents
from iolens.lab.predict.two_phase import Move

_EAGER = 4096
"""Eager limit in bytes: a shorter message is sent before it is received (Open MPI's `btl_vader_eager_limit`,
`btl_sm_eager_limit`).
"""


def ahead(moves: Sequence[Move], wanted: Mapping[int, Extents]) -> dict[int, list[int]]:
    """Returns, for each aggregator of a round, the aggregators that write before it. `moves` are the aggregators'
    accesses to the file, `wanted` the pieces of the file that each rank writes.
    """
    begin, end = np.array([(move.begin, move.end) for move in moves], dtype=np.int64).T
    ranks = [move.rank for move in moves]
    sent = np.array([wanted[rank].before(end) - wanted[rank].before(begin) for rank in ranks])
    depends = (sent > _EAGER) & ~np.eye(len(ranks), dtype=bool)
    through = depends
    for _ in range(len(ranks).bit_length()):
        through = through | (through @ through)
    first = depends & ~through.T
    return {rank: [ranks[other] for other in np.flatnonzero(row)] for rank, row in zip(ranks, first, strict=True)}
