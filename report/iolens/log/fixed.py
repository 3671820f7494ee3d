"""Modules with records of a fixed size: a whole region is read at once as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from iolens.log.container import Container, LogError, Region, inflate, inflated_pieces
from iolens.log.layouts import MODULES, dtype_of, stored
from iolens.log.records import Records, numbered

_SMALL = 1 << 20
"""Largest size in the file, in bytes, for which a region is inflated as a whole."""


def read_fixed(log: Container, region: Region) -> tuple[Records, str]:
    """Returns columns id, rank, head fields and the counters of the newest version; and a note about them.

    Counters that an old version did not record are -1.
    """
    module = MODULES[region.name]
    layout, whole, doubles = _layout_of(region.name, region.version, log.order)
    columns = _columns(log, region, layout)
    times, note = _numbers(columns["f"])
    counts = columns["i"]
    note = " ".join(part for part in (note, overflowed(counts, whole)) if part)
    kept = np.ones(len(columns["id"]), bool)
    if "POSIX_FOPENS" in whole:
        kept = counts[whole.index("POSIX_FOPENS")] <= 0
        note = " ".join(part for part in (note, _left_out(int((~kept).sum()))) if part)
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
def _layout_of(name: str, version: int, order: str) -> tuple[np.dtype[np.void], tuple[str, ...], tuple[str, ...]]:
    """Returns a module's record, and the names of its integers and of its doubles, in their order."""
    module = MODULES[name]
    names = stored(module, version)
    whole, doubles = (tuple(name for name in names if ("_F_" in name) == timed) for timed in (False, True))
    return dtype_of(module, version, order), whole, doubles


def _left_out(records: int) -> str:
    """Returns a note about records of stdio files, which POSIX's first version has."""
    if not records:
        return ""
    return f"{records} records of stdio files, which this old version of Darshan mixed in, are left out."


def _columns(log: Container, region: Region, layout: np.dtype[np.void]) -> dict[str, np.ndarray]:
    """Returns the fields of a region's records, in this machine's byte order; `i` and `f` have a row for each counter,
    whose values lie side by side. A large region is inflated twice, first to count its records, so that its content is
    in memory once.
    """
    known = [inflate(log, region)] if region.length <= _SMALL else None
    count, rest = divmod(sum(map(len, known or inflated_pieces(log, region))), layout.itemsize)
    if rest and not region.cut:
        raise LogError(
            log.path,
            f"is damaged: its {region.name} region has {count * layout.itemsize + rest} bytes, which is not a multiple "
            f"of the {layout.itemsize} bytes of a record",
        )
    kinds = {name: layout[name] for name in layout.names or ()}
    columns = {name: np.empty((*kind.shape, count), kind.base.newbyteorder("=")) for name, kind in kinds.items()}
    at, left = 0, b""
    for piece in known or inflated_pieces(log, region):
        data = left + piece
        rows = np.frombuffer(data[: len(data) // layout.itemsize * layout.itemsize], layout)
        for name, values in columns.items():
            values[..., at : at + len(rows)] = rows[name].T
        at, left = at + len(rows), data[len(rows) * layout.itemsize :]
    return columns


def _numbers(values: np.ndarray) -> tuple[np.ndarray, str]:
    """Returns the values with -1 (not recorded) for those that are not finite, and a note about them."""
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return values, ""
    return np.where(wrong, -1.0, values), f"{int(wrong.sum())} values are not numbers; they count as not recorded."


def overflowed(values: np.ndarray, names: Sequence[str]) -> str:
    """Returns a note about counters that are negative although they cannot be, because old profilers overflowed. -1
    means not recorded. Distances between accesses (STRIDE) may be negative, and a record's number (RENAMED_FROM) is
    not a count.
    """
    places = [place for place, name in enumerate(names) if not name.endswith(("_STRIDE", "_RENAMED_FROM"))]
    columns = np.any(values < -1, axis=1).tolist()
    wrong = [names[place] for place in places if columns[place]]
    if not wrong:
        return ""
    more = f" and {len(wrong) - 3} other counters" if len(wrong) > 3 else ""
    return f"{', '.join(wrong[:3])}{more} overflowed to negative values, which are counted as 0, so sums are too small."
