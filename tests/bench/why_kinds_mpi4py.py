"""Patterns like those of tests/c/why_kinds.h with mpi4py: `mpirun python why_kinds_mpi4py.py PATTERN`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
MIB = 1 << 20


def delay() -> None:
    """Writes DELAY_MIB MiB, and returns after the data has reached the storage."""
    count = int(os.environ["DELAY_MIB"])
    if count:
        with (Path(os.environ["DELAY_FOLDER"]) / "delay").open("wb", buffering=0) as out:
            for _ in range(count):
                out.write(bytes(MIB))
            os.fsync(out.fileno())


def objects_to_root() -> None:
    """Gathers objects on rank 0, of which rank 3 has the last."""
    if RANK == 3:
        delay()
    WORLD.gather({"rank": RANK, "data": bytes(5000)}, root=0)
    time.sleep(0.5 if RANK == 0 else 0)


def farm() -> None:
    """Hands tasks to workers that ask for them; one task is slow."""
    if RANK == 0:
        status = MPI.Status()
        tasks, idle = list(range(12)), 0
        while idle < RANKS - 1:
            WORLD.recv(source=MPI.ANY_SOURCE, status=status)
            task = tasks.pop() if tasks else None
            idle += task is None
            WORLD.send(task, dest=status.Get_source())
        return
    while True:
        WORLD.send(RANK, dest=0)
        task = WORLD.recv(source=0)
        if task is None:
            return
        time.sleep(0.05)
        if task == 2:
            delay()


def posted_reduction() -> None:
    """Posts a reduction of an array, and is outside of MPI on rank 1 afterwards."""
    mine, total = bytearray(8 * 50000), bytearray(8 * 50000)
    request = WORLD.Iallreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE], op=MPI.SUM)
    if RANK == 1:
        delay()
    request.Wait()
    time.sleep(0.6 if RANK == 3 else 0)


def object_in_the_background() -> None:
    """Sends a large object with isend to a rank that reads it late."""
    if RANK == 0:
        request = WORLD.isend(bytes(4 * MIB), dest=1)
        request.wait()
        time.sleep(1.5)
    elif RANK == 1:
        delay()
        WORLD.recv(source=0)


def two_communicators() -> None:
    """Meets in two duplicates of one communicator, in the second of which a rank is late."""
    first, second = WORLD.Dup(), WORLD.Dup()
    first.Barrier()
    if RANK == 2:
        delay()
    second.allreduce(1)
    time.sleep(0.2)


def alternating_pairs() -> None:
    """Exchanges with the left and the right neighbour in turn, so that a delay moves through the ranks."""
    data = bytearray(100)
    for step in range(4):
        other = RANK ^ 1 if step % 2 == 0 else (RANK - 1 if RANK % 2 == 0 else RANK + 1) % RANKS
        if RANK == 0 and step == 1:
            delay()
        time.sleep(0.05)
        WORLD.Sendrecv(data, dest=other, recvbuf=bytearray(100), source=other)
    time.sleep(0.4 if RANK == 2 else 0)


PATTERNS = (objects_to_root, farm, posted_reduction, object_in_the_background, two_communicators, alternating_pairs)

if __name__ == "__main__":
    WORLD.Barrier()
    began = MPI.Wtime()
    {f"mpi4py_{each.__name__}": each for each in PATTERNS}[sys.argv[1]]()
    print(f"seconds {MPI.Wtime() - began:.6f}", flush=True)
