"""Bytes read for the first time and again, from single transfers (DXT)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from iolens.metrics.once import once_per_job
from iolens.metrics.traces import PIECE, records

if TYPE_CHECKING:
    import pandas as pd

    from iolens.log import Job


@once_per_job
def cold_and_warm(job: Job) -> pd.DataFrame | None:
    """One row a file of which a rank read the same transfers again, by `id`: cold and warm (bytes per second of the
    first reading and of later ones), bytes (read again).

    A transfer is read again when the same rank has read the same offset and length of the file before. None without
    traces or without such transfers.
    """
    traced = job.frames.get("DXT_POSIX")
    if traced is None:
        return None
    import pandas as pd

    parts = [read_sums(traced.iloc[places]) for places in batches(records(traced))]
    rows = pd.concat(parts) if parts else pd.DataFrame({"again": []})
    if not rows["again"].any():
        return None
    sums = rows.groupby(["id", "again"])[["bytes", "seconds"]].sum().unstack(fill_value=0)
    seconds = sums["seconds"].replace(0, np.nan)
    found = pd.DataFrame(
        {
            "cold": sums["bytes"][False] / seconds[False],
            "warm": sums["bytes"][True] / seconds[True],
            "bytes": sums["bytes"][True],
        }
    )
    return found.dropna()


def batches(found: Mapping[tuple[int, int], list[slice]]) -> Iterator[np.ndarray]:
    """The rows of whole records, of some together."""
    held: list[np.ndarray] = []
    count = 0
    for slices in found.values():
        held += [np.arange(place.start, place.stop) for place in slices]
        count += sum(place.stop - place.start for place in slices)
        if count >= PIECE:
            yield np.concatenate(held)
            held, count = [], 0
    if held:
        yield np.concatenate(held)


def read_sums(rows: pd.DataFrame) -> pd.DataFrame:
    """Of all accesses of some records: bytes and seconds of reading by `id` and whether it was `again`."""
    import pandas as pd

    rows = rows[(rows["op"] == "read") & (rows["length"] > 0)]
    where = [rows[name].to_numpy() for name in ("length", "offset", "rank", "id")]
    order = np.lexsort([rows["start"].to_numpy(), *where])
    same = np.ones(max(0, len(order) - 1), dtype=bool)
    for values in where:
        same &= values[order[1:]] == values[order[:-1]]
    again = np.zeros(len(order), dtype=bool)
    again[order[1:][same]] = True
    spent = rows["end"] - rows["start"]
    found = pd.DataFrame({"id": rows["id"], "again": again, "bytes": rows["length"], "seconds": spent})
    return found.groupby(["id", "again"], as_index=False).sum()
