"""Writes a large contiguous HDF5 dataset in a few large pieces."""

import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1] + "/contiguous.h5", "w") as file:
    data = file.create_dataset("data", (32, 1 << 20), "f8")
    for part in range(0, 32, 4):
        data[part : part + 4] = np.ones((4, 1 << 20))
