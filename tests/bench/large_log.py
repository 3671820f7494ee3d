"""Writes a log of many files: python tests/bench/large_log.py LOG [RECORDS [RANKS]].

The log is a Darshan 3.41 log with one POSIX record per file, each file written by one of 64 ranks, or of RANKS.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np
from iolens.log.format.container import MODULE_NAMES
from iolens.log.format.layouts import MODULES, dtype_of, stored

HEADER, RANKS, SIZE = 1328, 64, 1 << 20
PIECE = 100_000  # Number of records that are made at a time.


def records(count: int, ranks: int = RANKS, first: int = 0) -> np.ndarray:
    """Makes POSIX records, version 4, of the files from number `first` on. Every file is written once in 1 MiB pieces,
    and every tenth file is also read.
    """
    module = MODULES["POSIX"]
    names = [name.removeprefix("POSIX_") for name in stored(module, 4)]
    whole, doubles = ([n for n in names if n.startswith("F_") == kind] for kind in (False, True))
    out = np.zeros(count, dtype_of(module, 4, "<"))
    number = np.arange(first, first + count)
    out["id"], out["rank"] = number + 1, number % ranks
    writes, reads = 1 + number % 7, np.where(number % 10 == 0, 2, 0)
    values = {
        "OPENS": 1,
        "READS": reads,
        "WRITES": writes,
        "BYTES_READ": reads * SIZE,
        "BYTES_WRITTEN": writes * SIZE,
        "MAX_BYTE_WRITTEN": writes * SIZE - 1,
        "MAX_BYTE_READ": np.maximum(reads * SIZE - 1, 0),
        "SIZE_WRITE_100K_1M": writes,
        "SIZE_READ_100K_1M": reads,
        "ACCESS1_ACCESS": SIZE,
        "ACCESS1_COUNT": reads + writes,
        "F_WRITE_TIME": writes * 1e-3,
        "F_READ_TIME": reads * 1e-3,
        "F_META_TIME": 1e-4,
        "F_WRITE_START_TIMESTAMP": number * 1e-4 + 0.1,
        "F_WRITE_END_TIMESTAMP": number * 1e-4 + 0.2,
    }
    for name, value in values.items():
        kind, order = ("f", doubles) if name.startswith("F_") else ("i", whole)
        out[kind][:, order.index(name)] = value
    return out


def write_log(path: Path, count: int, ranks: int = RANKS) -> None:
    """Writes the job region, the names and the POSIX module."""
    names = {i + 1: f"/scratch/run/{i % 500:03d}/file.{i:06d}" for i in range(count)}
    pieces = (records(min(PIECE, count - i), ranks, i).tobytes() for i in range(0, count, PIECE))
    write_regions(path, "many files", ranks, names, {"POSIX": (4, pieces)})


def write_regions(
    path: Path, program: str, ranks: int, names: Mapping[int, str], modules: Mapping[str, tuple[int, Iterable[bytes]]]
) -> None:
    """Writes the log of a job of 60 seconds. Each module has a record version and the pieces of its region, which are
    written one by one.
    """
    job = struct.pack("<7q", 1000, 1_700_000_000, 0, 1_700_000_060, 0, ranks, 4711)
    job += b"lib_ver=3.5.0\n".ljust(1024, b"\0") + f"/usr/bin/{program}\next4\t/\nlustre\t/scratch\0".encode()
    header = bytearray(HEADER)
    struct.pack_into("<8sq", header, 0, b"3.41", 6567223)
    with path.open("wb") as out:
        out.write(header)
        write_region(out, [job])
        named = b"".join(struct.pack("<Q", key) + name.encode() + b"\0" for key, name in names.items())
        struct.pack_into("<2Q", header, 32, *write_region(out, [named]))
        for module, (version, pieces) in modules.items():
            slot = MODULE_NAMES.index(module)
            struct.pack_into("<2Q", header, 48 + 16 * slot, *write_region(out, pieces))
            struct.pack_into("<I", header, 1072 + 4 * slot, version)
        out.seek(0)
        out.write(header)


def write_region(out: BinaryIO, pieces: Iterable[bytes]) -> tuple[int, int]:
    """Appends a compressed region to a file; returns its offset and its size."""
    begin, deflate = out.tell(), zlib.compressobj(1)
    for piece in pieces:
        out.write(deflate.compress(piece))
    out.write(deflate.flush())
    return begin, out.tell() - begin


if __name__ == "__main__":
    write_log(Path(sys.argv[1]), *(int(word) for word in sys.argv[2:] or ["100000"]))
