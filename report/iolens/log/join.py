"""Joins the logs of processes without MPI into one log of Darshan's format, whose ranks are the processes.

Records keep their counters. Their times, which count from the start of each process, then count from that of the first.
The region `processes` keeps the facts of each process that a log has once (profiler/LOG.md).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from iolens.log.format.columns import Columns, StoredColumn
from iolens.log.format.container import WIDE, Container, LogError, Region, open_container, slot_names
from iolens.log.format.dxt import dxt_fields
from iolens.log.format.header import JOB_RECORD, METADATA, ended_names
from iolens.log.format.layouts import MODULES, dtype_of, stored
from iolens.log.format.places import record_places
from iolens.log.format.private import damage_in
from iolens.log.known import PROCESSES, SINCE_START
from iolens.log.rewrite import Contents, PrivateRegion, put_together, split_log

_NUMBERS = struct.Struct("<7q")
"""User, start and end (seconds and nanoseconds), number of ranks, number of the job."""

_VERSIONS_AT, _FLAGS_AT = 1072, 24
"""Places in the header of the modules' record versions and of their partial flags."""

_MOST_BINS = 1 << 22
"""Number of bins of all heat maps above which bins become wider."""

_NUMBERED = {"node": "call_nodes", "region": "region_names", "object": "objects"}
"""Columns with numbers of rows of another table, which each process numbers for itself."""

_MOST_NUMBERS = 1 << 30
"""Numbers from here on are no rows; they stand for several rows or for none."""


@dataclass(frozen=True)
class Part:
    """The log of one process, inflated."""

    log: Container
    contents: Contents

    @cached_property
    def info(self) -> dict[str, Any]:
        """Returns the private region `job`."""
        found = next((one for one in self.contents.private or () if one.name == "job"), None)
        with damage_in(self.log, "its private region job"):
            return dict(json.loads(found.chunks[0])) if found and found.chunks else {}

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Returns the numbers at the beginning of the job region."""
        return _NUMBERS.unpack_from(self.contents.job)

    @property
    def start_ns(self) -> int:
        """Returns the start of the process, in nanoseconds since 1970."""
        return self.numbers[1] * 10**9 + self.numbers[2]

    @property
    def is_alone(self) -> bool:
        """Returns whether the log is that of a single process, which is no rank of an MPI job."""
        info = self.info
        return self.numbers[5] == 1 and bool(info) and not (info.get("mpi") or info.get("after_finalize"))


def read_part(path: Path) -> Part | None:
    """Returns the log of a process; None if it is another kind of log, or one that is not whole."""
    try:
        log = open_container(path)
        if (log.format, log.order, log.compression) != (WIDE, "<", "zlib"):
            return None
        part = Part(log, split_log(log))
        return part if part.is_alone else None
    except LogError:
        return None


def joined_log(parts: Sequence[Part], command: str) -> bytes:
    """Returns the log of all processes of a command; the first part becomes rank 0 and lends its environment. Raises
    LogError if records of different versions do not go into one log.
    """
    first = parts[0]
    starts = np.array([part.start_ns for part in parts])
    shifts = (starts - starts.min()) * 1e-9
    regions = _regions_of(parts)
    modules = {name: _module(region, parts, shifts) for name, region in regions.items()}
    private = tuple(
        region
        for name in dict.fromkeys(one.name for part in parts for one in part.contents.private or ())
        if (region := _private(name, parts, shifts)) is not None
    )
    contents = Contents(
        _job_region(parts, int(starts.min()), command), _names(parts), modules, (*private, _processes(parts))
    )
    log = replace(first.log, data=_header(parts, regions), modules=tuple(regions.values()))
    return put_together(log, contents)


def _regions_of(parts: Sequence[Part]) -> dict[str, Region]:
    """Returns the modules of all parts by name; raises LogError if two have different record versions."""
    found: dict[str, Region] = {}
    for part in parts:
        for region in part.log.modules:
            known = found.setdefault(region.name, region)
            if known.version != region.version:
                raise LogError(part.log.path, f"has another version of {region.name} records than the other logs")
            found[region.name] = replace(known, partial=known.partial or region.partial)
    return {name: found[name] for name in slot_names(WIDE) if name in found}


def _header(parts: Sequence[Part], regions: Mapping[str, Region]) -> bytes:
    """Returns the header of the first log with the modules of all."""
    header, flags = bytearray(parts[0].log.data[: parts[0].log.job.offset]), 0
    for place, name in enumerate(slot_names(WIDE)):
        if name in regions:
            struct.pack_into("<I", header, _VERSIONS_AT + 4 * place, regions[name].version)
            flags |= regions[name].partial << place
    struct.pack_into("<Q", header, _FLAGS_AT, flags)
    return bytes(header)


def _job_region(parts: Sequence[Part], start_ns: int, command: str) -> bytes:
    """Returns the job region: metadata and mounts of the first log, the start of the first process and the end of the
    last, and the command as far as there is room.
    """
    user, *_, jobid = parts[0].numbers
    end = max(part.numbers[3:5] for part in parts)
    numbers = (user, *divmod(start_ns, 10**9), *end, len(parts), jobid)
    text = parts[0].contents.job[_NUMBERS.size :]
    _, *mounts = text[METADATA:].split(b"\0")[0].split(b"\n")
    after = b"".join(b"\n" + mount for mount in mounts) + b"\0"
    words = command.encode("utf-8", "surrogateescape").replace(b"\n", b" ")
    room = JOB_RECORD - _NUMBERS.size - METADATA - len(after)
    return _NUMBERS.pack(*numbers) + text[:METADATA] + words[: max(0, room)] + after


def _names(parts: Sequence[Part]) -> bytes:
    """Returns each name once."""
    entries = dict.fromkeys(pair for part in parts for pair in ended_names(part.contents.names, "<")[0])
    return b"".join(key + name + b"\0" for key, name in entries)


def _module(region: Region, parts: Sequence[Part], shifts: np.ndarray) -> bytes:
    """Returns the records of a module of all parts."""
    data = [part.contents.modules.get(region.name, b"") for part in parts]
    if region.name in MODULES:
        return _fixed(region, data, shifts)
    if region.name == "HEATMAP":
        return _heatmaps(parts, data, shifts)
    return b"".join(
        _variable(region, parts[rank].log, each, rank, shifts[rank]) for rank, each in enumerate(data) if each
    )


def _fixed(region: Region, data: Sequence[bytes], shifts: np.ndarray) -> bytes:
    """Returns records of a fixed size under their new ranks, and with times since the start of the first process."""
    layout = dtype_of(MODULES[region.name], region.version, "<")
    rows = np.frombuffer(b"".join(data), layout).copy()
    counts = [len(each) // layout.itemsize for each in data]
    rows["rank"] = np.repeat(np.arange(len(data)), counts)
    doubles = [name for name in stored(MODULES[region.name], region.version) if "_F_" in name]
    moments = [place for place, name in enumerate(doubles) if name.endswith("_TIMESTAMP")]
    rows["f"][:, moments] = _later(rows["f"][:, moments], np.repeat(shifts, counts)[:, None])
    return rows.tobytes()


def _later(moments: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Returns moments since the start of the first process; 0 and negative ones, which are none, stay."""
    return np.where(moments > 0, moments + shifts, moments)


def _variable(region: Region, log: Container, data: bytes, rank: int, shift: float) -> bytes:
    """Returns records of different lengths under the new rank; traced transfers get times since the first start."""
    changed = bytearray(data)
    begins = [at for at, _ in record_places(log, region, data)]
    for at, end in zip(begins, [*begins[1:], len(data)], strict=True):
        struct.pack_into("<q", changed, at + 8, rank)
        if region.name.startswith("DXT"):
            segments = np.dtype([(name, f"<{kind}") for name, kind in dxt_fields(region).items()])
            rows = np.frombuffer(changed, segments, (end - at - 104) // segments.itemsize, at + 104)
            for name in ("start", "end"):
                rows[name] += shift
    return bytes(changed)


def _heatmaps(parts: Sequence[Part], data: Sequence[bytes], shifts: np.ndarray) -> bytes:
    """Returns the heat maps of all parts with bins of one width, and as many in each, as Darshan's tools want them. A
    process that began within a bin has its bytes in that bin, as if it had begun with it.
    """
    found: list[tuple[int, int, float, np.ndarray]] = []
    for rank, each in enumerate(data):
        words = np.frombuffer(each, "<i8")
        region = Region("HEATMAP", 0, len(each))
        for at in [at // 8 for at, _ in record_places(parts[rank].log, region, each)]:
            count = int(words[at + 3])
            width = float(words[at + 2 : at + 3].view("<f8")[0])
            rows = words[at + 6 : at + 6 + 2 * count].reshape(2, count)
            found += [(rank, int(words[at]), width, rows)] if count else []
    if not found:
        return b""
    width = max(each[2] for each in found)
    while (bins := _bins_of(found, shifts, width)) * len(found) > _MOST_BINS and bins > 1:
        width *= 2
    return b"".join(_heatmap(rank, key, old, rows, width, bins, shifts[rank]) for rank, key, old, rows in found)


def _bins_of(found: Sequence[tuple[int, int, float, np.ndarray]], shifts: np.ndarray, width: float) -> int:
    """Returns the number of bins of this width that hold the last bin of each heat map."""
    return 1 + max(int(_new_bins(old, rows, width, shifts[rank])[-1]) for rank, _, old, rows in found)


def _new_bins(old: float, rows: np.ndarray, width: float, shift: float) -> np.ndarray:
    """Returns the number of the bin of this width in which each old bin lies."""
    return int(shift // width) + ((np.arange(rows.shape[1]) + 0.5) * old // width).astype("i8")


def _heatmap(rank: int, key: int, old: float, rows: np.ndarray, width: float, bins: int, shift: float) -> bytes:
    """Returns the record of one heat map, whose bins were `old` seconds wide, with bins of another width."""
    places, moved = _new_bins(old, rows, width, shift), np.zeros((2, bins), "<i8")
    for into, values in zip(moved, rows, strict=True):
        np.add.at(into, places, values)
    return struct.pack("<qqdqqq", key, rank, width, bins, 0, 0) + moved.tobytes()


def _private(name: str, parts: Sequence[Part], shifts: np.ndarray) -> PrivateRegion | None:
    """Returns a private region of all parts; None for one that is not known to be a table."""
    regions = [next((one for one in part.contents.private or () if one.name == name), None) for part in parts]
    kinds = {region.kind for region in regions if region}
    if kinds == {"json"} and name == "job":
        return PrivateRegion(name, "json", (json.dumps(_job_info(parts)).encode(),))
    chunks = [(rank, chunk) for rank, region in enumerate(regions) if region for chunk in region.chunks]
    if kinds != {"table"} or not chunks:
        return None
    with damage_in(parts[chunks[0][0]].log, f"its private region {name}"):
        table = Columns(chunk for _, chunk in chunks)
        assert table.stored is not None
        columns, pieces = table.stored
        rows = np.array([piece.rows for piece in pieces])
        ranks = np.repeat([rank for rank, _ in chunks][: len(pieces)], rows)
        bodies = [
            _moved_column(
                name,
                column,
                b"".join(piece.body[piece.rows * column.before : piece.rows * column.end] for piece in pieces),
                ranks,
                shifts,
                parts,
            )
            for column in columns
        ]
        head = json.loads(chunks[0][1].partition(b"\n")[0]) | {"rows": int(rows.sum())}
    return PrivateRegion(name, "table", (json.dumps(head).encode() + b"\n" + b"".join(bodies),))


def _moved_column(
    table: str, column: StoredColumn, body: bytes, ranks: np.ndarray, shifts: np.ndarray, parts: Sequence[Part]
) -> bytes:
    """Returns a column of all parts: ranks, moments, and numbers of rows of other tables mean the same as before."""
    if column.kind == "O":
        return body
    values = np.frombuffer(body, column.stored)
    if column.name == "rank" or column.name == "peer":
        values = np.where(values >= 0, ranks, values)
    elif column.name in SINCE_START.get(table, ()):
        values = _later(values, shifts[ranks])
    elif numbered := _NUMBERED.get(column.name) or (table if column.name == "parent" else None):
        own = (values >= (1 if numbered == "region_names" else 0)) & (values < _MOST_NUMBERS)
        values = np.where(own, values + _first_numbers(numbered, parts)[ranks], values)
    return values.astype(column.stored).tobytes()


def _first_numbers(table: str, parts: Sequence[Part]) -> np.ndarray:
    """Returns, for each part, how many rows of a table the parts before it have."""
    counts = []
    for part in parts:
        region = next((one for one in part.contents.private or () if one.name == table), None)
        counts.append(Columns(region.chunks).rows if region else 0)
    return np.cumsum([0, *counts[:-1]])


def _job_info(parts: Sequence[Part]) -> dict[str, Any]:
    """Returns the region `job`: that of the first process, with hosts, programs and reasons of all."""
    infos = [part.info for part in parts]
    hosts = list(dict.fromkeys(host for info in infos for host in info.get("hosts", ())))
    partial = dict.fromkeys(str(one) for info in infos for one in info.get("partial", ()))
    remarks = dict.fromkeys(str(one) for info in infos for one in info.get("remarks", ()))
    mounts = {point: mount for info in reversed(infos) for point, mount in info.get("mounts", {}).items()}
    return infos[0] | {
        "hosts": hosts,
        "rank_host": [hosts.index(info["hosts"][0]) if info.get("hosts") else 0 for info in infos],
        "partial": list(partial),
        "remarks": list(remarks),
        "mounts": mounts,
    }


def _processes(parts: Sequence[Part]) -> PrivateRegion:
    """Returns the region with the facts of each process; facts that equal those of the first process are left out."""
    first = parts[0].info
    rows = []
    for part in parts:
        text = part.contents.job[_NUMBERS.size :]
        rows.append(
            {
                "numbers": part.numbers,
                "metadata": _text(text[:METADATA]).splitlines(),
                "command": _text(text[METADATA:]).partition("\n")[0],
                "job": {key: value for key, value in part.info.items() if part is parts[0] or first.get(key) != value},
                "modules": sorted(part.contents.modules),
            }
        )
    return PrivateRegion(PROCESSES, "json", (json.dumps({"processes": rows}).encode(),))


def _text(data: bytes) -> str:
    """Returns a text that ends with a zero byte."""
    return data.split(b"\0")[0].decode("utf-8", "surrogateescape")
