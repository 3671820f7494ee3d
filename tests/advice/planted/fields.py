"""Writes 36 MB as HDF5 datasets, a hundred in each group; the second argument is the size of a dataset in bytes."""

import sys

import h5py
import numpy as np

SIZE = int(sys.argv[2])
with h5py.File(sys.argv[1] + "/fields.h5", "w") as file:
    for number in range(36_000_000 // SIZE):
        file[f"step{number // 100}/field{number % 100}"] = np.arange(SIZE // 4, dtype="i4")
