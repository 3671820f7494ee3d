"""Modules whose records differ in length: LUSTRE layouts and heatmaps.

A Python loop finds where the records begin; NumPy then reads all numbers at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from iolens.foreign import decoded
from iolens.log.format.container import Container, LogError, Region, inflate
from iolens.log.records import Records

HEATMAP_NAMES = {
    16592106915301738621: "POSIX",
    3989511027826779520: "STDIO",
    3668870418325792824: "MPI-IO",
    1597927878319380788: "DFS",
    4131494093108637317: "DAOS",
}
VERSIONS = {"LUSTRE": (1, 2), "DXT_POSIX": (1, 2), "DXT_MPIIO": (1, 2, 3), "APMPI": (1,), "HEATMAP": (1,)}
"""Versions of the records that can be read, by module."""

_COMPONENT = ("stripe_size", "stripe_count", "pattern", "flags", "extent_start", "extent_end", "mirror")
_LUSTRE = {
    "id": "u8",
    "rank": "i8",
    "component": "i8",
    **dict.fromkeys(_COMPONENT, "i8"),
    "pool": "O",
    "osts": "O",
}
"""The columns of a layout component."""


def damaged(log: Container, region: Region) -> LogError:
    """Returns the error for a record that does not end within its region."""
    return LogError(log.path, f"is damaged: a record of its {region.name} region is truncated")


def words_of(log: Container, region: Region) -> tuple[bytes, np.ndarray]:
    """Returns a region's bytes, and the same as 64-bit integers in this machine's order; for a truncated region, only
    the whole integers.
    """
    data = inflate(log, region)
    if len(data) % 8 and not region.cut:
        raise damaged(log, region)
    data = data[: len(data) - len(data) % 8]
    return data, np.frombuffer(data, f"{log.order}i8").astype(np.int64)


def read_lustre(log: Container, region: Region) -> Records:
    """Returns one row per layout component: id, rank, component (from 0), its fields, pool, and `osts`, a tuple.

    Sizes and extents are bytes; an extent end of -1 is the end of the file; -1 elsewhere: not recorded.
    """
    data, numbers = words_of(log, region)
    words = numbers.tolist()
    read = _lustre_v1 if region.version == 1 else _lustre_v2
    rows: list[tuple[Any, ...]] = []
    at = 0
    while at < len(words):
        try:
            at = read(log, region, data, words, at, rows)
        except LogError:
            if region.cut:
                break
            raise
    found = np.array(rows, [*_LUSTRE.items()])
    return Records({name: found[name] for name in _LUSTRE})


def _lustre_v1(
    log: Container, region: Region, data: bytes, words: list[int], at: int, rows: list[tuple[Any, ...]]
) -> int:
    """Reads the record of version 1 at word `at` into `rows`: id, rank, OST and MDT counts, index of the first OST,
    stripe size and count, OSTs. Returns the position after the record.
    """
    head = words[at : at + 7]
    if len(head) < 7 or not 0 <= head[6] <= len(words) - at - 7:
        raise damaged(log, region)
    osts = tuple(words[at + 7 : at + 7 + head[6]])
    rows.append((unsigned(head[0]), head[1], 0, head[5], head[6], -1, -1, 0, -1, -1, "", osts))
    return at + 7 + len(osts)


def _lustre_v2(
    log: Container, region: Region, data: bytes, words: list[int], at: int, rows: list[tuple[Any, ...]]
) -> int:
    """Reads the record of version 2 at word `at` into `rows`, one row per component: components of 7 numbers and a pool
    name, then the OSTs of all components. Returns the position behind the record.
    """
    head = words[at : at + 4]
    if len(head) < 4 or min(head[2:]) < 0 or head[2] * 9 + head[3] > len(words) - at - 4:
        raise damaged(log, region)
    key, rank, components, stripes = head
    ost_at = at + 4 + 9 * components
    end = ost_at + stripes
    for number in range(components):
        begin = at + 4 + 9 * number
        fields = words[begin : begin + 7]
        if fields[0] == -1:
            break
        pool = decoded(data[8 * (begin + 7) : 8 * (begin + 9)].split(b"\0")[0])
        osts = tuple(words[ost_at : min(end, ost_at + max(0, fields[1]))])
        ost_at += len(osts)
        rows.append((unsigned(key), rank, number, *fields, pool, osts))
    return end


def unsigned(key: int) -> int:
    """Returns a record id as the unsigned number that it is; `key` was read as a signed number."""
    return key & 0xFFFFFFFFFFFFFFFF


def read_heatmap(log: Container, region: Region) -> Records:
    """Returns one row per time bin: id, module, rank, bin, width (seconds), written, read (bytes)."""
    _, words = words_of(log, region)
    parts: list[dict[str, Any]] = []
    at = 0
    while at < len(words):
        head = words[at : at + 6].tolist()
        if len(head) < 6 or not 0 <= 2 * head[3] <= len(words) - at - 6:
            if region.cut:
                break
            raise damaged(log, region)
        bins, begin = head[3], at + 6
        at = begin + 2 * bins
        if bins == 0:
            continue
        width = float(words[begin - 4 : begin - 3].view(np.float64)[0])
        key = unsigned(head[0])
        parts.append({"id": key, "module": HEATMAP_NAMES.get(key, "unknown"), "rank": head[1], "width": width})
        parts[-1] |= {
            "bins": bins,
            "written": words[begin : begin + bins],
            "read": words[begin + bins : at],
        }
    counts, none = [part["bins"] for part in parts], np.zeros(0, "i8")
    columns: dict[str, Any] = {
        name: np.repeat(np.array([part[name] for part in parts], dtype=kind), counts)
        for name, kind in (("id", np.uint64), ("module", object), ("rank", np.int64), ("width", np.float64))
    }
    columns["bin"] = np.concatenate([np.arange(count) for count in counts]) if counts else none
    for name in ("written", "read"):
        columns[name] = np.concatenate([part[name] for part in parts]) if parts else none
    return Records(columns)
