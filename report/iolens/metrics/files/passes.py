"""Bytes read for the first time and bytes read again, from single transfers (DXT)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from iolens.log import Job
from iolens.log.records import Records
from iolens.metrics.once import once_per_job
from iolens.metrics.times.traces import PIECE, record_slices


@once_per_job
def cold_and_warm(job: Job) -> Records | None:
    """Returns one row per file from which a rank read the same range more than once, by `id`: cold and warm (bytes per
    second of the first reading and of later ones), bytes (read again).

    A transfer is read again when the same rank has read the same offset and length of the file before. None without
    traces or without such transfers.
    """
    traced = job.records.get("DXT_POSIX")
    if traced is None:
        return None
    parts = [_read_sums(traced, places) for places in _batches(record_slices(traced))]
    if not any(part["again"].any() for part in parts):
        return None
    rows = {name: np.concatenate([part[name] for part in parts]) for name in ("id", "again", "bytes", "seconds")}
    ids, file = np.unique(rows["id"], return_inverse=True)
    moved, spent = (
        [np.bincount(file, np.where(rows["again"] == again, rows[name], 0), len(ids)) for again in (False, True)]
        for name in ("bytes", "seconds")
    )
    both = (spent[0] != 0) & (spent[1] != 0)
    cold, warm = (moved[again][both] / spent[again][both] for again in (False, True))
    return Records({"id": ids[both], "cold": cold, "warm": warm, "bytes": moved[True][both]})


def _batches(found: Mapping[tuple[int, int], list[slice]]) -> Iterator[np.ndarray]:
    """Yields positions of rows, in batches of whole records with `PIECE` rows or more."""
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


def _read_sums(traced: Records, places: np.ndarray) -> Records:
    """Returns the bytes and seconds of reading for all accesses of some records, by `id` and whether they read the
    bytes `again`.
    """
    places = places[traced.says("op", "read")[places] & (traced["length"][places] > 0)]
    where = [traced[name][places] for name in ("length", "offset", "rank", "id")]
    order = np.lexsort([traced["start"][places], *where])
    same = np.ones(max(0, len(order) - 1), dtype=bool)
    for values in where:
        same &= values[order[1:]] == values[order[:-1]]
    again = np.zeros(len(order), dtype=bool)
    again[order[1:][same]] = True
    ids, file = np.unique(where[-1], return_inverse=True)
    spent = traced["end"][places] - traced["start"][places]
    sums = [np.bincount(2 * file + again, values, 2 * len(ids)) for values in (where[0], spent)]
    found = {"id": np.repeat(ids, 2), "again": np.tile([False, True], len(ids)), "bytes": sums[0], "seconds": sums[1]}
    return Records(found).where(np.bincount(2 * file + again, minlength=2 * len(ids)) > 0)
