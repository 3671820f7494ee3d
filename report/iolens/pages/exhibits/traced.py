"""Functions that were traced by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolens.metrics.processor import traced_calls
from iolens.pages import words
from iolens.pages.exhibit import Column, Exhibit
from iolens.pages.exhibits.drilled import guarded_seconds

if TYPE_CHECKING:
    from iolens.log import Job

TRACED: Exhibit[Job] = Exhibit(
    name="traced",
    title="Traced functions",
    metric=traced_calls.traced_calls,
    columns=[
        Column("group", "group"),
        Column("function", "function"),
        Column("Time, s", "time", guarded_seconds),
        Column("slowest rank, s", "most", guarded_seconds),
        Column("its rank", "most_rank", lambda rank: "" if rank < 0 else str(rank)),
        Column("Calls", "calls", words.guarded),
        Column("bytes", "bytes", words.size, optional=True),
        Column("ranks that stopped counting", "throttled", words.count, optional=True),
    ],
    note="Of an average rank. A time holds what the function called. A rank stops counting a function of the program's "
    "own after 100 000 calls of less than 10 us on average.",
    asked=True,
    source="iolens run --trace GROUP or --apa FILE",
)
