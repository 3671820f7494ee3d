"""The patterns of tests/c/why_delays.c in Python: `mpirun python why_delays.py PATTERN`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
HALF = WORLD.Split(RANK // 2, RANK)
SMALL, LARGE, MORE = bytearray(8), bytearray(1 << 18), bytearray(1 << 18)
MIB = 1 << 20


def delay(step: int) -> None:
    """Writes DELAY_MIB MiB to a file of this step, and returns after the data has reached the storage."""
    count = int(os.environ["DELAY_MIB"])
    if count:
        with (Path(os.environ["DELAY_FOLDER"]) / f"delay.{step}").open("wb", buffering=0) as out:
            for _ in range(count):
                out.write(bytes(MIB))
            os.fsync(out.fileno())


def late_sender(step: int) -> None:
    time.sleep(0.02)
    if RANK == 0:
        delay(step)
        WORLD.Send(SMALL, 1, step)
    elif RANK == 1:
        WORLD.Recv(SMALL, 0, step)


def barrier(step: int) -> None:
    time.sleep(0.02)
    if RANK == 2:
        delay(step)
    WORLD.Barrier()


def late_root(step: int) -> None:
    time.sleep(0.02)
    if RANK == 1:
        delay(step)
    WORLD.Bcast(LARGE, 1)


def early_root(step: int) -> None:
    time.sleep(0.02)
    if RANK == 3:
        delay(step)
    WORLD.reduce(RANK, MPI.SUM, 0)
    if RANK == 0:
        time.sleep(0.02)
    WORLD.Bcast(SMALL, 0)


def chain(step: int) -> None:
    if RANK == 0:
        delay(step)
    else:
        WORLD.recv(source=RANK - 1, tag=step)
    time.sleep(0.02)
    if RANK + 1 < RANKS:
        WORLD.send(step, RANK + 1, step)


def late_receiver(step: int) -> None:
    time.sleep(0.02)
    if RANK == 0:
        WORLD.Ssend(SMALL, 1, step)
        time.sleep(0.02)
    elif RANK == 1:
        delay(step)
        WORLD.Recv(SMALL, 0, step)


def halo(step: int) -> None:
    time.sleep(0.02)
    if RANK == 1:
        delay(step)
    requests = [WORLD.Irecv(MORE, (RANK - 1) % RANKS), WORLD.Isend(LARGE, (RANK + 1) % RANKS)]
    time.sleep(0.01)
    MPI.Request.Waitall(requests)


def hidden(step: int) -> None:
    if RANK == 3:
        delay(step)
    else:
        time.sleep(0.8)
    WORLD.Barrier()


def turns(step: int) -> None:
    time.sleep(0.02)
    if step == RANK:
        delay(step)
    WORLD.allreduce(RANK)


def halves(step: int) -> None:
    if RANK < 2:
        time.sleep(0.1)
    if RANK == 3:
        delay(step)
    HALF.Barrier()


def workers(step: int) -> None:
    time.sleep(0.02)
    if RANK == 2:
        delay(step)
    if RANK == 0:
        for _ in range(RANKS - 1):
            WORLD.recv()
    else:
        WORLD.send(RANK, 0, RANK)
    WORLD.Bcast(SMALL, 0)


def partly_hidden(step: int) -> None:
    if RANK == 0:
        delay(step)
    else:
        time.sleep(0.3)
    WORLD.Barrier()


if __name__ == "__main__":
    for number in range(3):
        globals()[sys.argv[1]](number)
