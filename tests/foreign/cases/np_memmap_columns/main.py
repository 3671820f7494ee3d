"""Sums each column of a mapped matrix that is stored by rows and not in memory, or sums by rows."""

import sys

import numpy as np

cured = sys.argv[1:] == ["twin"]
matrix = np.memmap("input.bin", dtype=np.uint32, mode="r", shape=(12800, 4096))
sums = np.zeros(24, dtype=np.uint64)
if cured:
    for start in range(0, 12800, 256):
        sums += matrix[start : start + 256, :24].sum(axis=0, dtype=np.uint64)
else:
    import mmap

    matrix._mmap.madvise(mmap.MADV_RANDOM)
    for column in range(24):
        sums[column] = matrix[:, column].sum(dtype=np.uint64)
print("sums", sums.tolist())
