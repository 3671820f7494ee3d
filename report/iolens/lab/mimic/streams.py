"""Reads the calls on streams (stdio), for which the log has only counts and the times of the first and the last
call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iolens.lab.mimic.calls import CallKind, Calls, calls_of, joined
from iolens.log import Job

if TYPE_CHECKING:
    from collections.abc import Mapping


_COUNTS = {
    CallKind.STREAM_OPEN: ("OPENS", "OPEN", ""),
    CallKind.STREAM_WRITE: ("WRITES", "WRITE", "BYTES_WRITTEN"),
    CallKind.STREAM_FLUSH: ("FLUSHES", "WRITE", ""),
    CallKind.STREAM_SEEK: ("SEEKS", "OPEN", ""),
    CallKind.STREAM_READ: ("READS", "READ", "BYTES_READ"),
}
"""For each kind of call: its counter, the timestamps between which the calls were made, and the counter of its
bytes.
"""


def read_streams(job: Job, ids: Mapping[int, int]) -> Calls:
    """Returns the calls on streams, equally long and at equal distances between the first and the last.

    The calls of a record of all ranks are shared out evenly among them.
    """
    table = job.records.get("STDIO")
    parts = [calls_of(0)]
    if table is None:
        return parts[0]
    for place, key in enumerate(table["id"].tolist()):
        if key not in ids:
            continue
        rank = int(table["rank"][place])
        ranks = [rank] if rank >= 0 else [*range(job.nprocs)]
        for member, one in enumerate(ranks):
            for kind, (word, when, bytes_word) in _COUNTS.items():
                count = _share(int(table[f"STDIO_{word}"][place]), member, len(ranks))
                volume = _share(int(table[f"STDIO_{bytes_word}"][place]), member, len(ranks)) if bytes_word else 0
                start = float(table[f"STDIO_F_{when}_START_TIMESTAMP"][place])
                end = float(table[f"STDIO_F_{when}_END_TIMESTAMP"][place])
                parts.append(_even(one, kind, ids[key], count, volume, start, end))
            closed = float(table["STDIO_F_CLOSE_END_TIMESTAMP"][place])
            parts.append(_even(one, CallKind.STREAM_CLOSE, ids[key], int(closed > 0), 0, closed, closed))
    return joined(parts)


def _share(total: int, member: int, members: int) -> int:
    """Returns a member's part of a total that is divided evenly, with the remainder for the first members."""
    return max(0, total) // members + (member < max(0, total) % members)


def _even(rank: int, kind: CallKind, file: int, count: int, volume: int, start: float, end: float) -> Calls:
    lengths = np.full(count, volume // max(1, count))
    lengths[: volume - int(lengths.sum())] += 1
    ends = np.linspace(start, end, count + 1)[1:]
    return calls_of(count, rank=rank, kind=kind, file=file, length=lengths, start=ends, end=ends)
