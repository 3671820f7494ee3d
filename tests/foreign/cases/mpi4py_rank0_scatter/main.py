"""Rank 0 reads the input in pieces and sends each rank its part, or each rank reads its part."""

import os
import sys
import zlib

from mpi4py import MPI

cured = sys.argv[1:] == ["twin"]
world = MPI.COMM_WORLD
part, piece = (160 << 20) // world.size, 64 << 10
check = 0
if cured:
    file = os.open("input.bin", os.O_RDONLY)
    for at in range(0, part, 4 << 20):
        check = zlib.adler32(os.pread(file, 4 << 20, world.rank * part + at), check)
elif world.rank == 0:
    file = os.open("input.bin", os.O_RDONLY)
    for rank in range(world.size):
        for at in range(0, part, piece):
            data = os.pread(file, piece, rank * part + at)
            if rank:
                world.send(data, dest=rank)
            else:
                check = zlib.adler32(data, check)
else:
    for at in range(0, part, piece):
        check = zlib.adler32(world.recv(source=0), check)
checks = world.gather(check)
if world.rank == 0:
    print("checks", checks)
