"""Saves each cell as a dataset of its own, or all cells as one dataset."""

import sys

import h5py
import numpy as np

cured = sys.argv[1:] == ["twin"]
cells = np.arange(6000 * 8, dtype="f8").reshape(6000, 8)
with h5py.File("cells.h5", "w") as file:
    if cured:
        file.create_dataset("cells", data=cells)
    else:
        for number, cell in enumerate(cells):
            file.create_dataset(f"cell{number:05d}", data=cell)
print("sum", float(cells.sum()))
