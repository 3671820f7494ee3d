"""Darshan's module APMPI: the time in MPI of each rank, and the calls and the time of each MPI function."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from iolens.foreign import decoded
from iolens.log.format.container import Container, Region
from iolens.log.format.variable import damaged, words_of
from iolens.log.records import Records

HEAD, RECORD, NODE = 6, 654, 16
"""Numbers of words in the module's header, in each rank's record, and in the node's name at the end of the record."""

_SIZED = 8
"""Number of counters of a function that moves messages: calls, bytes, and six classes of message sizes."""

_BLOCKS = (
    ("Send Ssend Rsend Bsend Recv Sendrecv Sendrecv_replace Isend Issend Irsend Ibsend Irecv", _SIZED),
    ("Probe Iprobe Test Testany Testall Testsome Wait Waitany Waitall Waitsome Barrier Ibarrier", 1),
    ("Bcast Gather Gatherv Scatter Scatterv Scan Exscan Allgather Allgatherv Reduce Allreduce Reduce_scatter", _SIZED),
    ("Alltoall Alltoallv Alltoallw Ibcast Igather Igatherv Iscatter Iscatterv Iscan Iexscan Iallgather", _SIZED),
    ("Iallgatherv Ireduce Iallreduce Ireduce_scatter Ialltoall Ialltoallv Ialltoallw", _SIZED),
    ("Put Get Accumulate Get_accumulate", _SIZED),
    ("Fetch_and_op Compare_and_swap Win_fence Win_start Win_complete Win_post Win_wait Win_test Win_lock", 1),
    ("Win_unlock Win_unlock_all Win_flush Win_flush_all Win_flush_local Win_flush_local_all Win_sync", 1),
)
"""The functions in the order of a record, and the number of counters of each."""

_FUNCTIONS = tuple((f"MPI_{name}", words) for names, words in _BLOCKS for name in names.split())
_CALLS = tuple(accumulate((words for _, words in _FUNCTIONS[:-1]), initial=2))
"""Word of a record in which the calls of each function are counted."""
_TIMES = 2 + sum(words for _, words in _FUNCTIONS)
"""First word of the times: total, shortest and longest call of each function."""

CALLS, TIME = "calls of ", "time of "
"""Beginnings of the columns of a function, before its name."""


def read_apmpi(log: Container, region: Region) -> Records:
    """Returns one row per rank: id, rank, node, time in MPI (seconds), sync_time (of that, in timed barriers;
    seconds), and the calls and seconds of each function that any rank called.
    """
    data, words = words_of(log, region)
    rest = words[HEAD:]
    if len(rest) % RECORD and not region.cut:
        raise damaged(log, region)
    rest = rest[: len(rest) - len(rest) % RECORD].reshape(-1, RECORD)
    times = np.ascontiguousarray(rest[:, -NODE - 2 : -NODE]).view(np.float64)
    ends = [8 * (HEAD + RECORD * (i + 1)) for i in range(len(rest))]
    nodes = [decoded(data[end - 8 * NODE : end].split(b"\0")[0]) for end in ends]
    columns: dict[str, Any] = {"id": rest[:, 0].astype(np.uint64), "rank": rest[:, 1], "node": np.array(nodes, object)}
    columns |= {"time": times[:, 0], "sync_time": times[:, 1]}
    each = np.ascontiguousarray(rest[:, _TIMES : _TIMES + 3 * len(_FUNCTIONS)]).view(np.float64)[:, ::3]
    for number, ((name, _), at) in enumerate(zip(_FUNCTIONS, _CALLS, strict=True)):
        if rest[:, at].any():
            columns |= {f"{CALLS}{name}": rest[:, at], f"{TIME}{name}": each[:, number]}
    return Records(columns)
