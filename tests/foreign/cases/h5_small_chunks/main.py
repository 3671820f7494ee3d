"""Writes a dataset with chunks of 32 values, or of 65536."""

import sys

import h5py
import numpy as np

cured = sys.argv[1:] == ["twin"]
values = np.arange(2 << 20, dtype="f4")
with h5py.File("field.h5", "w") as file:
    file.create_dataset("field", data=values, chunks=(65536 if cured else 32,))
print("sum", float(values.sum(dtype="f8")))
