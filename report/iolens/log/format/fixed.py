"""Modules with records of a fixed size: a whole region is read at once as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from iolens.log.format.container import Container, LogError, Region, inflate, inflated_pieces
from iolens.log.format.layouts import MODULES, dtype_of, stored
from iolens.log.records import Records, numbered

_SMALL = 1 << 20
"""Largest size in the file, in bytes, for which a region is inflated as a whole."""


def read_fixed(log: Container, region: Region) -> tuple[Records, str]:
    """Returns columns id, rank, head fields and the counters of the newest version; and a note about them.

    Counters that an old version did not record are -1.
    """
    module = MODULES[region.name]
    layout, whole, doubles = _record_layout(region.name, region.version, log.order)
    columns = _record_fields(log, region, layout)
    times, note = _finite_rows(columns["f"])
    counts = columns["i"]
    note = " ".join(part for part in (note, overflowed(counts, whole)) if part)
    kept = np.ones(len(columns["id"]), bool)
    if "POSIX_FOPENS" in whole:
        kept = counts[whole.index("POSIX_FOPENS")] <= 0
        note = " ".join(part for part in (note, _stdio_note(int((~kept).sum()))) if part)
    ids = {"id": columns["id"][kept], "rank": columns["rank"][kept]}
    for name in module.head:
        ids[name] = columns.get(name, np.zeros(len(kept), "u8"))
    if not module.versions[region.version]:
        return Records(ids, [(numbered(whole), counts), (numbered(doubles), times)]), note
    known = dict(zip((*whole, *doubles), (*counts, *times), strict=True))
    if module.prefix == "PNETCDF_FILE":
        known["PNETCDF_FILE_OPENS"] = known["PNETCDF_FILE_INDEP_OPENS"] + known["PNETCDF_FILE_COLL_OPENS"]
    if module.prefix == "POSIX":
        known["POSIX_RENAMED_FROM"] = np.zeros(len(kept), "i8")
    missing = np.full(len(kept), -1)
    newest = [[name for name in module.names if ("_F_" in name) == timed] for timed in (False, True)]
    return Records(
        ids,
        [
            (numbered(names), np.array([known.get(name, missing)[kept] for name in names], kind))
            for names, kind in zip(newest, ("i8", "f8"), strict=True)
        ],
    ), note


@cache
def _record_layout(name: str, version: int, order: str) -> tuple[np.dtype[np.void], tuple[str, ...], tuple[str, ...]]:
    """Returns the layout of a module's record, and the names of its integers and of its doubles, in their order."""
    module = MODULES[name]
    names = stored(module, version)
    whole, doubles = (tuple(name for name in names if ("_F_" in name) == timed) for timed in (False, True))
    return dtype_of(module, version, order), whole, doubles


def _stdio_note(records: int) -> str:
    """Returns a note about the records of stdio files that were left out: the first version of module POSIX contains
    them.
    """
    if not records:
        return ""
    return (
        f"{records} records of stdio files, which this old version of Darshan stored among the POSIX records, are "
        "left out."
    )


_BLOCKS = ("i", "f")
"""The fields of a record that hold all counters of one type."""


def _record_fields(log: Container, region: Region, layout: np.dtype[np.void]) -> dict[str, Any]:
    """Returns the fields of a region's records, in this machine's byte order; `i` and `f` have a row for each counter,
    whose values lie side by side. A large region is inflated twice, the first time only to count its records, so that
    its content is in memory only once. A counter with the same value in all records takes no memory.
    """
    known = [inflate(log, region)] if region.length <= _SMALL else None
    count = 0
    first: np.ndarray = np.zeros(1, layout)
    varies = {name: np.full(layout[name].shape, known is not None) for name in _BLOCKS}
    for rows in _records_of(log, region, layout, known):
        if known is None and len(rows):
            first = first if count else rows[:1].copy()
            varies = {name: varies[name] | (rows[name] != first[name]).any(axis=0) for name in _BLOCKS}
        count += len(rows)
    kinds = {name: layout[name] for name in layout.names or ()}
    columns = {name: np.empty((*kind.shape, count), kind.base.newbyteorder("=")) for name, kind in kinds.items()}
    at = 0
    for rows in _records_of(log, region, layout, known):
        for name, values in columns.items():
            if name in varies:
                values[varies[name], at : at + len(rows)] = rows[name][:, varies[name]].T
            else:
                values[..., at : at + len(rows)] = rows[name].T
        at += len(rows)
    if known is not None:
        return columns
    return columns | {name: _without_equals(columns[name], varies[name], first[name][0]) for name in _BLOCKS}


def _records_of(
    log: Container, region: Region, layout: np.dtype[np.void], known: Sequence[bytes] | None
) -> Iterator[np.ndarray]:
    """Yields the records of a region in pieces; raises if the last one is not whole."""
    left, size = b"", 0
    for piece in known or inflated_pieces(log, region):
        data = left + piece
        rows = np.frombuffer(data[: len(data) // layout.itemsize * layout.itemsize], layout)
        yield rows
        size, left = size + len(piece), data[len(rows) * layout.itemsize :]
    if left and not region.cut:
        raise LogError(
            log.path,
            f"is damaged: its {region.name} region has {size} bytes, which is not a multiple of the {layout.itemsize} "
            f"bytes of a record",
        )


def _without_equals(rows: np.ndarray, varies: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Returns the rows; a row of equal values is stored as one value (by a stride of 0)."""
    count = rows.shape[1]
    same = values.astype(rows.dtype)
    return [row if own else np.broadcast_to(one, count) for row, own, one in zip(rows, varies, same, strict=True)]


def _finite_rows(rows: np.ndarray | list[np.ndarray]) -> tuple[np.ndarray | list[np.ndarray], str]:
    """Returns the rows with -1 (not recorded) for values that are not finite, and a note about them."""
    wrong = sum(int((~np.isfinite(row)).sum()) for row in rows)
    if not wrong:
        return rows, ""
    return [
        np.where(np.isfinite(row), row, -1.0) for row in rows
    ], f"{wrong} values are not numbers and count as not recorded."


def overflowed(values: Sequence[np.ndarray] | np.ndarray, names: Sequence[str]) -> str:
    """Returns a note about counters that are negative although they cannot be, because old profilers overflowed. -1
    means not recorded. Distances between accesses (STRIDE) may be negative, and a record's number (RENAMED_FROM) is
    not a count.
    """
    places = [place for place, name in enumerate(names) if not name.endswith(("_STRIDE", "_RENAMED_FROM"))]
    wrong = [names[place] for place in places if (values[place] < -1).any()]
    if not wrong:
        return ""
    more = f" and {len(wrong) - 3} other counters" if len(wrong) > 3 else ""
    return f"{', '.join(wrong[:3])}{more} overflowed to negative values, which are counted as 0, so sums are too small."
