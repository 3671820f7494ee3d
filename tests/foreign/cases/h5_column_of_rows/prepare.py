"""Writes the dataset of rows."""

import h5py
import numpy as np

with h5py.File("rows.h5", "w") as file:
    file.create_dataset("rows", data=np.arange(6000 * 2048, dtype="f8").reshape(6000, 2048), chunks=(1, 2048))
