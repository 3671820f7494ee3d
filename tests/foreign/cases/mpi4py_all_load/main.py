"""Each rank loads the whole array for its rows, or maps its rows only."""

import sys

import numpy as np
from mpi4py import MPI

cured = sys.argv[1:] == ["twin"]
world = MPI.COMM_WORLD
rows = 12288 // world.size
total = 0
for repeat in range(2):
    if cured:
        mine = np.fromfile("input.bin", dtype=np.uint32, count=rows * 2048, offset=world.rank * rows * 8192)
    else:
        whole = np.fromfile("input.bin", dtype=np.uint32, count=12288 * 2048)
        mine = whole[world.rank * rows * 2048 : (world.rank + 1) * rows * 2048]
    total += int(mine.sum(dtype=np.uint64))
total = world.reduce(total)
if world.rank == 0:
    print("total", total)
