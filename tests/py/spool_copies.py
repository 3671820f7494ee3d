"""Makes the spools of a job of many ranks from the spool of one process: copies that differ in the rank alone."""

from __future__ import annotations

import struct
from pathlib import Path

PID_AT = 24
"""Position of the process's number in `struct spool_header` (profiler/src/spool/spool.h)."""

RANK_AT = 168
"""Position of the rank in that structure; the number of ranks follows."""


def copy_ranks(spool: Path, folder: Path, ranks: int) -> list[Path]:
    """Writes a copy of a spool for each rank of a job, and returns the paths."""
    folder.mkdir(exist_ok=True)
    content = bytearray(spool.read_bytes())
    paths = [folder / f"{rank}.spool" for rank in range(ranks)]
    for rank, path in enumerate(paths):
        struct.pack_into("<ii", content, RANK_AT, rank, ranks)
        with path.open("wb") as out:
            for begin in range(0, len(content), 4096):
                page = content[begin : begin + 4096]
                if any(page):
                    out.seek(begin)
                    out.write(page)
            out.truncate(len(content))
    return paths
