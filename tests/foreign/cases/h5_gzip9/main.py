"""Writes a dataset with gzip at level 9, or without a filter."""

import sys

import h5py
import numpy as np

cured = sys.argv[1:] == ["twin"]
values = (np.arange(3 << 20, dtype="i4") * 3) ^ np.random.default_rng(3).integers(0, 64, 3 << 20, dtype="i4")
options = {} if cured else {"compression": "gzip", "compression_opts": 9}
with h5py.File("field.h5", "w") as file:
    file.create_dataset("field", data=values, chunks=(1 << 18,), **options)
print("sum", int(values.sum(dtype="i8")))
