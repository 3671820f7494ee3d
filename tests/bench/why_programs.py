"""Ranks that wait for one another's I/O in known ways: `mpirun python why_programs.py NAME FOLDER`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from mpi4py import MPI

MIB = 1 << 20
WORLD = MPI.COMM_WORLD


def write(path: Path, mib: int) -> None:
    """Writes this many MiB and returns after the data has reached the storage."""
    with path.open("wb", buffering=0) as out:
        for _ in range(mib):
            out.write(bytes(MIB))
        os.fsync(out.fileno())


def reads_for_all(folder: Path) -> None:
    """Reads on rank 0, which then broadcasts the data to the other ranks."""
    if WORLD.rank == 0:
        write(folder / "mesh", 4)
    for _ in range(4):
        data = bytearray(MIB)
        if WORLD.rank == 0:
            data = bytearray((folder / "mesh").read_bytes()[:MIB])
        WORLD.Bcast(data, root=0)
        time.sleep(0.02)


def writes_beside(folder: Path) -> None:
    """Writes on the last rank while the others compute for longer than the write takes, so that the write adds nothing
    to the run time.
    """
    for step in range(3):
        if WORLD.rank == WORLD.size - 1:
            write(folder / f"step.{step}", 2)
        else:
            time.sleep(0.4)
        WORLD.Barrier()


def chain(folder: Path) -> None:
    """Writes on rank 0, which then sends to rank 1; each further rank computes before it sends to the next one."""
    for step in range(3):
        if WORLD.rank > 0:
            WORLD.recv(source=WORLD.rank - 1, tag=step)
        if WORLD.rank == 0:
            write(folder / f"step.{step}", 2)
        else:
            time.sleep(0.03)
        if WORLD.rank + 1 < WORLD.size:
            WORLD.send(step, dest=WORLD.rank + 1, tag=step)


def uneven(folder: Path) -> None:
    """Writes four times as much on rank 0 as on the other ranks, which wait for rank 0 in a barrier."""
    for step in range(3):
        write(folder / f"{WORLD.rank}.{step}", 4 if WORLD.rank == 0 else 1)
        time.sleep(0.05)
        WORLD.Barrier()


if __name__ == "__main__":
    {one.__name__: one for one in (reads_for_all, writes_beside, chain, uneven)}[sys.argv[1]](Path(sys.argv[2]))
