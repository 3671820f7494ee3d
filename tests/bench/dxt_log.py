"""Writes a log with traced accesses of 64 ranks: python tests/bench/dxt_log.py LOG [ACCESSES].

Every rank reads an input file of all ranks, then writes checkpoints into files that all of them share, in blocks of its
own; between checkpoints it computes. Durations vary as on a busy file system: 1 access in 500 takes 20 times longer
than usual, and one rank is slower than the others. The POSIX records agree with the accesses.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from iolens.log.format.layouts import MODULES, dtype_of, stored
from large_log import write_regions

RANKS, HOSTS, FILES, SECONDS = 64, 8, 10, 60.0
SIZE, STRIPES = 64 << 10, 4
INPUT = 1
"""Record id of the input file; the checkpoints have the following numbers."""
SLOW_RANK, SLOWER = 37, 1.6
BUSY = 0.7
"""Share of the time between checkpoints that all ranks but the slow one spend in accesses."""

Trace = tuple[np.ndarray, np.ndarray]
"""The transfers of one rank in one file: their offsets, and two columns with their begin and end in seconds."""


def traces(accesses: int, file: int, rank: int) -> Trace:
    """Invents a rank's accesses in a file, each of SIZE bytes, within that file's part of the run."""
    each = accesses // (RANKS * (FILES + 1))
    random = np.random.default_rng([file, rank])
    spent = random.lognormal(0.0, 0.4, each) * np.where(random.random(each) < 0.002, 20.0, 1.0)
    phase = SECONDS / (FILES + 1)
    spent *= BUSY / SLOWER * phase / max(each, 1) / 1.13 * (SLOWER if rank == SLOW_RANK else 1.0)
    ends = phase * (file - INPUT) + 0.01 * rank / RANKS + np.cumsum(spent)
    offsets = SIZE * (rank * each + np.arange(each))
    return offsets, np.stack([ends - spent, ends], axis=1)


def dxt(accesses: int) -> Iterator[bytes]:
    """Makes records of DXT_POSIX, version 1: for each rank and file the writes, then the reads."""
    for file in range(INPUT, INPUT + FILES + 1):
        for rank in range(RANKS):
            offsets, times = traces(accesses, file, rank)
            counts = (0, len(offsets)) if file == INPUT else (len(offsets), 0)
            host = f"node{rank // (RANKS // HOSTS):04d}".encode()
            segments = np.empty((len(offsets), 4), "<i8")
            segments[:, 0], segments[:, 1], segments[:, 2:] = offsets, SIZE, times.view("<i8")
            yield struct.pack("<Qqq64sqq", file, rank, 0, host, *counts) + segments.tobytes()


def posix(accesses: int) -> bytes:
    """Returns the POSIX counters of the same transfers, a record for each rank in each file."""
    module = MODULES["POSIX"]
    names = [name.removeprefix("POSIX_") for name in stored(module, 4)]
    whole, doubles = ([n for n in names if n.startswith("F_") == kind] for kind in (False, True))
    out = np.zeros(RANKS * (FILES + 1), dtype_of(module, 4, "<"))
    for place in range(len(out)):
        file, rank = INPUT + place // RANKS, place % RANKS
        offsets, times = traces(accesses, file, rank)
        if not len(offsets):
            continue
        verb, past = ("READ", "READ") if file == INPUT else ("WRITE", "WRITTEN")
        values = {
            "OPENS": 1,
            f"{verb}S": len(offsets),
            f"BYTES_{past}": SIZE * len(offsets),
            f"MAX_BYTE_{past}": int(offsets[-1]) + SIZE - 1,
            f"CONSEC_{verb}S": len(offsets) - 1,
            f"SEQ_{verb}S": len(offsets) - 1,
            f"SIZE_{verb}_10K_100K": len(offsets),
            "ACCESS1_ACCESS": SIZE,
            "ACCESS1_COUNT": len(offsets),
            "F_META_TIME": 1e-4,
            f"F_{verb}_TIME": float((times[:, 1] - times[:, 0]).sum()),
            f"F_{verb}_START_TIMESTAMP": float(times[0, 0]),
            f"F_{verb}_END_TIMESTAMP": float(times[-1, 1]),
        }
        out["id"][place], out["rank"][place] = file, rank
        for name, value in values.items():
            kind, order = ("f", doubles) if name.startswith("F_") else ("i", whole)
            out[kind][place, order.index(name)] = value
    return out.tobytes()


def lustre() -> bytes:
    """Makes records of LUSTRE, version 1: every file has STRIPES stripes of 1 MiB on its own targets."""
    files = range(INPUT, INPUT + FILES + 1)
    return b"".join(
        struct.pack(f"<Qq5q{STRIPES}q", file, -1, 2 * FILES, 1, -1, 1 << 20, STRIPES, *targets_of(file))
        for file in files
    )


def targets_of(file: int) -> list[int]:
    """Returns the numbers of a file's targets."""
    return [(file + 3 * stripe) % (2 * FILES) for stripe in range(STRIPES)]


def write_log(path: Path, accesses: int) -> None:
    """Writes a log with header, job, names, POSIX, LUSTRE and DXT_POSIX."""
    names = {INPUT: "/scratch/run/input.dat"} | {
        INPUT + 1 + i: f"/scratch/run/checkpoint.{i:02d}" for i in range(FILES)
    }
    modules = {"POSIX": (4, [posix(accesses)]), "LUSTRE": (1, [lustre()]), "DXT_POSIX": (1, dxt(accesses))}
    write_regions(path, "checkpoints", RANKS, names, modules)


if __name__ == "__main__":
    write_log(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000)
