"""A second reader of logs for the model, written only from the description of the format: it returns records as plain
numbers.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

HEADER = 1328
MODULE_IDS = {
    "POSIX": 1,
    "MPI-IO": 2,
    "H5F": 3,
    "H5D": 4,
    "PNETCDF_FILE": 5,
    "PNETCDF_VAR": 6,
    "LUSTRE": 8,
    "STDIO": 9,
    "DXT_POSIX": 10,
    "DXT_MPIIO": 11,
    "HEATMAP": 15,
}
FIXED = {
    "POSIX": (69, 17),
    "MPI-IO": (51, 17),
    "STDIO": (14, 15),
    "H5F": (3, 5),
    "H5D": (94, 17),
    "PNETCDF_FILE": (9, 8),
    "PNETCDF_VAR": (120, 17),
}
OF_A_FILE = {"H5D", "PNETCDF_VAR"}  # Modules whose records also hold the id of their file.
HEATMAPS = {16592106915301738621: "POSIX", 3989511027826779520: "STDIO", 3668870418325792824: "MPIIO"}


@dataclass
class Record:
    id: int
    rank: int
    ints: list[int]
    doubles: list[float]


@dataclass
class Heatmap:
    rank: int
    width: float
    writes: list[int]
    reads: list[int]


@dataclass
class DxtTrace:
    """Segments of a trace as (offset, bytes, begin, end)."""

    id: int
    rank: int
    writes: list[tuple[int, int, float, float]]
    reads: list[tuple[int, int, float, float]]


@dataclass
class Striping:
    """A LUSTRE record: stripe size and count of each component, and the targets of all of them."""

    id: int
    components: list[tuple[int, int]]
    targets: list[int]


@dataclass
class Log:
    partial: int
    start: float
    end: float
    nprocs: int
    names: dict[int, str]
    records: dict[str, list[Record]]
    heatmaps: dict[str, list[Heatmap]] = field(default_factory=dict)
    traces: dict[str, list[DxtTrace]] = field(default_factory=dict)
    tables: dict[str, list[dict]] = field(default_factory=dict)
    striping: list[Striping] = field(default_factory=list)


def inflate(data: bytes, compression: int) -> bytes:
    """Inflates concatenated zlib streams; bytes of type 2 are uncompressed."""
    if compression == 2:
        return data
    return b"".join(chunks(data))


def chunks(data: bytes) -> list[bytes]:
    """Returns each of the concatenated zlib streams."""
    out = []
    while data:
        stream = zlib.decompressobj()
        out.append(stream.decompress(data) + stream.flush())
        data = stream.unused_data
    return out


def read_names(data: bytes) -> dict[int, str]:
    names: dict[int, str] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at + 8)
        names.setdefault(struct.unpack_from("<Q", data, at)[0], data[at + 8 : end].decode("utf-8", "replace"))
        at = end + 1
    return names


def fixed_records(data: bytes, ints: int, doubles: int, file: bool = False) -> list[Record]:
    words = [("ints", "<i8", ints), ("doubles", "<f8", doubles)]
    layout = np.dtype([("id", "<u8"), ("rank", "<i8"), *([("file", "<u8")] if file else []), *words])
    table = np.frombuffer(data, layout)
    rows = zip(
        table["id"].tolist(), table["rank"].tolist(), table["ints"].tolist(), table["doubles"].tolist(), strict=True
    )
    return [Record(*row) for row in rows]


def read_heatmaps(data: bytes) -> dict[str, list[Heatmap]]:
    found: dict[str, list[Heatmap]] = {}
    at = 0
    while at < len(data):
        name, rank, width, bins = struct.unpack_from("<Qqdq", data, at)
        values = np.frombuffer(data, "<i8", 2 * bins, at + 48).tolist()
        found.setdefault(HEATMAPS[name], []).append(Heatmap(rank, width, values[:bins], values[bins:]))
        at += 48 + 16 * bins
    return found


def read_traces(data: bytes) -> list[DxtTrace]:
    traces = []
    at = 0
    while at < len(data):
        name, rank, _, _, writes, reads = struct.unpack_from("<Qqq64sqq", data, at)
        at += 104
        segments = list(struct.iter_unpack("<qqdd", data[at : at + 32 * (writes + reads)]))
        traces.append(DxtTrace(name, rank, segments[:writes], segments[writes:]))
        at += 32 * (writes + reads)
    return traces


def read_striping(data: bytes) -> list[Striping]:
    found = []
    at = 0
    while at < len(data):
        name, _, components, targets = struct.unpack_from("<Qqqq", data, at)
        at += 32
        parts = [struct.unpack_from("<qq", data, at + 72 * i) for i in range(components)]
        at += 72 * components
        found.append(Striping(name, parts, list(struct.unpack_from(f"<{targets}q", data, at))))
        at += 8 * targets
    return found


def read_table(data: bytes) -> list[dict]:
    """Returns the rows of a private region of kind `table`, as dicts."""
    rows: list[dict] = []
    columns: list[dict] = []
    for chunk in chunks(data):
        end = chunk.index(b"\n")
        head = json.loads(chunk[:end])
        columns = head.get("columns", columns)
        at, parts = end + 1, []
        for column in columns:
            kind = np.dtype(column["dtype"])
            parts.append(np.frombuffer(chunk, kind, head["rows"], at).tolist())
            at += kind.itemsize * head["rows"]
        names = [c["name"] for c in columns]
        rows += [dict(zip(names, row, strict=True)) for row in zip(*parts, strict=True)]
    return rows


def read_tables(whole: bytes) -> dict[str, list[dict]]:
    if whole[-32:-24] != b"iolens01":
        return {}
    offset, length = struct.unpack("<QQ", whole[-24:-8])
    directory = json.loads(whole[offset : offset + length])
    return {
        region["name"]: read_table(whole[region["offset"] : region["offset"] + region["bytes"]])
        for region in directory["regions"]
        if region["kind"] == "table"
    }


def read_log(path: Path) -> Log:
    whole = path.read_bytes()
    compression = whole[16]
    (partial,) = struct.unpack_from("<Q", whole, 24)
    maps = struct.unpack_from("<130Q", whole, 32)
    if struct.unpack_from("<q", whole, 8)[0] != 6567223:
        raise ValueError(f"{path}: not a little-endian log")

    def region(slot: int) -> bytes:
        offset, length = maps[2 * slot], maps[2 * slot + 1]
        return inflate(whole[offset : offset + length], compression) if length else b""

    job = inflate(whole[HEADER : maps[0]], compression)
    _, start, start_ns, end, end_ns, nprocs, _ = struct.unpack_from("<7q", job)
    return Log(
        partial,
        start + start_ns * 1e-9,
        end + end_ns * 1e-9,
        nprocs,
        read_names(region(0)),
        {name: fixed_records(region(1 + MODULE_IDS[name]), *shape, name in OF_A_FILE) for name, shape in FIXED.items()},
        read_heatmaps(region(1 + MODULE_IDS["HEATMAP"])),
        {name: read_traces(region(1 + MODULE_IDS[name])) for name in ("DXT_POSIX", "DXT_MPIIO")},
        read_tables(whole),
        read_striping(region(1 + MODULE_IDS["LUSTRE"])),
    )
