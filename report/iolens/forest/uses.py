"""One row per file of a log: the sums over the layers at which bytes reach a file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.files.overview import lowest
from iolens.metrics.files.use import id_rows
from iolens.metrics.grouping import Groups, stacked
from iolens.metrics.job.interfaces.layers import LAYERS
from iolens.metrics.job.share import KINDS, highest_records, seconds_in
from iolens.metrics.once import once_per_job

_COUNTS = ("bytes_read", "bytes_written", "opens", "reads", "writes", "size")
_SECONDS = ("read_seconds", "write_seconds", "meta_seconds", "first", "last")
USES = (*_COUNTS, *_SECONDS)
"""The columns of a file's use, without its id."""

_EDGES = ("OPEN", "READ", "WRITE", "CLOSE")
_REDUCED: dict[str, np.ufunc] = {"size": np.maximum, "last": np.maximum, "first": np.minimum}
"""Columns of a file that are not sums over its records."""


@once_per_job
def uses_of(job: Job) -> Records:
    """Returns a row per file: record id, bytes and calls as whole numbers, `size` (the highest offset that was touched
    plus one, 0: not known), seconds of reading, writing and metadata over all ranks, and the `first` and `last` moment
    of any call in seconds since the log's start (0: not known).
    """
    parts = [Records(dict(_use_columns(job, name))) for name in lowest(job)]
    if not parts:
        return Records({"id": np.zeros(0, "u8")} | {name: np.zeros(0, "i8") for name in _COUNTS}).beside(
            {name: np.zeros(0) for name in _SECONDS}
        )
    both = stacked(parts)
    same = Groups(both["id"])
    found = {name: same.reduced(_REDUCED.get(name, np.add), both[name]) for name in USES}
    found["first"] = np.where(np.isfinite(found["first"]), found["first"], 0.0)
    return Records({"id": both["id"][same.first], **found})


def _use_columns(job: Job, name: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yields the columns of `uses_of`, with a row for each record of a layer; the first moment is infinite if it is not
    known.
    """
    layer, records = LAYERS[name], job.records[name]
    nothing = np.zeros(len(records), "i8")

    def known(counter: str) -> np.ndarray:
        return np.asarray(np.maximum(records.get(f"{layer.prefix}_{counter}", nothing), 0))

    read, written = known("BYTES_READ"), known("BYTES_WRITTEN")
    yield from (("id", records["id"]), ("bytes_read", read), ("bytes_written", written))
    for kind in ("open", "read", "write"):
        yield f"{kind}s", np.sum([known(counter) for counter in layer.operations[kind]], axis=0)
    highest = np.maximum(known("MAX_BYTE_READ"), known("MAX_BYTE_WRITTEN"))
    yield "size", np.where((read + written > 0) & layer.offsets, highest + 1, 0)
    for kind in KINDS:
        yield f"{kind.lower()}_seconds", known(f"F_{kind}_TIME")
    starts, ends = (np.array([known(f"F_{edge}_{end}_TIMESTAMP") for edge in _EDGES]) for end in ("START", "END"))
    yield "first", np.where((ends > 0) & (starts > 0), starts, np.inf).min(axis=0)
    yield "last", ends.max(axis=0)


def file_seconds(job: Job, ids: np.ndarray) -> np.ndarray:
    """Returns the seconds in I/O of each of these files over all processes, in the highest layer that knows the file,
    without the time that opens waited for other processes.
    """
    spent, order = np.zeros(len(ids)), np.argsort(ids)
    for name, chosen in highest_records(job):
        row = id_rows(job.records[name]["id"][chosen], ids[order])
        known = row < len(ids)
        seconds = sum((seconds_in(job, name, kind, waits=False)[chosen] for kind in KINDS), start=np.zeros(len(row)))
        np.add.at(spent, order[row[known]], seconds[known])
    return spent
