"""Reads an array with a call for each 16 values, or whole."""

import sys

import numpy as np

cured = sys.argv[1:] == ["twin"]
with open("input.bin", "rb", buffering=0) as stream:
    if cured:
        total = int(np.frombuffer(stream.read(16 << 20), dtype=np.uint32).sum(dtype=np.uint64))
    else:
        total = 0
        for _ in range(16 << 14):
            total += int(np.frombuffer(stream.read(64), dtype=np.uint32).sum(dtype=np.uint64))
print("total", total)
