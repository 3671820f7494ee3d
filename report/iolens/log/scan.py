"""The essence of a log in a millisecond: facts, names, and the records of the layers at which bytes reach a file.

For many logs at once, where frames (`reader`) would cost more than what is asked of them. Arrays only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from iolens.log.columns import Columns
from iolens.log.container import Container, LogError, Region, open_container
from iolens.log.fixed import records_of
from iolens.log.header import JobFields, read_job, read_names
from iolens.log.known import check_job
from iolens.log.layouts import MODULES, dtype_of, stored
from iolens.log.private import Entry, damage_in, document, entries_of, inflated
from iolens.log.variable import unsigned, words_of

_DATA = ("POSIX", "MPI-IO", "STDIO", "DFS", "DAOS")
"""Modules whose records are read."""


@dataclass(frozen=True, eq=False)
class Records:
    """Records of a module: ids, ranks (-1: all), and any counter as an array."""

    prefix: str
    id: np.ndarray
    rank: np.ndarray
    counts: np.ndarray
    times: np.ndarray
    places: Mapping[str, int]

    def seconds(self, name: str) -> np.ndarray:
        """Returns a time, named without the prefix; 0 if it was not recorded or is no number."""
        place = self.places.get(f"{self.prefix}_{name}")
        return np.zeros(len(self.id)) if place is None else np.asarray(self.times[:, place])

    def whole(self, name: str) -> np.ndarray:
        """Returns an integer counter, named without the prefix; 0 if it was not recorded (-1) or overflowed."""
        place = self.places.get(f"{self.prefix}_{name}")
        return np.zeros(len(self.id), "i8") if place is None else np.asarray(np.maximum(self.counts[:, place], 0))


@dataclass(frozen=True, eq=False)
class Heat:
    """Bytes over time of one rank at one layer: the width of a bin in seconds, bytes written and read in each."""

    layer: int
    rank: int
    width: float
    written: np.ndarray
    read: np.ndarray


@dataclass(frozen=True, eq=False)
class Scan:
    """`facts` of the job region, path of each record id, records by module, what iolens says of the job and of each
    rank's process; `partial`: why the log is not whole, in sentences; `private`: the private regions' directory."""

    path: Path
    facts: JobFields
    names: Mapping[int, str]
    records: Mapping[str, Records]
    heat: tuple[Heat, ...]
    info: Mapping[str, Any]
    process: Mapping[str, np.ndarray]
    partial: tuple[str, ...]
    private: tuple[Entry, ...] = ()


def scan(path: Path) -> Scan:
    """Reads a log of Darshan 3.0 or later or of this profiler; raises LogError if it is damaged or no log."""
    return scan_of(open_container(path))


def scan_of(log: Container) -> Scan:
    """Returns the essence of a log in memory."""
    facts = read_job(log)
    regions = {region.name: region for region in log.modules if region.length}
    records = {name: _read_records(log, regions[name], facts.nprocs) for name in _DATA if _known(regions.get(name))}
    heat = _read_heat(log, regions["HEATMAP"]) if _known_heat(regions.get("HEATMAP")) else ()
    private = entries_of(log) or ()
    info, process = _read_process(log, private)
    return Scan(log.path, facts, read_names(log), records, heat, info, process, _reasons(log, info), private)


def _known(region: Region | None) -> bool:
    """Returns whether its records are read here."""
    return region is not None and region.version in MODULES[region.name].versions


def _known_heat(region: Region | None) -> bool:
    """Returns whether the heat maps of this region are read here."""
    return region is not None and region.version == 1


def _reasons(log: Container, info: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the reasons why the log is not complete."""
    said = [
        f"{one.name}: the profiler ran out of memory; some records are missing." for one in log.modules if one.partial
    ]
    said += [f"{one.name}: the file is truncated." for one in (log.names, *log.modules) if one.cut]
    return (*said, *map(str, info.get("partial", ())))


@cache
def _layout(name: str, version: int, order: str) -> tuple[np.dtype[np.void], Mapping[str, int], int]:
    """Returns a module's record, the index of each counter among those of its kind, and the index of POSIX_FOPENS or
    -1.
    """
    module = MODULES[name]
    names = stored(module, version)
    whole, doubles = ([name for name in names if ("_F_" in name) == timed] for timed in (False, True))
    places = {name: place for each in (whole, doubles) for place, name in enumerate(each)}
    return dtype_of(module, version, order), places, places.get("POSIX_FOPENS", -1)


def _read_records(log: Container, region: Region, nprocs: int) -> Records:
    """Returns a module's records; raises LogError if one belongs to a rank that the job does not have."""
    dtype, places, fopens = _layout(region.name, region.version, log.order)
    rows = records_of(log, region, dtype)
    if fopens >= 0:
        rows = rows[rows["i"][:, fopens] <= 0]
    ranks = rows["rank"].astype("i8")
    if len(ranks) and not -1 <= ranks.min() <= ranks.max() < nprocs:
        raise LogError(log.path, f"is damaged: its {region.name} region names a rank outside the {nprocs} of the job")
    times = rows["f"].astype("f8")
    times = np.where(np.isfinite(times) & (times > 0), times, 0.0)
    return Records(MODULES[region.name].prefix, rows["id"].astype("u8"), ranks, rows["i"].astype("i8"), times, places)


def _read_heat(log: Container, region: Region) -> tuple[Heat, ...]:
    """Returns records of six numbers and, for each bin, the bytes written, then those read."""
    _, words = words_of(log, region)
    found, at = [], 0
    while at + 6 <= len(words):
        key, rank, _, bins = words[at : at + 4].tolist()
        begin = at + 6
        at = begin + 2 * bins
        if bins < 0 or at > len(words):
            if region.cut:
                break
            raise LogError(log.path, f"is damaged: a record of its {region.name} region is truncated")
        width = float(words[begin - 4 : begin - 3].view(np.float64)[0])
        if bins and width > 0:
            found.append(Heat(unsigned(key), rank, width, words[begin : begin + bins], words[begin + bins : at]))
    return tuple(found)


def _read_process(log: Container, private: Iterable[Entry]) -> tuple[dict[str, Any], Mapping[str, np.ndarray]]:
    """Returns the private regions `job` and `process`; empty in a log that another profiler wrote."""
    info: dict[str, Any] = {}
    process: Mapping[str, np.ndarray] = {}
    for entry in private:
        if entry.name in ("job", "process"):
            with damage_in(log, f"its private region {entry.name}"):
                parts = inflated(log, entry)
                if entry.name == "job":
                    info = document(parts)
                    check_job(info)
                else:
                    process = Columns(parts)
    return info, process
