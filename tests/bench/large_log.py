"""Write a log of many files, or time its report: python tests/bench/large_log.py LOG [RECORDS].

The log is a Darshan 3.41 log with one POSIX record per file, each file written by one of 64 ranks.
"""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from iolens.log.layouts import MODULES, dtype_of, stored

HEADER, RANKS, SIZE = 1328, 64, 1 << 20


def records(count: int) -> np.ndarray:
    """POSIX records, version 4: every file is written once in 1 MiB pieces, every tenth also read."""
    module = MODULES["POSIX"]
    names = [name.removeprefix("POSIX_") for name in stored(module, 4)]
    whole, doubles = ([n for n in names if n.startswith("F_") == kind] for kind in (False, True))
    out = np.zeros(count, dtype_of(module, 4, "<"))
    number = np.arange(count)
    out["id"], out["rank"] = number + 1, number % RANKS
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


def write_log(path: Path, count: int) -> None:
    """Header, job, names and the POSIX module, zlib."""
    job = struct.pack("<7q", 1000, 1_700_000_000, 0, 1_700_000_060, 0, RANKS, 4711)
    job += b"lib_ver=3.5.0\n".ljust(1024, b"\0") + b"/usr/bin/many files\next4\t/\nlustre\t/scratch\0"
    names = b"".join(
        struct.pack("<Q", i + 1) + f"/scratch/run/{i % 500:03d}/file.{i:06d}\0".encode() for i in range(count)
    )
    regions = [zlib.compress(job), zlib.compress(names), zlib.compress(records(count).tobytes())]
    offsets = np.cumsum([HEADER, *map(len, regions)])
    header = bytearray(HEADER)
    struct.pack_into("<8sqB7xQ2Q", header, 0, b"3.41", 6567223, 0, 0, int(offsets[1]), len(regions[1]))
    struct.pack_into("<2Q", header, 48 + 16, int(offsets[2]), len(regions[2]))
    struct.pack_into("<I", header, 1072 + 4, 4)
    path.write_bytes(bytes(header) + b"".join(regions))


if __name__ == "__main__":
    write_log(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
