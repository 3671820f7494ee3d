"""The time of a job and of its files in I/O, each file in the highest layer that knows it, as a job's report has it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iolens.log.scan import Records, Scan
from iolens.metrics.files.use import among
from iolens.metrics.job.share import ABOVE, KINDS, WAITED

_EXTRA = "posix_extra"
"""The private region with times of calls that no record counts."""


def needs_whole_log(found: Scan) -> bool:
    """Returns whether a log may hold time that its records alone do not tell: of other calls, or waiting for pipes."""
    meta = sum(float(records.seconds("F_META_TIME").sum()) for records in found.records.values())
    return meta >= WAITED or any(entry.name == _EXTRA for entry in found.private)


def kind_seconds(found: Scan) -> dict[str, float]:
    """Returns seconds of reads, writes and metadata calls (READ, WRITE, META), added up over all processes."""
    parts = list(_highest_records(found))
    return {
        kind: float(sum(records.seconds(f"F_{kind}_TIME")[chosen].sum() for records, chosen in parts)) for kind in KINDS
    }


def file_seconds(found: Scan, ids: np.ndarray) -> np.ndarray:
    """Returns the seconds of each of these files, over all processes."""
    spent = np.zeros(len(ids))
    order = np.argsort(ids)
    for records, chosen in _highest_records(found):
        known = chosen & among(records.id, ids)
        seconds = sum((records.seconds(f"F_{kind}_TIME")[known] for kind in KINDS), start=np.zeros(int(known.sum())))
        np.add.at(spent, order[np.searchsorted(ids, records.id[known], sorter=order)], seconds)
    return spent


def _highest_records(found: Scan) -> Iterator[tuple[Records, np.ndarray]]:
    """Yields the records of each layer, and marks those of files that no higher layer knows."""
    for name, records in found.records.items():
        above = found.records.get(ABOVE.get(name, ""))
        yield records, np.ones(len(records.id), bool) if above is None else ~among(records.id, above.id)
