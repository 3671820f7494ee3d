"""Writes ten contiguous datasets of 16 MiB and reads them back."""

import h5py
import numpy as np

values = np.arange(2 << 20, dtype="f8")
with h5py.File("fields.h5", "w") as file:
    for number in range(10):
        file.create_dataset(f"field{number}", data=values * number)
with h5py.File("fields.h5", "r") as file:
    print("sum", sum(float(file[name][:].sum()) for name in file))
