"""Writes a chunked HDF5 dataset in pieces, each of which changes a part of every chunk, without a chunk cache."""

import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1] + "/amplified.h5", "w", rdcc_nbytes=0) as file:
    data = file.create_dataset("data", (64, 1 << 20), "f8", chunks=(64, 1 << 14))
    for row in range(64):
        data[row, : 1 << 18] = np.full(1 << 18, row, "f8")
